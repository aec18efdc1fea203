// What a pool's images are built for in the end: the architectures found, and those that have only just left.
import { parseTime } from "../../../cluster/time.ts";
import { listAt, memberOf, objectAt, parseObject } from "../../../json.ts";
import type { ArchSet, DetectedSet } from "../types.ts";
import { setOf } from "./detect.ts";

export interface StoredSet {
  readonly set: ArchSet;
  /** Since when an architecture of the set has no node, RFC 3339. */
  readonly goneSince: Readonly<Record<string, string>>;
}

export function parseStoredSet(text: string | undefined): StoredSet | undefined {
  const value = text === undefined ? undefined : parseObject(text);
  if (value === undefined) return undefined;
  const gone = objectAt(value, "goneSince") ?? {};
  return {
    set: setOf((listAt(value, "set") ?? []).filter((name) => typeof name === "string")),
    goneSince: Object.fromEntries(
      Object.entries(gone).flatMap(([arch, since]) => parseTime(since) === undefined ? [] : [[arch, String(since)]]),
    ),
  };
}

/** What to store. Nothing in it changes while the nodes do not. */
export function renderStoredSet(
  { set, detected, stored, nowMs }: {
    readonly set: ArchSet;
    readonly detected: DetectedSet;
    readonly stored: StoredSet | undefined;
    readonly nowMs: number;
  },
): string {
  const gone = set.filter((arch) => !detected.set.includes(arch));
  const now = new Date(nowMs).toISOString();
  const goneSince = Object.fromEntries(gone.map((arch) => [arch, stored?.goneSince[arch] ?? now]));
  const { source, nodeCounts } = detected;
  const lasting = { set, source, nodeCounts, ...(gone.length === 0 ? {} : { goneSince }) };
  return JSON.stringify({ ...lasting, observedAt: now });
}

export function saysTheSame(stored: string | undefined, rendered: string): boolean {
  return stored !== undefined && withoutTime(stored) === withoutTime(rendered);
}

function withoutTime(text: string): string | undefined {
  const value = parseObject(text);
  if (value === undefined) return undefined;
  const entries = Object.entries(value).filter(([key]) => key !== "observedAt");
  return JSON.stringify(Object.fromEntries(entries.toSorted(([left], [right]) => left < right ? -1 : 1)));
}

export interface RetainInput {
  readonly detected: ArchSet;
  /** Architectures of the build that is published. */
  readonly built: ArchSet;
  readonly stored: StoredSet | undefined;
  readonly nowMs: number;
  readonly retainMs: number;
  readonly isPublished: (set: ArchSet) => boolean;
}

/**
 * The set to plan for. While nothing else has changed all that is built for stays; with another change those go whose last
 * node has been gone for longer than `retainMs`.
 */
export function effectiveSet({ detected, built, stored, nowMs, retainMs, isPublished }: RetainInput): ArchSet {
  const all = setOf([...detected, ...built]);
  if (all.length === detected.length || isPublished(all)) return all;
  const isGone = (arch: string): boolean => {
    const since = parseTime(memberOf(stored?.goneSince ?? {}, arch));
    return since !== undefined && nowMs - since >= retainMs;
  };
  return all.filter((arch) => detected.includes(arch) || !isGone(arch));
}
