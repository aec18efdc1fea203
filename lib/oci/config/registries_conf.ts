// Parses registries.conf and its drop-ins, of version 2.
import * as z from "zod";
import { isHelperName } from "../credentials/credential_helpers.ts";
import { findLine, parseAs, parseToml } from "../files/formats.ts";
import { asParsed, type Parsed, unparsable } from "../../parsed.ts";
import { readRule, type RegistryRule, RegistryTable, tableLine, trimLocation } from "./registry_rules.ts";

type ShortNameMode = "disabled" | "permissive" | "enforcing";

/** What all files say together. */
export interface RegistriesConf {
  readonly rules: readonly RegistryRule[];
  readonly searchRegistries: readonly string[];
  readonly shortNameMode: ShortNameMode | undefined;
  /** Short name → full repository; empty in a file: removes the alias. */
  readonly aliases: ReadonlyMap<string, string>;
  /** Programs that give the login of any host. Excludes the auth file, which is always read. */
  readonly credentialHelpers: readonly string[];
}

type RegistriesFile = { readonly [Key in keyof RegistriesConf]?: RegistriesConf[Key] | undefined };

const Document = z.object({
  "unqualified-search-registries": z.array(z.string()).optional(),
  "short-name-mode": z.enum(["", "disabled", "permissive", "enforcing"]).optional(),
  registry: z.array(RegistryTable).optional(),
  aliases: z.record(z.string(), z.string()).optional(),
  "credential-helpers": z.array(z.string()).optional(),
  /** Tables of version 1 are a fault: if they were ignored, they would neither block nor search. */
  registries: z.undefined().optional(),
});
const Aliases = Document.pick({ aliases: true });

const AUTH_FILE = "containers-auth.json";

/** Merges drop-ins over the main file in order. They replace rules of equal prefix, search list, mode and aliases. */
export function mergeRegistriesConfs(files: readonly RegistriesFile[]): RegistriesConf {
  const last = <Key extends keyof RegistriesFile>(key: Key): RegistriesFile[Key] =>
    files.findLast((file) => file[key] !== undefined)?.[key];
  const aliases = new Map(files.flatMap((file) => [...file.aliases ?? []]));
  return {
    rules: [...new Map(files.flatMap(({ rules = [] }) => rules.map((rule) => [rule.prefix, rule]))).values()],
    searchRegistries: last("searchRegistries") ?? [],
    shortNameMode: last("shortNameMode"),
    aliases: new Map([...aliases].filter(([, target]) => target !== "")),
    credentialHelpers: last("credentialHelpers") ?? [],
  };
}

/** Parses the file where tools store the aliases that a user chose, and nothing else. */
export function parseAliasCache(text: string): Parsed<RegistriesFile> {
  const parsed = parseAs(Aliases, parseToml(text), text, wrongKind);
  if (parsed.kind === "unparsable") return parsed;
  return asParsed({ aliases: new Map(Object.entries(parsed.value.aliases ?? {})) });
}

/** Parses one file of version 2: the main one, or a drop-in. */
export function parseRegistriesConf(text: string): Parsed<RegistriesFile> {
  const parsed = parseAs(Document, parseToml(text), text, wrongKind);
  if (parsed.kind === "unparsable") return parsed;
  const { value: data } = parsed;
  const rules = new Map<string, RegistryRule>();
  for (const [at, registry] of (data.registry ?? []).entries()) {
    const rule = readRule(registry, { text, line: tableLine(text, at) });
    if (rule.kind === "unparsable") return rule;
    const twin = rules.get(rule.value.prefix);
    if (twin !== undefined && (twin.isInsecure !== rule.value.isInsecure || twin.isBlocked !== rule.value.isBlocked)) {
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
  if (path.startsWith("registries")) return "[registries.…] tables of version 1, which are not read: use [[registry]]";
  return `"${path}" has a value of a wrong kind`;
}
