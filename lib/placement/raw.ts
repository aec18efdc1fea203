// Reading members of JSON that nobody vouched for. Every reader here gives a default for what is missing or malformed,
// never throws, and never follows a prototype. Used by the parsers of this folder.
import { isObject, memberOf, objectAt, textAt } from "../json.ts";
import type { RawObject } from "./config_types.ts";

export { isObject, memberOf, objectAt, textAt };

const UTF8 = new TextEncoder();

/** An own member that is a list, or undefined. */
export function listAt(value: unknown, name: string): readonly unknown[] | undefined {
  const member = memberOf(value, name);
  return Array.isArray(member) ? member : undefined;
}

/** An own member that is a map of texts; entries that are no texts are left out. undefined when it is no object. */
export function textMapAt(value: unknown, name: string): Readonly<Record<string, string>> | undefined {
  const member = objectAt(value, name);
  if (member === undefined) return undefined;
  return isTextMap(member) ? member : textEntries(member, () => true);
}

/** The entries of an object that are texts and whose key is wanted, in an object without prototype. */
export function textEntries(object: RawObject, wants: (key: string) => boolean): Readonly<Record<string, string>> {
  const kept: Record<string, string> = Object.create(null);
  for (const key of Object.keys(object)) {
    const value = object[key];
    if (typeof value === "string" && wants(key)) kept[key] = value;
  }
  return kept;
}

/** Looks a key up without following the prototype. */
export function entryOf<T>(map: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return map !== undefined && Object.hasOwn(map, key) ? map[key] : undefined;
}

/** Bytes of a text in UTF-8, which is what the API server counts. */
export function utf8Length(text: string): number {
  return UTF8.encode(text).length;
}

function isTextMap(object: RawObject): object is Readonly<Record<string, string>> {
  for (const key of Object.keys(object)) {
    if (typeof object[key] !== "string") return false;
  }
  return true;
}
