// A clock that runs faster than the machine's, so that what takes hours can be watched in a minute.
import type { Clock } from "../../lib/clock.ts";

/** So many seconds pass on it in one of `clock`. It begins at the time of that. */
export function openFastClock(clock: Clock, speed: number): Clock {
  const [startMs, startMonotonicMs] = [clock.nowMs(), clock.monotonicMs()];
  const passedMs = (): number => (clock.monotonicMs() - startMonotonicMs) * speed;
  return {
    nowMs: () => startMs + passedMs(),
    monotonicMs: passedMs,
    sleep: (ms, signal) => clock.sleep(ms / speed, signal),
  };
}
