// Layout of the keys: ["archway", layout, kind, …]. Pure.
import { createHash } from "node:crypto";
import type { StoreKey } from "./store.ts";

const LAYOUT = 1;
/** Deno KV takes 2 048 bytes of key; parts longer than this are replaced by their hash. */
const MAX_PART_CHARACTERS = 300;

export type RecordKind = "digest" | "tag";

export const RECORD_KINDS: readonly RecordKind[] = ["digest", "tag"];

export function entryKey(kind: RecordKind, parts: readonly string[]): StoreKey {
  return ["archway", LAYOUT, kind, ...parts.map(shorten)];
}

export function kindPrefix(kind: RecordKind): StoreKey {
  return ["archway", LAYOUT, kind];
}

export const SALT_KEY: StoreKey = ["archway", LAYOUT, "salt"];

export const PROBE_KEY: StoreKey = ["archway", LAYOUT, "probe"];

function shorten(part: string): string {
  return part.length <= MAX_PART_CHARACTERS ? part : createHash("sha256").update(part).digest("hex");
}
