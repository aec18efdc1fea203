// The `[[registry]]` tables of registries.conf: the rule for a name, and the places it leads to.
import * as z from "zod";
import { findLine } from "../files/formats.ts";
import { asParsed, type Parsed, unparsable } from "../../parsed.ts";
import { type ImageReference, isDigest, renderReference } from "../reference.ts";
import { canonicalName } from "../host_names.ts";

type MirrorUse = "all" | "digest-only" | "tag-only";

interface RegistryMirror {
  /** `host[:port][/path]`, replaces the rule's prefix. */
  readonly location: string;
  readonly isInsecure: boolean;
  readonly use: MirrorUse;
}

export interface RegistryRule {
  /** `host[:port][/path]`, a whole reference, or `*.domain`. */
  readonly prefix: string;
  /** Replaces the prefix; empty: no replacement (wildcard without location). */
  readonly location: string;
  readonly isInsecure: boolean;
  readonly isBlocked: boolean;
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

interface TablePosition {
  readonly text: string;
  readonly line: number | undefined;
}

/** Reads a table. A fault names the line of the table. */
export function readRule(registry: z.infer<typeof RegistryTable>, position: TablePosition): Parsed<RegistryRule> {
  const location = trimLocation(registry.location);
  const prefix = trimLocation(registry.prefix) || location;
  const isWildcard = prefix.startsWith("*.");
  if (prefix === "") return unparsable("a registry without prefix and location", position.line);
  if (isWildcard && !/^\*\.[^*/:@]+$/.test(prefix)) {
    return unparsable(`the wildcard prefix "${prefix}" is not of the form *.example.com`, position.line);
  }
  if (location === "" && !isWildcard) return unparsable(`the registry "${prefix}" has no location`, position.line);
  if ([prefix, location, ...registry.mirror.map((mirror) => mirror.location)].some((name) => name.includes("://"))) {
    return unparsable("a location with a scheme; write host[:port][/path]", findLine(position.text, "://"));
  }
  if (registry["pull-from-mirror"]) return unparsable("pull-from-mirror outside of a mirror", position.line);
  const mirrors = readMirrors(registry, position);
  if (mirrors.kind === "unparsable") return mirrors;
  const { insecure: isInsecure, blocked: isBlocked } = registry;
  return asParsed({ prefix, location, isInsecure, isBlocked, mirrors: mirrors.value });
}

function readMirrors(
  registry: z.infer<typeof RegistryTable>,
  { line }: TablePosition,
): Parsed<readonly RegistryMirror[]> {
  const byDigestOnly = registry["mirror-by-digest-only"];
  const mirrors: RegistryMirror[] = [];
  for (const mirror of registry.mirror) {
    const location = trimLocation(mirror.location);
    if (location === "") return unparsable("a mirror without location", line);
    const use = mirror["pull-from-mirror"] || undefined;
    if (byDigestOnly && use !== undefined) {
      return unparsable("pull-from-mirror together with mirror-by-digest-only", line);
    }
    mirrors.push({ location, isInsecure: mirror.insecure, use: byDigestOnly ? "digest-only" : use ?? "all" });
  }
  return asParsed(mirrors);
}

/** The line of the `[[registry]]` table with this index. Undefined when the array is written inline. */
export function tableLine(text: string, number: number): number | undefined {
  const found = [...text.matchAll(/^[ \t]*\[\[[ \t]*registry[ \t]*\]\]/gm)][number];
  return found === undefined ? undefined : text.slice(0, found.index).split("\n").length;
}

/** A location without spaces and trailing slashes, its host in canonical spelling. */
export function trimLocation(location: string): string {
  return canonicalName(location.trim().replace(/(?<!\/)\/+$/, ""));
}

/** A reference with its registry. `host` is the name in configuration: `docker.io`. */
export type FullName = Pick<ImageReference, "host" | "repository" | "identifier">;

export function repositoryName({ host, repository }: Pick<FullName, "host" | "repository">): string {
  return `${host}/${repository}`;
}

export function findRule(rules: readonly RegistryRule[], name: string): RegistryRule | undefined {
  const fitting = rules.filter(({ prefix }) => matchedLength(prefix, name) !== undefined);
  return fitting.reduce<RegistryRule | undefined>(
    (best, rule) => (best === undefined || rule.prefix.length > best.prefix.length ? rule : best),
    undefined,
  );
}

/** Mirrors that may serve this kind of reference (rows DV-101, DV-102), then the registry itself. */
export function locationsFor(
  rule: RegistryRule,
  full: FullName,
): readonly { readonly name: string; readonly isInsecure: boolean; readonly isMirror: boolean }[] {
  const name = repositoryName(full);
  const length = Math.min(matchedLength(rule.prefix, renderReference(full)) ?? 0, name.length);
  const relocated = (location: string): string => location === "" ? name : location + name.slice(length);
  const wanted: MirrorUse = isDigest(full.identifier) ? "digest-only" : "tag-only";
  const mirrors = rule.mirrors.filter(({ use }) => use === "all" || use === wanted);
  return [
    ...mirrors.map(({ location, isInsecure }) => ({ name: relocated(location), isInsecure, isMirror: true })),
    { name: relocated(rule.location), isInsecure: rule.isInsecure, isMirror: false },
  ];
}

/** How many characters a prefix matches; undefined if it does not. The match ends at `/`, `:`, `@` or the end. */
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
