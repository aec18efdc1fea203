// How much structure JSON has. Some takes far more to parse than its size suggests: 7 MiB of `{},` are 2.4 million
// objects, 3 s and 130 MB.
import { type JsonObject, parseObject } from "./json.ts";

const UTF8 = new TextEncoder();

/**
 * Most commas, objects and arrays of a review. A pod of 45 000 containers (7 MiB) has 360 000; etcd stores none so
 * large.
 */
export const MAX_STRUCTURE = 500_000;

/** The same for answers of registries: an index of 1 000 entries has 30 000; the worst 40 000 take 30 ms to parse. */
const MAX_ANSWER_STRUCTURE = 40_000;

/** Strings up to this length are scanned here; longer ones by a native search, which has a cost for each call. */
const SHORT_STRING_BYTES = 32;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const BRACKET = 0x5b;
const BRACE = 0x7b;

/**
 * Whether there are more than `max` commas, objects and arrays outside of strings. Linear; stops as soon as it is
 * certain.
 */
export function hasDenseStructure(bytes: Uint8Array, max: number = MAX_STRUCTURE): boolean {
  const { length } = bytes;
  // Each takes at least one byte.
  if (length <= max) return false;
  let found = 0;
  for (let at = 0; at < length; at++) {
    const byte = bytes[at];
    if (byte === COMMA || byte === BRACE || byte === BRACKET) {
      if (++found > max) return true;
    } else if (byte === QUOTE) {
      const start = at + 1;
      const stop = start + SHORT_STRING_BYTES;
      // Dense bodies consist of short strings: these are scanned without a call.
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

/** Parses a JSON object; undefined for any other text, and for one with too much structure to be parsed. */
export function parseBoundedObject(text: string, max: number = MAX_ANSWER_STRUCTURE): JsonObject | undefined {
  return isDenseText(text, max) ? undefined : parseObject(text);
}

/** {@link hasDenseStructure} for a text. One of at most `max` characters cannot be dense, so that most need no copy. */
export function isDenseText(text: string, max: number): boolean {
  return text.length > max && hasDenseStructure(UTF8.encode(text), max);
}

/** Heap bytes of an object or array beside its members, and of a string beside its characters. */
const NESTED_BYTES = 64;
const STRING_BYTES = 24;

/**
 * Estimates the heap bytes of parsed JSON by its text. Ordinary Kubernetes objects take less, thousands of short labels
 * more.
 */
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

/** Index of the quote that closes the string which goes on at `from` (not within an escape); the length without one. */
function endOfString(bytes: Uint8Array, from: number): number {
  const { length } = bytes;
  let span = SHORT_STRING_BYTES;
  for (let at = from; at < length; span *= 4) {
    const quote = bytes.indexOf(QUOTE, at);
    if (quote < 0) return length;
    if (!isEscaped(bytes, { at: quote, from: at })) return quote;
    // The string has escaped quotes: each time more bytes are scanned here, since a native search has a cost.
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
