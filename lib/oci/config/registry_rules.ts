// The `[[registry]]` tables of registries.conf: which rule holds for a name, and which places it leads to.
import * as z from "zod";
import { findLine } from "../files/documents.ts";
import { asParsed, type Parsed, unparsable } from "../../parsed.ts";
import { canonicalName } from "../registry_host.ts";

type MirrorUse = "all" | "digest-only" | "tag-only";

interface RegistryMirror {
  /** `host[:port][/path]`, put in the place of the rule's prefix. */
  readonly location: string;
  readonly insecure: boolean;
  readonly use: MirrorUse;
}

export interface RegistryRule {
  /** `host[:port][/path]`, a whole reference, or `*.domain`. */
  readonly prefix: string;
  /** What replaces the prefix; empty: nothing is replaced (wildcard without location). */
  readonly location: string;
  readonly insecure: boolean;
  readonly blocked: boolean;
  readonly mirrors: readonly RegistryMirror[];
}

const Mirror = z.object({
  location: z.string(),
  insecure: z.boolean().default(false),
  "pull-from-mirror": z.enum(["", "all", "digest-only", "tag-only"]).optional(),
});

export const RegistryTable = z.object({
  prefix: z.string().default(""),
  location: z.string().default(""),
  insecure: z.boolean().default(false),
  blocked: z.boolean().default(false),
  "mirror-by-digest-only": z.boolean().default(false),
  "pull-from-mirror": z.string().optional(),
  mirror: z.array(Mirror).default([]),
});

interface TablePlace {
  readonly text: string;
  readonly line: number | undefined;
}

/** Reads a table. A fault names the line of the table. */
export function readRule(registry: z.infer<typeof RegistryTable>, place: TablePlace): Parsed<RegistryRule> {
  const location = trimLocation(registry.location);
  const prefix = trimLocation(registry.prefix) || location;
  const isWildcard = prefix.startsWith("*.");
  if (prefix === "") return unparsable("a registry without prefix and location", place.line);
  if (isWildcard && !/^\*\.[^*/:@]+$/.test(prefix)) {
    return unparsable(`the wildcard prefix "${prefix}" is not of the form *.example.com`, place.line);
  }
  if (location === "" && !isWildcard) return unparsable(`the registry "${prefix}" has no location`, place.line);
  if ([prefix, location, ...registry.mirror.map((mirror) => mirror.location)].some((name) => name.includes("://"))) {
    return unparsable("a location with a scheme; write host[:port][/path]", findLine(place.text, "://"));
  }
  if (registry["pull-from-mirror"]) return unparsable("pull-from-mirror outside of a mirror", place.line);
  const mirrors = readMirrors(registry, place);
  if (mirrors.kind === "unparsable") return mirrors;
  const { insecure, blocked } = registry;
  return asParsed({ prefix, location, insecure, blocked, mirrors: mirrors.value });
}

function readMirrors(registry: z.infer<typeof RegistryTable>, { line }: TablePlace): Parsed<readonly RegistryMirror[]> {
  const byDigestOnly = registry["mirror-by-digest-only"];
  const mirrors: RegistryMirror[] = [];
  for (const mirror of registry.mirror) {
    const location = trimLocation(mirror.location);
    if (location === "") return unparsable("a mirror without location", line);
    const use = mirror["pull-from-mirror"] || undefined;
    if (byDigestOnly && use !== undefined) {
      return unparsable("pull-from-mirror together with mirror-by-digest-only", line);
    }
    mirrors.push({ location, insecure: mirror.insecure, use: byDigestOnly ? "digest-only" : use ?? "all" });
  }
  return asParsed(mirrors);
}

/** The line of the `[[registry]]` with this number, from 0. Undefined when the array is written inline. */
export function tableLine(text: string, number: number): number | undefined {
  const found = [...text.matchAll(/^[ \t]*\[\[[ \t]*registry[ \t]*\]\]/gm)][number];
  return found === undefined ? undefined : text.slice(0, found.index).split("\n").length;
}

/** A location without what people write around it, its host in canonical spelling. */
export function trimLocation(location: string): string {
  return canonicalName(location.trim().replace(/(?<!\/)\/+$/, ""));
}

export interface FullName {
  readonly name: string;
  readonly suffix: string;
}

export function findRule(rules: readonly RegistryRule[], full: FullName): RegistryRule | undefined {
  const fitting = rules.filter(({ prefix }) => matchedLength(prefix, full.name + full.suffix) !== undefined);
  return fitting.reduce<RegistryRule | undefined>(
    (best, rule) => (best === undefined || rule.prefix.length > best.prefix.length ? rule : best),
    undefined,
  );
}

/** Mirrors that may serve this kind of reference (rows DV-101, DV-102), then the registry itself. */
export function pullSources(
  rule: RegistryRule,
  full: FullName,
): readonly { readonly name: string; readonly insecure: boolean; readonly isMirror: boolean }[] {
  const length = Math.min(matchedLength(rule.prefix, full.name + full.suffix) ?? 0, full.name.length);
  const place = (location: string): string => location === "" ? full.name : location + full.name.slice(length);
  const wanted: MirrorUse = full.suffix.startsWith("@") ? "digest-only" : "tag-only";
  const mirrors = rule.mirrors.filter(({ use }) => use === "all" || use === wanted);
  return [
    ...mirrors.map(({ location, insecure }) => ({ name: place(location), insecure, isMirror: true })),
    { name: place(rule.location), insecure: rule.insecure, isMirror: false },
  ];
}

/** How many characters of the name a prefix takes; undefined when it does not fit. It ends at `/`, `:`, `@` or the end. */
function matchedLength(prefix: string, name: string): number | undefined {
  if (!prefix.startsWith("*.")) {
    return endsAt(name, prefix.length) && name.startsWith(prefix) ? prefix.length : undefined;
  }
  const suffix = prefix.slice(1);
  const host = /^[^/:@]*/.exec(name)?.[0] ?? "";
  return host.endsWith(suffix) && host.length > suffix.length ? host.length : undefined;
}

function endsAt(name: string, length: number): boolean {
  return name.length === length || "/:@".includes(name[length] ?? " ");
}
