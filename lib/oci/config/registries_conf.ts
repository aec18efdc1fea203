// Parses registries.conf and its drop-ins: version 2, and in the main file also version 1.
import * as z from "zod";
import { isHelperName } from "../credentials/credential_helpers.ts";
import { findLine, parseAs, parseToml } from "../files/documents.ts";
import { asParsed, type Parsed, unparsable } from "../../parsed.ts";
import { readRule, type RegistryRule, RegistryTable, tableLine, trimLocation } from "./registry_rules.ts";

type ShortNameMode = "disabled" | "permissive" | "enforcing";

export interface RegistriesConf {
  readonly rules: readonly RegistryRule[];
  readonly searchRegistries: readonly string[] | undefined;
  readonly shortNameMode: ShortNameMode | undefined;
  /** Short name → full repository; empty: removes the alias. */
  readonly aliases: ReadonlyMap<string, string>;
  /** Programs that give the login of any host. Excludes the auth file, which is always read. */
  readonly credentialHelpers: readonly string[] | undefined;
}

const Version2 = z.object({
  "unqualified-search-registries": z.array(z.string()).optional(),
  "short-name-mode": z.enum(["", "disabled", "permissive", "enforcing"]).optional(),
  registry: z.array(RegistryTable).optional(),
  aliases: z.record(z.string(), z.string()).optional(),
  "credential-helpers": z.array(z.string()).optional(),
});
const Aliases = Version2.pick({ aliases: true });

const AUTH_FILE = "containers-auth.json";

/** Parses one file. `main` may be of version 1 instead; a drop-in may not. */
export function parseRegistriesConf(text: string, part: "main" | "drop-in"): Parsed<RegistriesConf> {
  const document = parseToml(text);
  if (document.kind === "unparsable") return document;
  const old = parseVersion1(document.value);
  const parsed = parseAs(Version2, document, text, wrongKind);
  if (parsed.kind === "unparsable") return parsed;
  if (old !== undefined) {
    if (part === "drop-in") {
      return unparsable("[registries.…] tables of version 1 in a drop-in", findLine(text, "[registries"));
    }
    if (Object.values(parsed.value).some((value) => value !== undefined)) {
      return unparsable("mixes tables of version 1 and version 2", findLine(text, "[registries"));
    }
    return old.kind === "unparsable" ? old : asParsed(readVersion1(old.value));
  }
  return readVersion2(parsed.value, text);
}

/** Merges drop-ins over the main file in order. They replace rules of equal prefix, search list, mode and aliases. */
export function mergeRegistriesConfs(files: readonly RegistriesConf[]): RegistriesConf {
  const rules = new Map<string, RegistryRule>();
  const aliases = new Map<string, string>();
  for (const file of files) {
    for (const rule of file.rules) rules.set(rule.prefix, rule);
    for (const [name, target] of file.aliases) aliases.set(name, target);
  }
  return {
    rules: [...rules.values()],
    searchRegistries: files.findLast(({ searchRegistries }) => searchRegistries !== undefined)?.searchRegistries,
    shortNameMode: files.findLast(({ shortNameMode }) => shortNameMode !== undefined)?.shortNameMode,
    aliases: new Map([...aliases].filter(([, target]) => target !== "")),
    credentialHelpers: files.findLast(({ credentialHelpers }) => credentialHelpers !== undefined)?.credentialHelpers,
  };
}

const EMPTY: RegistriesConf = {
  rules: [],
  searchRegistries: undefined,
  shortNameMode: undefined,
  aliases: new Map(),
  credentialHelpers: undefined,
};

/** Parses the file where tools store the aliases that a user chose, and nothing else. */
export function parseAliasCache(text: string): Parsed<RegistriesConf> {
  const parsed = parseAs(Aliases, parseToml(text), text, wrongKind);
  if (parsed.kind === "unparsable") return parsed;
  return asParsed({ ...EMPTY, aliases: new Map(Object.entries(parsed.value.aliases ?? {})) });
}

interface Version1 {
  readonly search: readonly string[] | undefined;
  readonly insecure: readonly string[];
  readonly block: readonly string[];
}

const List = z.object({ registries: z.array(z.string()).default([]) }).optional();
const Tables = z.object({ registries: z.object({ search: List, insecure: List, block: List }) });
const AnyTables = z.object({ registries: z.unknown() });

/** Reads the tables of version 1; undefined when the document has none of them. */
function parseVersion1(document: unknown): Parsed<Version1> | undefined {
  const found = AnyTables.safeParse(document);
  if (!found.success || found.data.registries === undefined) return undefined;
  const parsed = Tables.safeParse(document);
  if (!parsed.success) return unparsable("[registries.…] tables whose registries are not lists of names");
  const { search, insecure, block } = parsed.data.registries;
  const trim = (names: readonly string[]): readonly string[] => names.map(trimLocation).filter((name) => name !== "");
  return asParsed({
    search: search === undefined ? undefined : trim(search.registries),
    insecure: trim(insecure?.registries ?? []),
    block: trim(block?.registries ?? []),
  });
}

function readVersion1({ search, insecure, block }: Version1): RegistriesConf {
  const rules = [...new Set([...insecure, ...block])].map((name): RegistryRule => ({
    prefix: name,
    location: name,
    insecure: insecure.includes(name),
    blocked: block.includes(name),
    mirrors: [],
  }));
  return { ...EMPTY, rules, searchRegistries: search };
}

function readVersion2(data: z.infer<typeof Version2>, text: string): Parsed<RegistriesConf> {
  const rules = new Map<string, RegistryRule>();
  for (const [at, registry] of (data.registry ?? []).entries()) {
    const rule = readRule(registry, { text, line: tableLine(text, at) });
    if (rule.kind === "unparsable") return rule;
    const twin = rules.get(rule.value.prefix);
    if (twin !== undefined && (twin.insecure !== rule.value.insecure || twin.blocked !== rule.value.blocked)) {
      return unparsable(
        `two registries of prefix "${twin.prefix}" that contradict each other`,
        findLine(text, twin.prefix),
      );
    }
    if (twin === undefined) rules.set(rule.value.prefix, rule.value);
  }
  return asParsed({
    rules: [...rules.values()],
    searchRegistries: data["unqualified-search-registries"]?.map(trimLocation),
    shortNameMode: data["short-name-mode"] || undefined,
    aliases: new Map(Object.entries(data.aliases ?? {})),
    credentialHelpers: data["credential-helpers"]?.filter((name) => name !== AUTH_FILE && isHelperName(name)),
  });
}

function wrongKind(path: string): string {
  return `"${path}" has a value of a wrong kind`;
}
