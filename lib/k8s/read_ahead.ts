// Reads a body ahead of its consumer: the API server drops a watcher whose socket stays full for 50–100 ms.
import { systemClock, withinMs } from "../clock.ts";

/** Limit of unconsumed data (bytes). At the limit reading waits, and the API server may drop the watcher. */
const MAX_READ_AHEAD_BYTES = 32 * 1024 * 1024;

/** How long to wait for a cancelled body (ms): Deno's fetch does not always settle an aborted read. */
const CANCEL_WAIT_MS = 250;

/** Yields all chunks of a cut body before it throws. Leaving the loop cancels the body; an abort throws at once. */
export async function* readAhead(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  options: { readonly maxBytes?: number | undefined; readonly signal?: AbortSignal | undefined } = {},
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  const { maxBytes = MAX_READ_AHEAD_BYTES, signal } = options;
  const reader = body.getReader();
  const chunks = new ChunkBuffer(maxBytes);
  const filling = chunks.fillFrom(reader);
  const onAbort = (): void => chunks.wake();
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    for (let chunk = await chunks.take(signal); chunk !== undefined; chunk = await chunks.take(signal)) yield chunk;
  } finally {
    signal?.removeEventListener("abort", onAbort);
    chunks.leave();
    const cancelled = Promise.all([reader.cancel().catch(() => {}), filling]);
    await withinMs(cancelled, { limitMs: CANCEL_WAIT_MS, clock: systemClock });
  }
}

class ChunkBuffer {
  readonly #maxBytes: number;
  readonly #changed = new ConditionVariable();
  readonly #chunks: Uint8Array<ArrayBuffer>[] = [];
  #bytes = 0;
  #end: { readonly kind: "whole" } | { readonly kind: "cut"; readonly error: unknown } | undefined;
  #hasLeft = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Reads until the body ends or the consumer leaves, and waits while the buffer is full. Never rejects. */
  async fillFrom(reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>): Promise<void> {
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done || this.#hasLeft) break;
        this.#chunks.push(value);
        this.#bytes += value.byteLength;
        this.wake();
        while (this.#bytes >= this.#maxBytes && !this.#hasLeft) await this.#changed.wait();
      }
      this.#end = { kind: "whole" };
    } catch (error) {
      this.#end = { kind: "cut", error };
    }
    this.wake();
  }

  /** The next chunk; undefined when the body has ended. Throws the error that cut the body, or the signal's reason. */
  async take(signal?: AbortSignal): Promise<Uint8Array<ArrayBuffer> | undefined> {
    for (;;) {
      signal?.throwIfAborted();
      const chunk = this.#chunks.shift();
      if (chunk !== undefined) {
        this.#bytes -= chunk.byteLength;
        this.wake();
        return chunk;
      }
      if (this.#end?.kind === "cut") throw this.#end.error;
      if (this.#end !== undefined) return undefined;
      await this.#changed.wait();
    }
  }

  wake(): void {
    this.#changed.broadcast();
  }

  leave(): void {
    this.#hasLeft = true;
    this.wake();
  }
}

class ConditionVariable {
  #next = Promise.withResolvers<void>();

  wait(): Promise<void> {
    return this.#next.promise;
  }

  broadcast(): void {
    this.#next.resolve();
    this.#next = Promise.withResolvers<void>();
  }
}
