// Command line, environment and configuration file to one typed configuration, in one function that reports all problems
// together. No other module reads unparsed input.
import { readRegistryEnvironment, type RegistryEnvironment } from "../oci/config/registry_environment.ts";
import { rawValue, readArguments } from "./arguments.ts";
import { contradictions } from "./contradictions.ts";
import { type FileValues, readConfigFile, type ReadFile, settingOf } from "./file.ts";
import { warningsOf, watchNamespaceProblem } from "./environment.ts";
import { type Command, COMMANDS, environmentName, FLAGS } from "./flags.ts";
import { type ConfigValues, Values } from "./values.ts";

/** The result of `parseConfig`. `usage` lists every problem, in the order of the flags. */
export type ParsedConfig =
  | { readonly kind: "run"; readonly config: Config }
  | { readonly kind: "help"; readonly command: Command | undefined }
  | { readonly kind: "version" }
  | { readonly kind: "usage"; readonly problems: readonly string[]; readonly command: Command | undefined };

/** What to run and with what. `words` come after the command: images, objects, a cache verb and file. */
export type Config = ConfigValues & FileValues & {
  readonly command: Command;
  readonly words: readonly string[];
  /** What was ignored in the environment, one sentence each. */
  readonly warnings: readonly string[];
  /** The variables that are not Archway's own: home and proxies. */
  readonly registryEnvironment: RegistryEnvironment;
};

/** A configuration with some values replaced. */
export function withValues(config: Config, values: Partial<Config>): Config {
  return { ...config, ...values };
}

/** Where texts come from besides the arguments. */
export interface ConfigSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reads the file of `--config`; throws when it cannot. */
  readonly readFile: (path: string) => string;
}

/** Parses them. Flags win over `ARCHWAY_*`, those over wider variables, those over defaults. */
export function parseConfig(args: readonly string[], { env, readFile }: ConfigSources): ParsedConfig {
  const problems: string[] = [];
  const { given, words: [word, ...words], lacking, wantsHelp, wantsVersion } = readArguments(args);
  if (wantsVersion) return { kind: "version" };
  const named = word === "help" ? words[0] : word;
  const command = COMMANDS.find((name) => name === named);
  if (wantsHelp || word === undefined && args.length === 0 || word === "help") return { kind: "help", command };
  if (command === undefined) return { kind: "usage", command, problems: [renderNoCommand(word)] };
  const flags = FLAGS.filter((flag) => flag.commands.includes(command));
  for (const name of given.keys()) {
    if (!flags.some((flag) => flag.name === name)) {
      problems.push(`Cannot use "--${name}" with ${command}: ${reasonOfNoFlag(name, command)}`);
    }
  }
  for (const name of lacking) problems.push(`Cannot use --${name}: it has no value. Give it as --${name}=VALUE.`);
  if (lacking.length > 0) return { kind: "usage", command, problems };
  const raw = Object.fromEntries(FLAGS.map((flag) => [camel(flag.name), rawValue(flag, given, env)]));
  const parsed = Values.safeParse(raw);
  for (const issue of parsed.error?.issues ?? []) problems.push(describeIssue(issue, given, raw));
  const file = openFile(flags.some(({ name }) => name === "config") ? raw.config : undefined, readFile);
  problems.push(...file.problems);
  // After a flag that does not exist its value counts as a word: what the words say is then not known.
  const isMisread = given.keys().some((name) => !FLAGS.some((flag) => flag.name === name));
  if (parsed.success && !isMisread) problems.push(...contradictions(command, parsed.data, { words, given }));
  const watched = parsed.success ? watchNamespaceProblem(command, parsed.data, env) : undefined;
  if (watched !== undefined) problems.push(watched);
  if (!parsed.success || problems.length > 0) return { kind: "usage", command, problems };
  return {
    kind: "run",
    config: {
      ...parsed.data,
      ...file.values,
      command,
      words,
      warnings: warningsOf(Object.keys(env)),
      registryEnvironment: readRegistryEnvironment(env),
    },
  };
}

function renderNoCommand(word: string | undefined): string {
  const commands = COMMANDS.join(", ");
  return word === undefined
    ? `Name a command before its flags: the commands are ${commands}.`
    : `Cannot run "${word}": the commands are ${commands}.`;
}

function reasonOfNoFlag(flag: string, command: Command): string {
  const setting = settingOf(flag);
  if (setting !== undefined) return `${setting} is a setting of the file that --config names.`;
  if (command === "explain" && flag === "namespace") return "no such flag. Did you mean -n NAMESPACE?";
  return `no such flag. See \`archway ${command} --help\`.`;
}

function openFile(path: unknown, readFile: ConfigSources["readFile"]): ReadFile {
  if (typeof path !== "string") return readConfigFile(undefined);
  try {
    return readConfigFile({ path, text: readFile(path) });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { ...readConfigFile(undefined), problems: [`Cannot read --config "${path}": ${reason}.`] };
  }
}

function describeIssue(
  issue: { readonly path: readonly PropertyKey[]; readonly message: string },
  given: ReadonlyMap<string, readonly string[]>,
  raw: Readonly<Record<string, unknown>>,
): string {
  const key = String(issue.path[0]);
  const flag = FLAGS.find((row) => camel(row.name) === key);
  const name = flag?.name ?? key;
  const where = given.has(name) ? `--${name}` : environmentName(name);
  const reason = flag?.choices === undefined ? issue.message : `is not one of ${flag.choices.join(", ")}`;
  const value = raw[key];
  const text = String((Array.isArray(value) ? value[Number(issue.path[1])] : value) ?? "");
  return `Cannot use ${where} "${withoutLogin(text)}": it ${reason}.`;
}

/** The text without what stands before an @: the login of a URL may be a secret. */
function withoutLogin(text: string): string {
  return text.replaceAll(/[^/\s]*@/g, "***@");
}

function camel(name: string): string {
  return name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
