// Reads parsed JSON of unknown shape at a path. Unlike in lib/json.ts a missing text or number is undefined.
import { isObject, type JsonObject } from "../lib/json.ts";

export { isObject, type JsonObject };

/** The value at a path of member names and list positions; undefined when any step is missing. */
export function valueAtPath(value: unknown, ...path: readonly (string | number)[]): unknown {
  let at = value;
  for (const step of path) {
    if (Array.isArray(at)) at = at[Number(step)];
    else if (isObject(at) && Object.hasOwn(at, step)) at = at[step];
    else return undefined;
  }
  return at;
}

export function textAtPath(value: unknown, ...path: readonly (string | number)[]): string | undefined {
  const found = valueAtPath(value, ...path);
  return typeof found === "string" ? found : undefined;
}

export function numberAtPath(value: unknown, ...path: readonly (string | number)[]): number | undefined {
  const found = valueAtPath(value, ...path);
  return typeof found === "number" && Number.isFinite(found) ? found : undefined;
}

export function objectAtPath(value: unknown, ...path: readonly (string | number)[]): JsonObject {
  const found = valueAtPath(value, ...path);
  return isObject(found) ? found : {};
}

export function listAtPath(value: unknown, ...path: readonly (string | number)[]): readonly unknown[] {
  const found = valueAtPath(value, ...path);
  return Array.isArray(found) ? found : [];
}

export function textMapAtPath(value: unknown, ...path: readonly (string | number)[]): Readonly<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const [name, text] of Object.entries(objectAtPath(value, ...path))) {
    if (typeof text === "string") texts[name] = text;
  }
  return texts;
}
