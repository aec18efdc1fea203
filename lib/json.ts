// Reading members of JSON of unknown shape: each reader gives nothing for what is missing or malformed, never throws, and
// never follows a prototype.

/** A JSON object of unknown members. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a value is a JSON object: not null, not a list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An own member of a JSON object; undefined when there is none. */
export function memberOf(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** An own member that is an object, or undefined. */
export function objectAt(value: unknown, name: string): JsonObject | undefined {
  const member = memberOf(value, name);
  return isObject(member) ? member : undefined;
}

/** An own member that is a text, or the empty text. */
export function textAt(value: unknown, name: string): string {
  const member = memberOf(value, name);
  return typeof member === "string" ? member : "";
}

/** A text that is a JSON object; undefined when it is anything else. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

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

const UTF8 = new TextEncoder();

/** Bytes of a text in UTF-8, which is what the API server counts. */
export function utf8Length(text: string): number {
  return UTF8.encode(text).length;
}

/** A text that others chose, for terminals and messages: control characters, line breaks and the like are question marks. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, "?");
}

function isTextMap(object: JsonObject): object is Readonly<Record<string, string>> {
  for (const key of Object.keys(object)) {
    if (typeof object[key] !== "string") return false;
  }
  return true;
}
