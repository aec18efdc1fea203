// Rules between flags: which exclude each other, and which need another one.
import { type Command, type ConfigValues, verbsOf } from "./flags.ts";
import { indexProblem, podProblem } from "./positionals.ts";

type Subject = keyof ConfigValues | "positionals";

interface CommandLine {
  readonly positionals: readonly string[];
  readonly given: ReadonlyMap<string, readonly string[]>;
  /** Subjects that could not be read and have their defaults: rules about them are not judged. */
  readonly unread: ReadonlySet<string>;
}

/** Problems between flags that are valid by themselves. Each names what is missing and what to give. */
export function contradictions(command: Command, values: ConfigValues, line: CommandLine): readonly string[] {
  const namespace = line.given.has("pod-namespace") ? values.podNamespace : undefined;
  const pod = command === "explain" ? podProblem(line.positionals, namespace) : undefined;
  const index = command === "index" ? indexProblem(line.positionals, values) : undefined;
  const rules: readonly Rule[] = [
    ...rulesOfServe(values),
    ...rulesOfCommands(command, values, line.positionals),
    [["positionals", "podNamespace"], pod !== undefined, pod ?? ""],
    [["positionals", "to", "annotation"], index !== undefined, index ?? ""],
  ];
  return rules.filter(([subjects, isBroken]) => isBroken && !subjects.some((subject) => line.unread.has(subject)))
    .map(([, , problem]) => problem);
}

type Rule = readonly [subjects: readonly Subject[], isBroken: boolean, problem: string];

function rulesOfServe(values: ConfigValues): readonly Rule[] {
  return [
    [
      ["tlsCert", "tlsKey"],
      (values.tlsCert === undefined) !== (values.tlsKey === undefined),
      "Cannot serve TLS: --tls-cert and --tls-key go together.",
    ],
    [
      ["archTaints", "audit"],
      values.archTaints === "manage" && values.audit,
      "Cannot use --arch-taints=manage with --audit: that changes nothing, and pods without tolerations find no node.",
    ],
    [
      ["only", "archTaints"],
      values.only !== "placement" && values.archTaints !== "off",
      `Cannot use --arch-taints=${values.archTaints} with --only=${values.only}: taints belong to placement.`,
    ],
    [
      ["webhookUrl"],
      values.webhookUrl !== undefined && !values.webhookUrl.startsWith("https://"),
      "Cannot register --webhook-url: the API server calls webhooks over https:// only.",
    ],
  ];
}

function rulesOfCommands(command: Command, values: ConfigValues, positionals: readonly string[]): readonly Rule[] {
  const verbs = verbsOf(command);
  const [first = "", second] = positionals;
  return [
    [
      ["positionals"],
      command === "inspect" && positionals.length === 0,
      "Nothing to inspect: name one or more images.",
    ],
    [
      ["positionals"],
      ["serve", "dev", "report", "ungate", "enoexec-daemon"].includes(command) && positionals.length > 0,
      `Cannot use "${first}" with ${command}: it takes flags only.`,
    ],
    [
      ["nodeName"],
      command === "enoexec-daemon" && values.nodeName === undefined,
      "Cannot tell the pods of this node: give --node-name or set NODE_NAME (fieldRef spec.nodeName).",
    ],
    [
      ["positionals"],
      ["taints", "upgrade", "completion"].includes(command) && (second !== undefined || !verbs.includes(first)),
      useOf(command, verbs),
    ],
    [
      ["positionals"],
      command === "cache" && !(positionals.length === 2 && verbs.includes(first)),
      "Cannot run cache: use `archway cache export FILE` or `archway cache import FILE` (- for standard streams).",
    ],
    [
      ["positionals", "cachePath", "kvUrl"],
      command === "cache" && positionals.length > 0 && values.cachePath === undefined && values.kvUrl === undefined,
      "Cannot open the cache: give --cache-path FILE or --kv-url URL.",
    ],
  ];
}

function useOf(command: Command, [first, ...others]: readonly string[]): string {
  const rest = others.map((verb) => `\`${verb}\``);
  const last = rest.pop();
  return `Cannot run ${command}: use \`archway ${command} ${first}\`, ${rest.join(", ")} or ${last}.`;
}
