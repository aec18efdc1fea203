// Reads a body as fast as the network gives it, ahead of who consumes it. The API server drops a watcher whose socket
// stays full for 50–100 ms in a burst, so reading must not wait for JSON parsing.
import { withinMs } from "../abort.ts";
import { systemClock } from "../clock.ts";

/** What is read but not consumed yet may take this much memory; then reading waits, and the server may drop us. */
const READ_AHEAD_MAX_BYTES = 32 * 1024 * 1024;

/** A body that was left is given so long to let go (ms); Deno's fetch does not always settle a read that was aborted. */
const LETTING_GO_MS = 250;

/**
 * The chunks of a body in order. Chunks that arrived before a cut are given before its error is thrown. Leaving the
 * loop cancels the body; an abort of the signal ends it with the signal's reason, whatever the body does.
 */
export async function* readAhead(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  options: { readonly maxBytes?: number; readonly signal?: AbortSignal } = {},
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  const { maxBytes = READ_AHEAD_MAX_BYTES, signal } = options;
  const reader = body.getReader();
  const notifier = new Notifier();
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  const state = { bytes: 0, closed: false, left: false };
  let fault: { readonly error: unknown } | undefined;
  const pump = async (): Promise<void> => {
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done || state.left) return;
        chunks.push(value);
        state.bytes += value.byteLength;
        notifier.notify();
        while (state.bytes >= maxBytes && !state.left) await notifier.wait();
      }
    } catch (error) {
      fault = { error };
    } finally {
      state.closed = true;
      notifier.notify();
    }
  };
  const pumping = pump();
  const onAbort = (): void => notifier.notify();
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    for (;;) {
      signal?.throwIfAborted();
      const chunk = chunks.shift();
      if (chunk !== undefined) {
        state.bytes -= chunk.byteLength;
        notifier.notify();
        yield chunk;
      } else if (state.closed) break;
      else await notifier.wait();
    }
    if (fault !== undefined) throw fault.error;
  } finally {
    signal?.removeEventListener("abort", onAbort);
    state.left = true;
    notifier.notify();
    const letGo = Promise.all([reader.cancel().catch(() => {}), pumping]);
    await withinMs(letGo, { limitMs: LETTING_GO_MS, clock: systemClock });
  }
}

/** Wakes everybody who waits, once. */
class Notifier {
  #next = Promise.withResolvers<void>();

  wait(): Promise<void> {
    return this.#next.promise;
  }

  notify(): void {
    this.#next.resolve();
    this.#next = Promise.withResolvers<void>();
  }
}
