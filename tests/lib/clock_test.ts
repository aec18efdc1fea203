import assert from "node:assert/strict";
import { holdsWithin, systemClock } from "../../lib/clock.ts";
import { FakeClock } from "../support/fake_clock.ts";

Deno.test("holdsWithin() ends with true as soon as the condition is seen to hold", async () => {
  const clock = new FakeClock();
  let holds = false;
  const waiting = holdsWithin(() => holds, { clock, limitMs: 1_000, signal: new AbortController().signal });
  await clock.advance(500);
  holds = true;
  await clock.advance(100);
  assert.equal(await waiting, true);
});

Deno.test("holdsWithin() ends with false at the limit, and at once when the signal aborts", async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const never = (): boolean => false;
  const limited = holdsWithin(never, { clock, limitMs: 1_000, signal: stop.signal });
  await clock.advance(1_100);
  assert.equal(await limited, false);
  const stopped = holdsWithin(never, { clock, limitMs: 1_000, signal: stop.signal });
  stop.abort();
  assert.equal(await stopped, false);
});

/** Timers that end at once, and the times that they were started with (ms). */
function openInstantTimers(): Disposable & { readonly startedMs: readonly number[] } {
  const { setTimeout: real } = globalThis;
  const startedMs: number[] = [];
  globalThis.setTimeout = Object.assign((callback: () => void, ms = 0): ReturnType<typeof real> => {
    startedMs.push(ms);
    return real(callback, 0);
  }, real);
  return { startedMs, [Symbol.dispose]: () => void (globalThis.setTimeout = real) };
}

Deno.test("the machine's clock sleeps for longer than a timer can hold, in parts", async () => {
  const longestMs = 2 ** 31 - 1;
  const { sleep } = systemClock;
  using timers = openInstantTimers();
  for (const ms of [50, longestMs, longestMs + 1]) await sleep(ms, new AbortController().signal);
  assert.deepEqual(timers.startedMs, [50, longestMs, longestMs, 1]);
});

Deno.test("a long sleep on the machine's clock ends when the signal aborts, and leaves no timer", async () => {
  const stop = new AbortController();
  const { sleep } = systemClock;
  const sleeping = [2 ** 40, Infinity].map((ms) => sleep(ms, stop.signal));
  stop.abort();
  assert.deepEqual(await Promise.all(sleeping), [undefined, undefined]);
});
