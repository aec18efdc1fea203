// How late the event loop runs its timers: the time that a webhook call waits before it is handled.
import type { Clock } from "../clock.ts";

/** Between two measurements (ms): often enough that a pause of 50 ms is seldom missed, at a negligible cost. */
const SAMPLE_EVERY_MS = 50;

/**
 * Reports how much later (ms) than scheduled each timer fired, until the signal aborts. Never rejects. A sampler of our
 * own, because `monitorEventLoopDelay` of `node:perf_hooks` measures no blocking in Deno 2.9.6.
 */
export async function watchEventLoop(
  { clock, observe }: { readonly clock: Clock; readonly observe: (delayMs: number) => void },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const askedMs = clock.monotonicMs();
    await clock.sleep(SAMPLE_EVERY_MS, signal);
    if (!signal.aborted) observe(Math.max(0, clock.monotonicMs() - askedMs - SAMPLE_EVERY_MS));
  }
}
