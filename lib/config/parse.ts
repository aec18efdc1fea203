// Command line, environment and files to one typed configuration; all problems are reported together.
import { readRegistryEnvironment, type RegistryEnvironment } from "../oci/config/registry_environment.ts";
import { type Arguments, isChosen, nearestWord, rawValue, readArguments } from "./arguments.ts";
import { contradictions } from "./contradictions.ts";
import { type FileValues, type ParsedFiles, readConfigFiles } from "./file.ts";
import {
  adviceOnNonFlag,
  problemsOfNonFlags,
  REMOVED_COMMANDS,
  warningsOf,
  watchNamespaceProblems,
} from "./environment.ts";
import { camel, type Command, COMMANDS, type ConfigValues, environmentName, FLAGS, flagsOf, Values } from "./flags.ts";

/** `usage` lists every problem; when the command is unknown, that alone. */
export type ParsedConfig =
  | { readonly kind: "run"; readonly config: Config }
  | { readonly kind: "help"; readonly command: Command | undefined }
  | { readonly kind: "version" }
  | { readonly kind: "usage"; readonly problems: readonly string[]; readonly command: Command | undefined };

/** What to run and with what. `positionals` come after the command: images, objects, a cache verb and file. */
export type Config = ConfigValues & FileValues & {
  readonly command: Command;
  readonly positionals: readonly string[];
  readonly chosen: readonly string[];
  readonly warnings: readonly string[];
  /** From variables that are not Archway's own: home and proxies. */
  readonly registryEnvironment: RegistryEnvironment;
};

export function withValues(config: Config, values: Partial<Config>): Config {
  return { ...config, ...values };
}

interface ConfigSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly readFile: (path: string) => string;
  /**
   * Finds what is wrong with the settings of placement, for commands that read them. By default they are not checked.
   */
  readonly placementProblems?: ((values: ConfigValues & FileValues) => readonly string[]) | undefined;
}

export function parseConfig(args: readonly string[], sources: ConfigSources): ParsedConfig {
  const { env, readFile, placementProblems = () => [] } = sources;
  const line = readArguments(args);
  const { given, typed, positionals: [word, ...positionals], lacking, wantsHelp, wantsVersion } = line;
  if (wantsVersion) return { kind: "version" };
  const named = word === "help" ? positionals[0] : word;
  const command = COMMANDS.find((name) => name === named);
  const asksForHelp = wantsHelp || args.length === 0 || word === "help";
  if (asksForHelp && !Object.hasOwn(REMOVED_COMMANDS, named ?? "")) return { kind: "help", command };
  if (command === undefined) return { kind: "usage", command, problems: [renderNoCommand(named)] };
  const flags = flagsOf(command);
  const { values, unread, problems } = readValues(line, env);
  const file = openFiles(flags.some(({ name }) => name === "config") ? values.config : [], readFile);
  const config: Config = {
    ...values,
    ...file.values,
    command,
    positionals,
    chosen: FLAGS.filter((flag) => isChosen(flag, given, env)).map(({ name }) => name),
    warnings: warningsOf(Object.keys(env)),
    registryEnvironment: readRegistryEnvironment(env),
  };
  const found = [
    ...new Set([...given.keys(), ...lacking]).values().filter((name) => !flags.some((flag) => flag.name === name))
      .map((name) =>
        `Cannot use "${typed.get(name) ?? `--${name}`}" with ${command}: ${reasonOfNoFlag(name, command)}`
      ),
    ...lacking.map((name) => {
      const values = flags.find((flag) => flag.name === name)?.choices?.join("|") ?? "VALUE";
      return `Cannot use --${name}: it has no value. Give it as --${name}=${values}.`;
    }),
    ...problemsOfNonFlags(env),
    ...problems,
    ...file.problems,
    ...contradictions(command, values, { positionals, given, unread }),
    ...unread.has("only") || unread.has("namespace") ? [] : watchNamespaceProblems(command, values, env),
    ...["serve", "dev", "explain", "report"].includes(command) ? placementProblems(config) : [],
  ];
  return found.length === 0 ? { kind: "run", config } : { kind: "usage", command, problems: found };
}

/** Values that cannot be read are problems and get their defaults, so that the others can be checked. */
function readValues({ given, lacking }: Arguments, env: ConfigSources["env"]): {
  readonly values: ConfigValues;
  readonly unread: ReadonlySet<string>;
  readonly problems: readonly string[];
} {
  const raw = rawValues(given, env);
  const parsed = Values.safeParse(raw);
  const issues = parsed.error?.issues ?? [];
  const defaults = rawValues(new Map(), {});
  const replaced = issues.map(({ path: [key] }) => [String(key), defaults[String(key)]] as const);
  // The value of an unknown flag counts as a positional, so that the positionals cannot be judged.
  const isMisread = given.keys().some((name) => !FLAGS.some((flag) => flag.name === name));
  return {
    values: parsed.success ? parsed.data : Values.parse({ ...raw, ...Object.fromEntries(replaced) }),
    unread: new Set([...replaced.map(([key]) => key), ...lacking.map(camel), ...isMisread ? ["positionals"] : []]),
    problems: issues.map((issue) => describeIssue(issue, given, raw)),
  };
}

function rawValues(
  given: Arguments["given"],
  env: ConfigSources["env"],
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(FLAGS.map((flag) => [camel(flag.name), rawValue(flag, given, env)]));
}

function renderNoCommand(word: string | undefined): string {
  const commands = COMMANDS.join(", ");
  if (word === undefined) return `Name a command before its flags: the commands are ${commands}.`;
  if (Object.hasOwn(REMOVED_COMMANDS, word)) return `Cannot run "${word}": it was removed. ${REMOVED_COMMANDS[word]}`;
  const meant = nearestWord(word, COMMANDS);
  return `Cannot run "${word}": the commands are ${commands}.${meant === undefined ? "" : ` Did you mean ${meant}?`}`;
}

function reasonOfNoFlag(flag: string, command: Command): string {
  const advice = adviceOnNonFlag(flag);
  if (advice !== undefined) return advice;
  if (["explain", "report"].includes(command) && flag === "namespace") {
    return "no such flag. Did you mean -n NAMESPACE?";
  }
  const meant = nearestWord(flag, flagsOf(command).map(({ name }) => name));
  return `no such flag. ${meant === undefined ? `See \`archway ${command} --help\`.` : `Did you mean --${meant}?`}`;
}

function openFiles(paths: readonly string[], readFile: ConfigSources["readFile"]): ParsedFiles {
  const problems: string[] = [];
  const files = paths.flatMap((path) => {
    try {
      return [{ path, text: readFile(path) }];
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      problems.push(`Cannot read --config "${path}": ${reason}.`);
      return [];
    }
  });
  const read = readConfigFiles(files);
  return { values: read.values, problems: [...problems, ...read.problems] };
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
  const value = raw[key];
  const text = String((Array.isArray(value) ? value[Number(issue.path[1])] : value) ?? "");
  return `Cannot use ${where} "${withoutLogin(text)}": it ${issue.message}.`;
}

/** The text without what stands before an @: the login of a URL may be a secret. */
function withoutLogin(text: string): string {
  return text.replaceAll(/(?<![^/\s])[^/\s]*@/g, "***@");
}
