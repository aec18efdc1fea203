import assert from "node:assert/strict";
import type { Clock } from "../../../lib/clock.ts";
import { watchEventLoop } from "../../../lib/server/metrics.ts";

/** A clock whose sleeps end late by the given times, then the watch is stopped. */
async function watchLate(...lateMs: readonly number[]): Promise<readonly number[]> {
  const stop = new AbortController();
  const left = [...lateMs];
  const seen: number[] = [];
  let nowMs = 1_000;
  const clock: Clock = {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    sleep: (ms) => {
      const late = left.shift();
      if (late === undefined) stop.abort();
      nowMs += ms + (late ?? 0);
      return Promise.resolve();
    },
  };
  await watchEventLoop({ clock, observe: (delayMs) => seen.push(delayMs) }, stop.signal);
  return seen;
}

Deno.test("watchEventLoop() reports how late each timer was", async () => {
  assert.deepEqual(await watchLate(0, 80, 3), [0, 80, 3]);
});

Deno.test("watchEventLoop() takes a timer that fires early as on time, and the one that stop cut short not at all", async () => {
  assert.deepEqual(await watchLate(-5), [0]);
});
