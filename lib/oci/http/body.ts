// Reads the body of an answer. Its sender may be a registry of any user, so what is buffered is bounded: one
// buffer for each body, however small the pieces are that it comes in, and a budget for all large bodies together.

/** Bytes that a body may have in memory beside the budget: most manifests and configs are smaller. */
export const FREE_BYTES = 64 * 1024;

/** What all bodies under way may hold together beyond {@link FREE_BYTES} each. */
const MAX_HELD_BYTES = 64 * 1024 * 1024;

const FIRST_BUFFER_BYTES = 4 * 1024;

/** Memory that the bodies under way share. */
export class BodyBudget {
  readonly #maxBytes: number;
  #heldBytes = 0;

  /** With nothing taken. */
  constructor(maxBytes: number = MAX_HELD_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** Taken as of now. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Whether there was as much left; then it is taken, until it is given back. */
  tryTake(bytes: number): boolean {
    if (this.#heldBytes + bytes > this.#maxBytes) return false;
    this.#heldBytes += bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#heldBytes -= bytes;
  }
}

/** A whole body, or why it was not read to its end. */
export type CollectedBody =
  | { readonly kind: "body"; readonly bytes: Uint8Array<ArrayBuffer> }
  /** It has more bytes than it may have. */
  | { readonly kind: "too-large" }
  /** Other bodies hold all the memory there is for large ones. */
  | { readonly kind: "no-memory" };

/**
 * Reads at most `maxBytes`; what is beyond is never read. Pieces are copied at once: each is a view of a buffer of 64 KiB,
 * also one of a single byte.
 */
export async function collectBody(
  stream: ReadableStream<Uint8Array>,
  { maxBytes, budget }: { readonly maxBytes: number; readonly budget: BodyBudget },
): Promise<CollectedBody> {
  const reader = stream.getReader();
  let buffer = new Uint8Array(Math.min(FIRST_BUFFER_BYTES, maxBytes));
  let bytes = 0;
  let taken = 0;
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const needed = bytes + part.value.byteLength;
      if (needed > maxBytes) return await givenUp(reader, "too-large");
      if (needed > buffer.byteLength) {
        const size = Math.min(maxBytes, Math.max(needed, 2 * buffer.byteLength));
        const more = Math.max(0, size - FREE_BYTES) - taken;
        if (!budget.tryTake(more)) return await givenUp(reader, "no-memory");
        taken += more;
        buffer = new Uint8Array(buffer.buffer.transfer(size));
      }
      buffer.set(part.value, bytes);
      bytes = needed;
    }
    return { kind: "body", bytes: new Uint8Array(buffer.buffer.transfer(bytes)) };
  } finally {
    budget.giveBack(taken);
  }
}

async function givenUp<K extends "too-large" | "no-memory">(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  kind: K,
): Promise<{ readonly kind: K }> {
  await reader.cancel();
  return { kind };
}
