// Waiting and backing off, on a clock that the test owns.
import assert from "node:assert/strict";
import { backoffMs, holdsWithin, systemClock } from "../../lib/clock.ts";
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

Deno.test("systemClock sleeps for longer than a timer can hold, and at once no more when the signal aborts", async () => {
  for (const ms of [2 ** 31 - 1, 2 ** 31, 100 * 365 * 86_400_000, Infinity]) {
    const stop = new AbortController();
    const order: string[] = [];
    const sleeping = systemClock.sleep(ms, stop.signal).then(() => void order.push("woke"));
    await systemClock.sleep(50, new AbortController().signal);
    order.push("aborted");
    stop.abort();
    await sleeping;
    assert.deepEqual(order, ["aborted", "woke"], `${ms} ms`);
  }
});

Deno.test("backoffMs() doubles from the base up to the cap, and never waits less than half", () => {
  for (let attempt = 1; attempt <= 12; attempt += 1) {
    const wholeMs = Math.min(4_000, 100 * 2 ** (attempt - 1));
    const waitMs = backoffMs(attempt, { baseMs: 100, capMs: 4_000 });
    assert.ok(waitMs >= wholeMs / 2 && waitMs <= wholeMs, `attempt ${attempt} waits ${waitMs} ms`);
  }
});
