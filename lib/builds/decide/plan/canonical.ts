// One text for one meaning, and its hash: keys of builds come from here, so a change of it builds every image anew.
import { createHash } from "node:crypto";
import { isObject } from "../../../json.ts";

/** JSON with sorted keys and without white space. Members that are undefined are left out. */
export function canonical(value: unknown): string {
  return JSON.stringify(sorted(value));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).toSorted(([left], [right]) => left < right ? -1 : 1);
  return Object.fromEntries(entries.map(([key, member]) => [key, sorted(member)]));
}

/** SHA-256 of a text as UTF-8, 64 hex digits. */
export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
