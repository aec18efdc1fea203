// `--help` texts, rendered from the flag table. Called by main.
import { type Command, COMMANDS, environmentName, type Flag, FLAGS } from "./flags.ts";

const SUMMARY: Readonly<Record<Command, string>> = {
  serve: "Run the webhooks and the controllers.",
  dev: "Run everything against an embedded cluster and registry with sample pods.",
  inspect: "Show which architectures images support, and how that was found out.",
  explain: "Show why a pod was placed where it was.",
  release: "Lift Archway's gate from all pods, also when no Archway runs.",
  cache: "Export or import the image cache as NDJSON.",
};

const USAGE: Readonly<Record<Command, string>> = {
  serve: "archway serve [flags]",
  dev: "archway dev [--once] [flags]",
  inspect: "archway inspect [flags] IMAGE…",
  explain: "archway explain [-n NAMESPACE] [flags] pod/NAME",
  release: "archway release [--dry-run] [flags]",
  cache: "archway cache export|import FILE [flags]",
};

/** What is worth knowing beyond the flags. */
const NOTES: Partial<Readonly<Record<Command, string>>> = {
  cache: `What is exported, one JSON object a line, and who can use it:
  image  digest → platforms. True for ever, wherever it is imported.
  tag    tag → digest, with the time a registry last said so. The importing site believes a tag without asking for
         its --tag-ttl, counted from that time; after that, its registry (or mirror) is asked once by HEAD. Where no
         registry can be reached, give \`archway serve\` a --tag-ttl as long as the time between two imports: 30d.
Left out: all that was read with a credential (also where none was needed), and short names (nginx:v1), which each
site's configuration may send elsewhere; docker.io/library/nginx:v1 goes along. An import keeps what is younger.
`,
};

/** Help of one command, or of all in short. Ends with a newline. */
export function renderHelp(command: Command | undefined): string {
  if (command === undefined) {
    const rows = COMMANDS.map((name) => `  ${name.padEnd(9)} ${SUMMARY[name]}`);
    return `Archway places pods where all of their images run.\n\nCommands:\n${rows.join("\n")}\n\n` +
      `See \`archway COMMAND --help\`. Exit codes: 0 done, 1 the answer is "no", 2 bad usage, 3 failed.\n`;
  }
  const rows = FLAGS.filter((flag) => flag.commands.includes(command)).map(renderFlag);
  const notes = NOTES[command];
  const width = Math.max(...rows.map(([left]) => left.length));
  const lines = rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
  return `${SUMMARY[command]}\n\nUsage: ${
    USAGE[command]
  }\n\nFlags (each also as an ARCHWAY_… environment variable):\n` +
    `${lines.join("\n")}\n${notes === undefined ? "" : `\n${notes}`}`;
}

function renderFlag(flag: Flag): readonly [string, string] {
  const value = flag.choices?.join("|") ?? flag.placeholder ?? PLACEHOLDER[flag.shape];
  const repeat = flag.shape === "list" ? " (repeatable)" : "";
  const fallback = flag.fallback === undefined || flag.shape === "switch" && flag.fallback === "false"
    ? ""
    : ` Default ${flag.fallback}.`;
  const env = flag.alsoEnv === undefined ? "" : ` Env ${[environmentName(flag.name), ...flag.alsoEnv].join(", ")}.`;
  return [`--${flag.name}${value === "" ? "" : ` ${value}`}`, `${flag.help}${repeat}${fallback}${env}`];
}

const PLACEHOLDER: Readonly<Record<Flag["shape"], string>> = {
  text: "TEXT",
  list: "TEXT",
  switch: "",
  duration: "DURATION",
  count: "N",
  address: "HOST:PORT",
  url: "URL",
  choice: "",
};
