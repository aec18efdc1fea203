// Reading members of JSON of unknown shape: nothing for what is missing or malformed; no prototype is followed.
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

export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

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
  return Buffer.byteLength(text);
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

// Bytes that take far more to parse than their size says: 7 MiB of `{},` are 2.4 million objects, 3 s and 130 MB.

/** A pod of 45 000 containers with their defaults, 7 MiB, has 360 000; one that etcd stores ends far below. */
export const MAX_STRUCTURE = 500_000;

/** Of answers of registries: an index of 1 000 entries has 30 000. Of the worst kind 40 000 take 30 ms to parse. */
const MAX_ANSWER_STRUCTURE = 40_000;

/** Longer strings are searched natively, which has its price for each call. */
const SHORT_STRING_BYTES = 32;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const BRACKET = 0x5b;
const BRACE = 0x7b;

/** Commas, objects and arrays outside of strings are counted. Linear, and over as soon as the answer is clear. */
export function hasDenseStructure(bytes: Uint8Array, max: number = MAX_STRUCTURE): boolean {
  const { length } = bytes;
  // Each of them takes a byte at least.
  if (length <= max) return false;
  let found = 0;
  for (let at = 0; at < length; at++) {
    const byte = bytes[at];
    if (byte === COMMA || byte === BRACE || byte === BRACKET) {
      if (++found > max) return true;
    } else if (byte === QUOTE) {
      const start = at + 1;
      const stop = start + SHORT_STRING_BYTES;
      // Short strings here, without a call: they are what dense bodies consist of.
      for (at = start; at < length && at < stop; at++) {
        const inner = bytes[at];
        if (inner === QUOTE) break;
        if (inner === BACKSLASH) at++;
      }
      if (at >= stop) at = endOfString(bytes, at);
    }
  }
  return false;
}

/** The JSON object of an answer; undefined for a text that is anything else, or too dense to be parsed. */
export function parseBoundedObject(text: string, max: number = MAX_ANSWER_STRUCTURE): JsonObject | undefined {
  return isDenseText(text, max) ? undefined : parseObject(text);
}

/** As {@link hasDenseStructure}. Each of them takes a character at least: most texts need no copy. */
export function isDenseText(text: string, max: number): boolean {
  return text.length > max && hasDenseStructure(UTF8.encode(text), max);
}

/** What an object or a list takes of the heap beside its members, and a string beside its characters. */
const NESTED_BYTES = 64;
const STRING_BYTES = 24;

/** By its text, about. Ordinary objects of Kubernetes take less; of thousands of short labels it is two thirds. */
export function heapBytesOf(text: string): number {
  const { length } = text;
  let bytes = length;
  for (let at = 0; at < length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) bytes += STRING_BYTES / 2;
    else if (code === BRACE || code === BRACKET) bytes += NESTED_BYTES;
  }
  return bytes;
}

/** Where the string that goes on at `from`, outside of an escape, is closed; the length when it is not. */
function endOfString(bytes: Uint8Array, from: number): number {
  const { length } = bytes;
  let span = SHORT_STRING_BYTES;
  for (let at = from; at < length; span *= 4) {
    const quote = bytes.indexOf(QUOTE, at);
    if (quote < 0) return length;
    if (!isEscaped(bytes, { at: quote, from: at })) return quote;
    // A string with escaped quotes: ever more bytes by hand, because each native search has its price.
    const stop = quote + span;
    for (at = quote + 1; at < length && at < stop; at++) {
      const byte = bytes[at];
      if (byte === QUOTE) return at;
      if (byte === BACKSLASH) at++;
    }
  }
  return length;
}

function isEscaped(bytes: Uint8Array, { at, from }: { readonly at: number; readonly from: number }): boolean {
  let backslashes = 0;
  while (at - backslashes > from && bytes[at - 1 - backslashes] === BACKSLASH) backslashes++;
  return backslashes % 2 === 1;
}
