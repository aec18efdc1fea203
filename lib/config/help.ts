// `--help` texts, rendered from the flag table.
import { foldWords } from "./fold_words.ts";
import { type Command, COMMANDS, type Flag, FLAGS, SHORT_FLAGS } from "./flags.ts";

interface CommandHelp {
  readonly summary: string;
  readonly usage: string;
  /** The arguments after the command; one line each. */
  readonly words?: readonly string[];
  /** When the exit code is 1; absent where the command has no "no". */
  readonly no?: string;
  readonly examples: readonly string[];
}

const HELP: Readonly<Record<Command, CommandHelp>> = {
  serve: {
    summary: "Run the webhooks and the controllers.",
    usage: "archway serve [flags]",
    examples: ["archway serve --kubeconfig F --webhook-url https://HOST:PORT --tls-cert F --tls-key F --tls-ca F"],
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
    words: ["IMAGE  as in a pod: nginx, quay.io/team/app:v1, registry:5000/app@sha256:…"],
    no: "an image could not be inspected",
    examples: ["archway inspect nginx:1.29", "archway inspect -o json --registry-ca ca.pem IMAGE"],
  },
  index: {
    summary: "Join images of one architecture each to an index, or show what an index lists.",
    usage: "archway index assemble --to REGISTRY/REPOSITORY:TAG [flags] IMAGE… | archway index inspect [flags] IMAGE",
    words: ["IMAGE  for assemble one image for each architecture, by tag or digest; for inspect an index"],
    no: "images cannot be joined, or the registry refuses; an entry is wrong",
    examples: [
      "archway index assemble --to quay.io/team/app:v1 quay.io/team/app:v1-amd64 quay.io/team/app:v1-arm64",
      "archway index inspect quay.io/team/app:v1",
    ],
  },
  explain: {
    summary: "Show where a pod stands, why, and what to do next.",
    usage: "archway explain [-n NAMESPACE] [flags] POD",
    words: ["POD  pod/NAME or NAME in the namespace of -n or of the kubeconfig's context, or NAMESPACE/NAME"],
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
      "plan   what would be done, which pods get tolerations, which DaemonSets you must change; changes nothing",
      "apply  gives running pods their tolerations, then taints node by node",
      "clean  takes the taints off; deletes nothing",
    ],
    no: "DaemonSets or pods must be changed first, or a write failed",
    examples: ["archway taints plan --kubeconfig ~/.kube/config", "archway taints clean --dry-run -o json"],
  },
  upgrade: {
    summary: "Show where the upgrade of an OpenShift cluster stands, or hold it back.",
    usage: "archway upgrade status|plan|suspend|resume [flags]",
    words: [
      "status   the phase, each step with its time, and what is waited for",
      "plan     what would happen, when, and what is in the way; changes nothing",
      "suspend  lets nothing begin; once the update was requested it goes on",
      "resume   takes that back",
    ],
    no: "there is no plan, it has failed, or something is in its way",
    examples: ["archway upgrade status --kubeconfig ~/.kube/config", "archway upgrade plan -o json"],
  },
  cache: {
    summary: "Export or import the image cache as NDJSON.",
    usage: "archway cache export|import FILE [flags]",
    words: ["FILE  to write or to read; - for standard output or input"],
    examples: ["archway cache export - --cache-path images.kv", "archway cache import images.ndjson --kv-url URL"],
  },
  "enoexec-daemon": {
    summary: "Report containers of this node that start programs of another architecture (needs bpftrace).",
    usage: "archway enoexec-daemon --node-name NAME [flags]",
    examples: ["archway enoexec-daemon --node-name worker-1 --namespace archway-system --kubeconfig F"],
  },
};

const WIDTH = 120;

/** Help of one command, or of all in short. Ends with a newline. */
export function renderHelp(command: Command | undefined): string {
  return command === undefined ? renderOverview() : renderCommand(command);
}

function renderOverview(): string {
  const width = Math.max(...COMMANDS.map(({ length }) => length));
  const rows = COMMANDS.map((name) => `  ${name.padEnd(width)}  ${HELP[name].summary}`);
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
  const width = Math.max(...rows.map(([left]) => left.length));
  const codes = ["0 done", ...no === undefined ? [] : [`1 ${no}`], "2 bad usage", "3 failed"];
  return [
    summary,
    "",
    `Usage: ${usage}`,
    ...words.map((line) => `  ${line}`),
    "",
    "Flags (--some-flag is also the environment variable ARCHWAY_SOME_FLAG; flags win):",
    ...rows.flatMap(([left, right]) => foldRow(left.padEnd(width), right)),
    "",
    "Examples:",
    ...examples.map((line) => `  ${line}`),
    "",
    `Exit codes: ${codes.join(", ")}.`,
    "",
  ].join("\n");
}

/** A row whose right side is folded under itself. */
function foldRow(left: string, right: string): readonly string[] {
  const room = WIDTH - left.length - 4;
  return foldWords(right, room).map((line, index) => `  ${index === 0 ? left : " ".repeat(left.length)}  ${line}`);
}

function renderFlag(flag: Flag): readonly [string, string] {
  const value = flag.choices?.join("|") ?? flag.placeholder ?? PLACEHOLDER[flag.shape];
  const short = SHORT_FLAGS[flag.name];
  const name = `${short === undefined ? "    " : `-${short}, `}--${flag.name}${value === "" ? "" : ` ${value}`}`;
  const repeat = flag.shape === "list" ? " Repeatable." : "";
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
  switch: "",
  duration: "DURATION",
  address: "HOST:PORT",
  url: "URL",
  choice: "",
};
