// The envelope of each stored value: version, time of writing, expiry. It is checked when it is read, because another
// version may have written it.
import * as z from "zod";

const Envelope = z.object({
  v: z.number(),
  atMs: z.number(),
  expireAtMs: z.number().optional(),
  value: z.unknown(),
});

const ONE_BYTE_TEXT = /^[^\u0100-\uffff]*$/;

/** Wraps a value. `v` is the version of its shape; `expireAtMs` the wall time after which it must not be used. */
export function seal(
  value: unknown,
  about: { readonly v: number; readonly atMs: number; readonly expireAtMs?: number },
): unknown {
  const { v, atMs, expireAtMs } = about;
  return { v, atMs, ...(expireAtMs === undefined ? {} : { expireAtMs }), value };
}

/** The value; undefined when it has another version or shape, or has expired. */
export function unseal<T>(
  raw: unknown,
  expected: { readonly v: number; readonly nowMs: number; readonly schema: z.ZodType<T> },
): T | undefined {
  const envelope = Envelope.safeParse(raw);
  if (!envelope.success || envelope.data.v !== expected.v) return undefined;
  const { expireAtMs, value } = envelope.data;
  if (expireAtMs !== undefined && expireAtMs <= expected.nowMs) return undefined;
  return expected.schema.safeParse(value).data;
}

/** When a stored value was written and whether it has expired. A malformed value counts as the oldest. */
export function ageOf(raw: unknown, nowMs: number): { readonly atMs: number; readonly isExpired: boolean } {
  const envelope = Envelope.safeParse(raw);
  if (!envelope.success) return { atMs: -Infinity, isExpired: true };
  const { atMs, expireAtMs } = envelope.data;
  return { atMs, isExpired: expireAtMs !== undefined && expireAtMs <= nowMs };
}

/** What a short text takes beside its own length: its key, twice, and the overhead of the tables. */
const ROW_BYTES = 600;
/** A longer text leaves the rest of its page empty, or takes pages of its own. */
const SHORT_BYTES = 1_000;
const PAGE_BYTES = 4_096;
const LONG_ROW_BYTES = 800;

/** Bytes that a text takes in the file, estimated high. Measured: 940 bytes for 400, 4 860 for 2 500. */
export function storedBytes(text: string): number {
  // A text with any other character takes two bytes for each of its characters.
  const bytes = ONE_BYTE_TEXT.test(text) ? text.length : 2 * text.length;
  if (bytes <= SHORT_BYTES) return bytes + ROW_BYTES;
  return Math.ceil((bytes + ROW_BYTES / 2) / PAGE_BYTES) * PAGE_BYTES + LONG_ROW_BYTES;
}
