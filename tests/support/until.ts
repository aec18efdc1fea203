// Waiting in tests without sleeping: one turn of the event loop at a time, bounded.
import assert from "node:assert/strict";
import { setImmediate } from "node:timers";
import { orAborted } from "../../lib/clock.ts";

/** How long a condition may take before its test fails. */
const BOUND_MS = 10_000;

/** Lets input, output and promise chains that are ready go on. */
export function turn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

/** Never comes; rejects with the reason of the signal when that aborts. */
export function noAnswer(signal: AbortSignal): Promise<never> {
  return orAborted(new Promise<never>(() => {}), signal);
}

/** Runs with a count of the rounds that the event loop has made. */
export async function countingRounds(work: (rounds: () => number) => Promise<void>): Promise<void> {
  let rounds = 0;
  let isOver = false;
  const turning = (async () => {
    for (; !isOver; rounds++) await turn();
  })();
  try {
    await work(() => rounds);
  } finally {
    isOver = true;
    await turning;
  }
}

/** Resolves when the condition holds; `each` runs before every further look. Fails after ten seconds. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  each: () => Promise<void> = turn,
): Promise<void> {
  const deadlineMs = performance.now() + BOUND_MS;
  while (!await holds()) {
    assert.ok(performance.now() < deadlineMs, `still not: ${what}`);
    await each();
  }
}
