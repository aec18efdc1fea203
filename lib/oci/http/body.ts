// Reads the body of an answer into one buffer, bounded: its sender may be a registry of any user.

/** Bytes that a body may have in memory beside the budget: most manifests and configs are smaller. */
export const FREE_BYTES = 64 * 1024;

const FIRST_BUFFER_BYTES = 4 * 1024;

/** Memory for a large body, until it is given back; undefined when there is no more of it now. */
export type TakeMemory = (bytes: number) => { readonly release: () => void } | undefined;

type CollectedBody =
  | { readonly kind: "body"; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: "too-large" }
  /** Other bodies hold all the memory there is for large ones. */
  | { readonly kind: "no-memory" };

/** What is beyond `maxBytes` is never read. Pieces are copied at once: each is a view of a buffer of 64 KiB. */
export async function collectBody(
  stream: ReadableStream<Uint8Array>,
  { maxBytes, take }: { readonly maxBytes: number; readonly take: TakeMemory },
): Promise<CollectedBody> {
  const reader = stream.getReader();
  let buffer = new Uint8Array(Math.min(FIRST_BUFFER_BYTES, maxBytes));
  const held: { readonly release: () => void }[] = [];
  let [bytes, taken] = [0, 0];
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const needed = bytes + part.value.byteLength;
      if (needed > maxBytes) return await givenUp(reader, "too-large");
      if (needed > buffer.byteLength) {
        const size = Math.min(maxBytes, Math.max(needed, 2 * buffer.byteLength));
        const more = Math.max(0, size - FREE_BYTES) - taken;
        const memory = more === 0 ? undefined : take(more);
        if (more > 0 && memory === undefined) return await givenUp(reader, "no-memory");
        if (memory !== undefined) held.push(memory);
        taken += more;
        buffer = new Uint8Array(buffer.buffer.transfer(size));
      }
      buffer.set(part.value, bytes);
      bytes = needed;
    }
    return { kind: "body", bytes: new Uint8Array(buffer.buffer.transfer(bytes)) };
  } finally {
    for (const { release } of held) release();
  }
}

async function givenUp<K extends "too-large" | "no-memory">(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  kind: K,
): Promise<{ readonly kind: K }> {
  await reader.cancel();
  return { kind };
}
