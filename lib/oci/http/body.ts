// Reads the body of an answer into one buffer, bounded: its sender may be a registry of any user.

/** Bytes that a body may have in memory beside the budget: most manifests and configs are smaller. */
export const FREE_BYTES = 64 * 1024;

const FIRST_BUFFER_BYTES = 4 * 1024;

/** Memory for a large body, until it is given back. Throws when there is no more of it now. */
export type TakeMemory = (bytes: number) => Disposable;

/** Undefined beyond `maxBytes`, which is never read. Pieces are copied at once: each is a view of a buffer of 64 KiB. */
export async function collectBody(
  stream: ReadableStream<Uint8Array>,
  { maxBytes, take }: { readonly maxBytes: number; readonly take?: TakeMemory },
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const reader = stream.getReader();
  using held = new DisposableStack();
  let buffer = new Uint8Array(Math.min(FIRST_BUFFER_BYTES, maxBytes));
  let [bytes, taken] = [0, 0];
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const needed = bytes + part.value.byteLength;
      if (needed > maxBytes) return undefined;
      if (needed > buffer.byteLength) {
        const size = Math.min(maxBytes, Math.max(needed, 2 * buffer.byteLength));
        const more = Math.max(0, size - FREE_BYTES) - taken;
        if (more > 0) held.use(take?.(more));
        taken += more;
        buffer = new Uint8Array(buffer.buffer.transfer(size));
      }
      buffer.set(part.value, bytes);
      bytes = needed;
    }
    return new Uint8Array(buffer.buffer.transfer(bytes));
  } finally {
    // What is left of it; nothing where all was read.
    await reader.cancel();
  }
}
