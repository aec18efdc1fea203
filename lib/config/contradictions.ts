// Rules between flags: which exclude each other, and which need another one.
import type { Command } from "./flags.ts";
import { indexProblem } from "./index_argument.ts";
import { podProblem } from "./pod_argument.ts";
import type { ConfigValues } from "./values.ts";

/** The words after the command, and which flags were on the command line. */
export interface CommandLine {
  readonly words: readonly string[];
  readonly given: ReadonlyMap<string, readonly string[]>;
}

/** The problems between flags that are well alone; each names what is missing and what to give. */
export function contradictions(command: Command, values: ConfigValues, line: CommandLine): readonly string[] {
  const rules = [...rulesOfServe(command, values), ...rulesOfCommands(command, values, line.words)];
  const pod = command === "explain" ? podProblem(line.words, namespaceOf(values, line)) : undefined;
  const index = command === "index" ? indexProblem(line.words, values.to) : undefined;
  const broken = rules.filter(([isBroken]) => isBroken).map(([, problem]) => problem);
  return [...broken, ...[pod, index].filter((problem) => problem !== undefined)];
}

/** The namespace of the pod as far as the command line itself names it. */
function namespaceOf({ podNamespace }: ConfigValues, { given }: CommandLine): string | undefined {
  return given.has("pod-namespace") ? podNamespace : undefined;
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
      values.archTaints === "manage" && values.audit,
      "Cannot use --arch-taints=manage with --audit: that changes nothing, and pods without tolerations find no node.",
    ],
    [
      values.only !== "placement" && values.archTaints === "manage",
      `Cannot use --arch-taints=manage with --only=${values.only}: taints belong to placement.`,
    ],
    [
      command === "serve" && values.repairExecFormatErrors && !values.execFormatErrors &&
      values.execFormatImage === undefined,
      "Cannot use --repair-exec-format-errors alone: give --exec-format-errors, without which no pod to evict is found.",
    ],
    [
      values.webhookUrl !== undefined && !values.webhookUrl.startsWith("https://"),
      "Cannot register --webhook-url: the API server calls webhooks over https:// only.",
    ],
  ];
}

function rulesOfCommands(command: Command, values: ConfigValues, words: readonly string[]): readonly Rule[] {
  return [
    [
      command === "inspect" && words.length === 0 && values.adminUrl === undefined,
      "Nothing to inspect: name one or more images, or use --registries with --admin-url.",
    ],
    [
      values.adminUrl !== undefined && !values.registries,
      "Cannot use --admin-url alone: a running Archway is asked for its --registries.",
    ],
    [
      ["serve", "dev", "report", "release", "enoexec-daemon"].includes(command) && words.length > 0,
      `Cannot use "${words[0] ?? ""}" with ${command}: it takes flags only.`,
    ],
    [
      command === "enoexec-daemon" && values.nodeName === undefined,
      "Cannot tell the pods of this node: give --node-name or set NODE_NAME (fieldRef spec.nodeName).",
    ],
    [
      command === "taints" && !(words.length === 1 && ["plan", "apply", "clean"].includes(words[0] ?? "")),
      "Cannot run taints: use `archway taints plan`, `archway taints apply` or `archway taints clean`.",
    ],
    [
      command === "upgrade" &&
      !(words.length === 1 && ["status", "plan", "suspend", "resume"].includes(words[0] ?? "")),
      "Cannot run upgrade: use `archway upgrade status`, `plan`, `suspend` or `resume`.",
    ],
    [
      command === "cache" && !(words.length === 2 && (words[0] === "export" || words[0] === "import")),
      "Cannot run cache: use `archway cache export FILE` or `archway cache import FILE` (- for standard streams).",
    ],
    [
      command === "cache" && words.length > 0 && values.cachePath === undefined && values.kvUrl === undefined,
      "Cannot open the cache: give --cache-path FILE or --kv-url URL.",
    ],
  ];
}
