// Command line and environment to one typed configuration, in one pure function that reports all problems together.
// Called by main only; nobody else sees a raw string from outside.
import { parseArgs } from "node:util";
import * as z from "zod";
import { parseDuration } from "../duration.ts";
import { readSurroundings, type Surroundings } from "../oci/config/surroundings.ts";
import { type Command, COMMANDS, environmentName, type Flag, FLAGS, SHORT_FLAGS } from "./flags.ts";

/** A host and a port to listen on. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** What `parseConfig` answers. `usage` lists every problem, in the order of the flags. */
export type ParsedConfig =
  | { readonly kind: "run"; readonly config: Config }
  | { readonly kind: "help"; readonly command: Command | undefined }
  | { readonly kind: "version" }
  | { readonly kind: "usage"; readonly problems: readonly string[]; readonly command: Command | undefined };

const optionalText = z.string().min(1).optional();
const list = z.array(z.string().min(1));
const address = z.string().transform((text, context): ListenAddress => {
  const parts = /^(\[[0-9a-fA-F:]+\]|[^:\s]*):(\d{1,5})$/.exec(text);
  const port = Number(parts?.[2] ?? NaN);
  if (parts !== null && port <= 65_535) return { host: (parts[1] || "0.0.0.0").replace(/^\[|\]$/g, ""), port };
  context.addIssue({ code: "custom", message: "is not HOST:PORT with a port up to 65535" });
  return z.NEVER;
});
const duration = z.string().transform((text, context): number => {
  const ms = parseDuration(text);
  if (ms !== undefined && ms > 0) return ms;
  context.addIssue({ code: "custom", message: "is not a duration like 30s, 5m or 1h30m" });
  return z.NEVER;
});
const flagSwitch = z.enum(["true", "false"], { error: "is not true or false" }).transform((text) => text === "true");
const count = z.string().regex(/^[1-9]\d{0,8}$/, "is not a whole number above zero").transform(Number);
const url = z.url({ error: "is not a URL" }).optional();
const secretName = z.string().regex(/^[^/\s]+\/[^/\s]+$/, "is not NAMESPACE/NAME").transform((text) => {
  const [namespace = "", name = ""] = text.split("/");
  return { namespace, name };
});

/** Every value in its real type. A command reads only the members its flags set; the others hold their defaults. */
const Values = z.object({
  kubeconfig: optionalText,
  context: optionalText,
  namespace: z.string().regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, "is not a namespace name"),
  podNamespace: z.string(),
  listen: address,
  adminListen: address,
  tlsMode: z.enum(["auto", "self", "files"]),
  tlsCert: optionalText,
  tlsKey: optionalText,
  tlsCa: optionalText,
  webhookUrl: url,
  webhookService: z.string(),
  runbookBaseUrl: url,
  migration: flagSwitch,
  identity: optionalText,
  maxGateAge: duration,
  warmAdmission: flagSwitch,
  audit: flagSwitch,
  prewarm: flagSwitch,
  workers: count,
  fallbackLogLevel: z.enum(["debug", "info", "warn", "error"]),
  dropUselessPreferences: flagSwitch,
  tolerateArchTaints: list,
  liveArchitectures: flagSwitch,
  variantLabels: list,
  runtimeClasses: list,
  imageVolumes: z.enum(["ignore", "require"]),
  daemonsets: z.enum(["ignore", "warn", "constrain"]),
  registry: list,
  registryCa: list,
  insecureRegistry: list,
  registriesConf: optionalText,
  registriesConfDir: optionalText,
  hostsDir: optionalText,
  rancherRegistries: optionalText,
  certsDir: optionalText,
  policy: optionalText,
  dockerConfig: optionalText,
  credentialProviderConfig: optionalText,
  credentialProviderBinDir: optionalText,
  globalPullSecret: secretName,
  pullSecrets: z.enum(["pod", "own-namespace", "none"]),
  checkConfigs: flagSwitch,
  cachePath: optionalText,
  kvUrl: url,
  cacheEntries: count,
  tagTtl: duration,
  output: z.enum(["table", "json", "yaml"]),
  registries: flagSwitch,
  trace: flagSwitch,
  adminUrl: url,
  dryRun: flagSwitch,
  once: flagSwitch,
});

/** All flags, parsed; durations in ms. */
export type ConfigValues = z.infer<typeof Values>;

/** What to run and with what. `operands` are the words after the command: images, objects, a cache verb and file. */
export type Config = ConfigValues & {
  readonly command: Command;
  readonly operands: readonly string[];
  /** The variables that are not Archway's own: home and proxies. */
  readonly surroundings: Surroundings;
};

/** Parses arguments and environment. Pure; flags win over `ARCHWAY_*`, those over wider variables, those over defaults. */
export function parseConfig(args: readonly string[], env: Readonly<Record<string, string | undefined>>): ParsedConfig {
  const problems: string[] = [];
  const { given, words, lacking, wantsHelp, wantsVersion } = readArguments(args);
  if (wantsVersion) return { kind: "version" };
  const [word, ...operands] = words;
  const named = word === "help" ? operands[0] : word;
  const command = COMMANDS.find((name) => name === named);
  if (wantsHelp || word === undefined && args.length === 0 || word === "help") return { kind: "help", command };
  if (command === undefined) {
    return {
      kind: "usage",
      command,
      problems: [`Cannot run "${word ?? ""}": the commands are ${COMMANDS.join(", ")}.`],
    };
  }
  const flags = FLAGS.filter((flag) => flag.commands.includes(command));
  for (const name of given.keys()) {
    if (!flags.some((flag) => flag.name === name)) {
      problems.push(`Cannot use "--${name}" with ${command}: no such flag. See \`archway ${command} --help\`.`);
    }
  }
  for (const name of lacking) problems.push(`Cannot use --${name}: it has no value. Give it as --${name}=VALUE.`);
  if (lacking.length > 0) return { kind: "usage", command, problems };
  const raw = Object.fromEntries(FLAGS.map((flag) => [camel(flag.name), rawValue(flag, given, env)]));
  const parsed = Values.safeParse(raw);
  for (const issue of parsed.error?.issues ?? []) problems.push(describeIssue(issue, given, raw));
  if (parsed.success) problems.push(...contradictions(command, parsed.data, operands));
  if (!parsed.success || problems.length > 0) return { kind: "usage", command, problems };
  return { kind: "run", config: { ...parsed.data, command, operands, surroundings: readSurroundings(env) } };
}

interface Arguments {
  readonly given: ReadonlyMap<string, readonly string[]>;
  readonly words: readonly string[];
  /** Flags that want a value and have none: nothing follows, or another flag. */
  readonly lacking: readonly string[];
  readonly wantsHelp: boolean;
  readonly wantsVersion: boolean;
}

function readArguments(args: readonly string[]): Arguments {
  const options = Object.fromEntries(FLAGS.map((flag) => [
    flag.name,
    {
      type: flag.shape === "switch" ? "boolean" as const : "string" as const,
      ...shortOf(flag.name),
    },
  ]));
  const { tokens } = parseArgs({
    args: [...args],
    options: { ...options, help: { type: "boolean", short: "h" }, version: { type: "boolean", short: "V" } },
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const given = new Map<string, string[]>();
  const words: string[] = [];
  const lacking: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") words.push(token.value);
    if (token.kind !== "option") continue;
    const isValueless = token.value === undefined || (!token.inlineValue && token.value.startsWith("--"));
    if (isValueless && options[token.name]?.type === "string") lacking.push(token.name);
    given.set(token.name, [...given.get(token.name) ?? [], token.value ?? "true"]);
  }
  const wantsHelp = given.delete("help");
  const wantsVersion = given.delete("version");
  return { given, words, lacking, wantsHelp, wantsVersion };
}

function shortOf(name: string): { readonly short?: string } {
  const short = SHORT_FLAGS[name];
  return short === undefined ? {} : { short };
}

function rawValue(
  flag: Flag,
  given: ReadonlyMap<string, readonly string[]>,
  env: Readonly<Record<string, string | undefined>>,
): unknown {
  const texts = given.get(flag.name) ?? environmentTexts(flag, env) ??
    (flag.fallback === undefined ? [] : [flag.fallback]);
  if (flag.shape === "list") {
    return texts.flatMap((text) => text.split(",")).map((text) => text.trim()).filter((t) => t !== "");
  }
  return texts.at(-1) ?? (flag.shape === "switch" ? "false" : undefined);
}

function environmentTexts(
  flag: Flag,
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] | undefined {
  const names = [environmentName(flag.name), ...flag.alsoEnv ?? []];
  const text = names.map((name) => env[name]).find((value) => value !== undefined && value !== "");
  return text === undefined ? undefined : [text];
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
  return `Cannot use ${where} "${String(raw[key] ?? "")}": it ${reason}.`;
}

/** Rules between flags: each names what is missing and what to give. */
function contradictions(command: Command, values: ConfigValues, operands: readonly string[]): readonly string[] {
  const rules: readonly (readonly [boolean, string])[] = [
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
  return rules.filter(([broken]) => broken).map(([, problem]) => problem);
}

function camel(name: string): string {
  return name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
