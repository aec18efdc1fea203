// Recognises by its bytes a text of JSON that would cost far more to parse than its size says. Parsed, 7 MiB of `{},` are 2.4
// million objects: 3 s and 130 MB. What API servers and registries send is nowhere near that.
import { type JsonObject, parseObject } from "./json.ts";

/**
 * Members and elements of a body that are still parsed. A pod of 45 000 containers with their defaults, 7 MiB, has
 * 360 000. A pod that etcd stores (1.5 MiB) ends far below.
 */
export const MAX_STRUCTURE = 500_000;

/**
 * The same for what a registry or token server answers. An index of 1 000 entries with platforms and some annotations has
 * 30 000. Under the worst names and nesting 40 000 take 30 ms to parse, 100 000 took 90 ms.
 */
const MAX_ANSWER_STRUCTURE = 40_000;

/** Longer strings are searched natively, which has its price for each call. */
const SHORT_STRING_BYTES = 32;

const UTF8 = new TextEncoder();

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const BRACKET = 0x5b;
const BRACE = 0x7b;

/**
 * Whether the JSON in these bytes has more commas, objects and arrays, outside of strings, than {@link MAX_STRUCTURE}.
 * Linear, without allocation, and over as soon as the answer is clear. Bytes of UTF-8 sequences never look like ASCII.
 */
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
export function parseSparseObject(text: string, max: number = MAX_ANSWER_STRUCTURE): JsonObject | undefined {
  return isDenseText(text, max) ? undefined : parseObject(text);
}

/** As {@link hasDenseStructure}. Each of them takes a character at least: most texts need no copy. */
export function isDenseText(text: string, max: number): boolean {
  return text.length > max && hasDenseStructure(UTF8.encode(text), max);
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
