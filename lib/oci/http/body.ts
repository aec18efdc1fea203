// Reads a body into one bounded buffer: any user may have made it.

/** Bytes of a body that do not count against the memory budget: most manifests and configs are smaller. */
export const FREE_BYTES = 64 * 1024;

const FIRST_BUFFER_BYTES = 4 * 1024;

/** Takes memory for a large body. Throws when none is left. */
export type TakeMemory = (bytes: number) => void;

/** The body; undefined when larger than `maxBytes`. Pieces are copied at once: each is a view of a 64 KiB buffer. */
export async function collectBody(
  stream: ReadableStream<Uint8Array>,
  { maxBytes, take }: { readonly maxBytes: number; readonly take?: TakeMemory },
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const reader = stream.getReader();
  let buffer = new Uint8Array(Math.min(FIRST_BUFFER_BYTES, maxBytes));
  let [bytes, taken] = [0, 0];
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const needed = bytes + part.value.byteLength;
      if (needed > maxBytes) return undefined;
      if (needed > buffer.byteLength) {
        const size = Math.min(maxBytes, Math.max(needed, 2 * buffer.byteLength));
        const more = Math.max(0, size - FREE_BYTES) - taken;
        if (more > 0) take?.(more);
        taken += more;
        buffer = new Uint8Array(buffer.buffer.transfer(size));
      }
      buffer.set(part.value, bytes);
      bytes = needed;
    }
    return new Uint8Array(buffer.buffer.transfer(bytes));
  } finally {
    // Drops the rest of the body, if any.
    await reader.cancel();
  }
}
