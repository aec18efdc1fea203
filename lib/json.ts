// Reads members of JSON of unknown shape. A missing or malformed one reads as empty, 0 or undefined; no prototype is
// followed.
import { Buffer } from "node:buffer";

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function memberOf(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

export function objectAt(value: unknown, name: string): JsonObject | undefined {
  const member = memberOf(value, name);
  return isObject(member) ? member : undefined;
}

export function textAt(value: unknown, name: string): string {
  const member = memberOf(value, name);
  return typeof member === "string" ? member : "";
}

export function numberAt(value: unknown, name: string): number {
  const member = memberOf(value, name);
  return typeof member === "number" ? member : 0;
}

/** Parses JSON; undefined for any other text. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function parseObject(text: string): JsonObject | undefined {
  const value = tryParseJson(text);
  return isObject(value) ? value : undefined;
}

export function listAt(value: unknown, name: string): readonly unknown[] | undefined {
  const member = memberOf(value, name);
  return Array.isArray(member) ? member : undefined;
}

/** An own member that is a map of strings, without its other entries; undefined when it is not an object. */
export function textMapAt(value: unknown, name: string): Readonly<Record<string, string>> | undefined {
  const member = objectAt(value, name);
  if (member === undefined) return undefined;
  return isTextMap(member) ? member : textEntries(member, () => true);
}

/** The entries that are strings and whose key is wanted, in an object without a prototype. */
export function textEntries(object: JsonObject, wants: (key: string) => boolean): Readonly<Record<string, string>> {
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
  return Buffer.byteLength(text);
}

/**
 * Makes untrusted text safe for terminals and messages: control characters and line separators become question marks.
 */
export function printable(text: string): string {
  return text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, "?");
}

function isTextMap(object: JsonObject): object is Readonly<Record<string, string>> {
  for (const key of Object.keys(object)) {
    if (typeof object[key] !== "string") return false;
  }
  return true;
}
