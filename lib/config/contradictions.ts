// Rules between flags: what cannot be asked for together, or not without something else.
import type { Command } from "./flags.ts";
import type { ConfigValues } from "./values.ts";

/** The problems between flags that are well alone; each names what is missing and what to give. */
export function contradictions(command: Command, values: ConfigValues, operands: readonly string[]): readonly string[] {
  const rules = [...rulesOfServe(command, values), ...rulesOfCommands(command, values, operands)];
  return rules.filter(([broken]) => broken).map(([, problem]) => problem);
}

type Rule = readonly [isBroken: boolean, problem: string];

function rulesOfServe(command: Command, values: ConfigValues): readonly Rule[] {
  return [
    [
      command === "serve" && values.tlsMode === "files" &&
      (values.tlsCert === undefined || values.tlsKey === undefined),
      "Cannot use --tls-mode=files: give --tls-cert and --tls-key.",
    ],
    [
      (values.tlsCert === undefined) !== (values.tlsKey === undefined),
      "Cannot serve TLS: --tls-cert and --tls-key go together.",
    ],
    [
      values.webhookUrl !== undefined && !values.webhookUrl.startsWith("https://"),
      "Cannot register --webhook-url: the API server calls webhooks over https:// only.",
    ],
  ];
}

function rulesOfCommands(command: Command, values: ConfigValues, operands: readonly string[]): readonly Rule[] {
  return [
    [
      command === "inspect" && operands.length === 0 && values.adminUrl === undefined,
      "Cannot inspect nothing: name one or more images, or use --registries with --admin-url.",
    ],
    [
      values.adminUrl !== undefined && !values.registries,
      "Cannot use --admin-url alone: a running Archway is asked for its --registries.",
    ],
    [
      command === "explain" && (operands.length !== 1 || !/^[^/]+(?:\/[^/]+)?$/.test(operands[0] ?? "")),
      "Cannot explain: name one pod as pod/NAME (with -n NAMESPACE) or NAMESPACE/NAME.",
    ],
    [
      ["serve", "dev", "release"].includes(command) && operands.length > 0,
      `Cannot use "${operands[0] ?? ""}" with ${command}: it takes flags only.`,
    ],
    [
      command === "cache" && !(operands.length === 2 && (operands[0] === "export" || operands[0] === "import")),
      "Cannot run cache: say `archway cache export FILE` or `archway cache import FILE` (- for standard streams).",
    ],
    [
      command === "cache" && values.cachePath === undefined && values.kvUrl === undefined,
      "Cannot open the cache: give --cache-path FILE or --kv-url URL.",
    ],
  ];
}
