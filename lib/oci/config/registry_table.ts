// The `[[registry]]` tables of registries.conf: their schema, and what of it makes no sense. Pure. Called by
// registries_conf.ts. Reference §3.7.
import * as z from "zod";
import { broken, findLine, ok, type Parsed } from "../../files/problem.ts";

/** Which references a mirror may serve. */
export type MirrorUse = "all" | "digest-only" | "tag-only";

/** A mirror of a registry or of a part of it. */
export interface RegistryMirror {
  /** `host[:port][/path]`, put in the place of the rule's prefix. */
  readonly location: string;
  readonly insecure: boolean;
  readonly use: MirrorUse;
}

/** One `[[registry]]`. */
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

/** A `[[registry]]` as it is written. */
export const RegistryTable = z.object({
  prefix: z.string().default(""),
  location: z.string().default(""),
  insecure: z.boolean().default(false),
  blocked: z.boolean().default(false),
  "mirror-by-digest-only": z.boolean().default(false),
  "pull-from-mirror": z.string().optional(),
  mirror: z.array(Mirror).default([]),
});

/** The text of the file and the line of the table in it. */
export interface TablePlace {
  readonly text: string;
  readonly line: number | undefined;
}

/** Reads a table. A fault is told with the line of the table. */
export function readRule(registry: z.infer<typeof RegistryTable>, place: TablePlace): Parsed<RegistryRule> {
  const location = trimLocation(registry.location);
  const prefix = trimLocation(registry.prefix) || location;
  const isWildcard = prefix.startsWith("*.");
  if (prefix === "") return broken("a registry without prefix and location", place.line);
  if (isWildcard && !/^\*\.[^*/:@]+$/.test(prefix)) {
    return broken(`the wildcard prefix "${prefix}" is not of the form *.example.com`, place.line);
  }
  if (location === "" && !isWildcard) return broken(`the registry "${prefix}" has no location`, place.line);
  if ([prefix, location, ...registry.mirror.map((mirror) => mirror.location)].some((name) => name.includes("://"))) {
    return broken("a location with a scheme; write host[:port][/path]", findLine(place.text, "://"));
  }
  if (registry["pull-from-mirror"]) return broken("pull-from-mirror outside of a mirror", place.line);
  const mirrors = readMirrors(registry, place);
  if (mirrors.kind === "broken") return mirrors;
  const { insecure, blocked } = registry;
  return ok({ prefix, location, insecure, blocked, mirrors: mirrors.value });
}

function readMirrors(registry: z.infer<typeof RegistryTable>, { line }: TablePlace): Parsed<readonly RegistryMirror[]> {
  const byDigestOnly = registry["mirror-by-digest-only"];
  const mirrors: RegistryMirror[] = [];
  for (const mirror of registry.mirror) {
    const location = trimLocation(mirror.location);
    if (location === "") return broken("a mirror without location", line);
    const use = mirror["pull-from-mirror"] || undefined;
    if (byDigestOnly && use !== undefined) return broken("pull-from-mirror together with mirror-by-digest-only", line);
    mirrors.push({ location, insecure: mirror.insecure, use: byDigestOnly ? "digest-only" : use ?? "all" });
  }
  return ok(mirrors);
}

/** The line of the `[[registry]]` with this number, from 0. Undefined when the array is written inline. */
export function tableLine(text: string, number: number): number | undefined {
  const found = [...text.matchAll(/^[ \t]*\[\[[ \t]*registry[ \t]*\]\]/gm)][number];
  return found === undefined ? undefined : text.slice(0, found.index).split("\n").length;
}

/** A location without what people write around it. */
export function trimLocation(location: string): string {
  return location.trim().replace(/\/+$/, "");
}
