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
