// `--help` texts, rendered from the flag table.
import { foldWords } from "./fold_words.ts";
import { type Command, COMMANDS, type Flag, FLAGS, SHORT_FLAGS } from "./flags.ts";

interface CommandHelp {
  readonly summary: string;
  readonly usage: string;
  readonly words?: readonly (readonly [string, string])[];
  readonly no?: string;
  readonly examples: readonly string[];
}

const HELP: Readonly<Record<Command, CommandHelp>> = {
  serve: {
    summary: "Run the webhooks and the controllers.",
    usage: "archway serve [flags]",
    examples: ["archway serve --tls-cert F --tls-key F --tls-ca F --webhook-url https://h:1"],
  },
  dev: {
    summary: "Run everything against an embedded cluster and registry with sample pods.",
    usage: "archway dev [--once] [flags]",
    no: "with --once: a sample did not end as expected",
    examples: ["archway dev --once", "archway dev"],
  },
  inspect: {
    summary: "Show which architectures images support, and how that was found out.",
    usage: "archway inspect [flags] IMAGE…",
    words: [["IMAGE", "as in a pod: nginx, quay.io/team/app:v1, registry:5000/app@sha256:…"]],
    no: "an image could not be inspected",
    examples: ["archway inspect nginx:1.29", "archway inspect -o json --registry-ca ca.pem IMAGE"],
  },
  index: {
    summary: "Join images of one architecture each to an index, or show what an index lists.",
    usage:
      "archway index assemble --to REGISTRY/REPOSITORY:TAG [flags] IMAGE…\n       archway index append [flags] INDEX IMAGE…\n       archway index remove [flags] INDEX PLATFORM…\n       archway index inspect [flags] INDEX",
    words: [["IMAGE", "an image of one architecture, by tag or digest"], ["PLATFORM", "such as linux/s390x"]],
    no: "images cannot be joined, or the registry refuses; an entry is wrong",
    examples: [
      "archway index assemble --to quay.io/app:1 quay.io/app:amd64 quay.io/app:arm64",
      "archway index append quay.io/app:1 quay.io/app:s390x",
      "archway index inspect quay.io/team/app:v1",
    ],
  },
  explain: {
    summary: "Show where a pod stands, why, and what to do next.",
    usage: "archway explain [-n NAMESPACE] [flags] POD",
    words: [["POD", "pod/NAME or NAME in the namespace of -n or of the kubeconfig's context, or NAMESPACE/NAME"]],
    no: "there is no such pod",
    examples: ["archway explain --kubeconfig ~/.kube/config -n team pod/web-1", "archway explain -o json team/web-1"],
  },
  report: {
    summary: "Show which architectures the workloads of a cluster support, and what keeps them from one.",
    usage: "archway report [--arch ARCHITECTURE] [-n NAMESPACE] [flags]",
    no: "there is no such namespace; with --arch: a workload may not run there",
    examples: ["archway report --arch arm64", "archway report -n team -o json --cache-path images.kv"],
  },
  release: {
    summary: "Lift Archway's gate from all pods, also when no Archway runs.",
    usage: "archway release [--dry-run] [flags]",
    no: "some pods could not be freed",
    examples: ["archway release --dry-run", "archway release -o json"],
  },
  taints: {
    summary: "Show, put on or take off the architecture taints of nodes.",
    usage: "archway taints plan|apply|clean [flags]",
    words: [
      ["plan", "what would be done, which pods get tolerations, which DaemonSets you must change; changes nothing"],
      ["apply", "gives running pods their tolerations, then taints node by node"],
      ["clean", "takes the taints off; deletes nothing"],
    ],
    no: "DaemonSets or pods must be changed first, or a write failed",
    examples: ["archway taints plan --kubeconfig ~/.kube/config", "archway taints clean --dry-run -o json"],
  },
  upgrade: {
    summary: "Show where the upgrade of an OpenShift cluster stands, or hold it back.",
    usage: "archway upgrade status|plan|suspend|resume [flags]",
    words: [
      ["status", "the phase, each step with its time, and what is waited for"],
      ["plan", "what would happen, when, and what is in the way; changes nothing"],
      ["suspend", "lets nothing begin; once the update was requested it goes on"],
      ["resume", "takes that back"],
    ],
    no: "there is no plan, it has failed, or something is in its way",
    examples: ["archway upgrade status --kubeconfig ~/.kube/config", "archway upgrade plan -o json"],
  },
  cache: {
    summary: "Export or import the image cache as NDJSON.",
    usage: "archway cache export|import FILE [flags]",
    words: [["FILE", "to write or to read; - for standard output or input"]],
    examples: ["archway cache export - --cache-path images.kv", "archway cache import images.ndjson --kv-url URL"],
  },
  "enoexec-daemon": {
    summary: "Report programs of another architecture on this node (needs bpftrace).",
    usage: "archway enoexec-daemon --node-name NAME [flags]",
    examples: ["archway enoexec-daemon --node-name worker-1 --kubeconfig F"],
  },
  completion: {
    summary: "Print the script that completes commands and flags in a shell.",
    usage: "archway completion bash|zsh|fish",
    examples: ["archway completion bash", "archway completion fish"],
  },
};

const WIDTH = 80;
const MAX_LEFT = 28;

export function renderHelp(command: Command | undefined): string {
  return command === undefined ? renderOverview() : renderCommand(command);
}

function renderOverview(): string {
  const width = Math.max(...COMMANDS.map(({ length }) => length));
  const rows = COMMANDS.flatMap((name) => hanging(name.padEnd(width), HELP[name].summary));
  return [
    "Archway places pods where all of their images run.",
    "",
    "Usage: archway COMMAND [flags]",
    "",
    "Commands:",
    ...rows,
    "",
    "See `archway COMMAND --help`; `archway --version` prints the version.",
    'Exit codes: 0 done, 1 the answer is "no", 2 bad usage, 3 failed.',
    "",
  ].join("\n");
}

function renderCommand(command: Command): string {
  const { summary, usage, words = [], no, examples } = HELP[command];
  const rows = FLAGS.filter((flag) => flag.commands.includes(command)).map(renderFlag);
  const codes = ["0 done", ...no === undefined ? [] : [`1 ${no}`], "2 bad usage", "3 failed"];
  return [
    ...foldWords(summary, WIDTH),
    "",
    `Usage: ${usage}`,
    ...words.flatMap(([word, text]) => hanging(word, text, Math.max(...words.map(([each]) => each.length)))),
    "",
    ...rows.length === 0 ? [] : [
      "Flags (--some-flag is also the variable ARCHWAY_SOME_FLAG; flags win):",
      ...rows.flatMap(([left, right]) => hanging(left, right, MAX_LEFT)),
      "",
    ],
    "Examples:",
    ...examples.map((line) => `  ${line}`),
    "",
    ...foldWords(`Exit codes: ${codes.join(", ")}.`, WIDTH),
    "",
  ].join("\n");
}

function hanging(left: string, right: string, width = left.length): readonly string[] {
  const [first = "", ...others] = foldWords(right, WIDTH - width - 4);
  const indent = " ".repeat(width + 4);
  const rest = others.map((line) => `${indent}${line}`);
  return left.length > width
    ? [`  ${left}`, `${indent}${first}`, ...rest]
    : [`  ${left.padEnd(width)}  ${first}`, ...rest];
}

function renderFlag(flag: Flag): readonly [string, string] {
  const value = flag.choices?.join("|") ?? flag.placeholder ?? PLACEHOLDER[flag.shape];
  const short = SHORT_FLAGS[flag.name];
  const name = `${short === undefined ? "    " : `-${short}, `}--${flag.name}${value === "" ? "" : ` ${value}`}`;
  const repeat = flag.shape === "list" || flag.shape === "texts" ? " Repeatable." : "";
  const env = flag.alsoEnv === undefined ? "" : ` Also from ${flag.alsoEnv.join(", ")}.`;
  return [name, `${flag.help}${repeat}${renderDefault(flag)}${env}`];
}

function renderDefault({ name, shape, fallback }: Flag): string {
  if (fallback === undefined || (shape === "switch" && fallback === "false")) return "";
  return shape === "switch" ? ` On unless --${name}=false.` : ` Default ${fallback}.`;
}

const PLACEHOLDER: Readonly<Record<Flag["shape"], string>> = {
  text: "TEXT",
  list: "TEXT",
  texts: "TEXT",
  switch: "",
  duration: "DURATION",
  address: "HOST:PORT",
  url: "URL",
  choice: "",
};
