// When a plan may begin.
import { parseTime } from "../../cluster/time.ts";

export interface Schedule {
  readonly isReady: boolean;
  /** The time in which it had to begin is over. */
  readonly isBreached: boolean;
  /** 0 when it is ready, or when the time cannot be read (ms). */
  readonly untilMs: number;
}

/** `windowMs` 0 means that the time never ends. */
export interface Window {
  readonly nowMs: number;
  readonly windowMs: number;
}

export function decideSchedule(upgradeAt: string, { nowMs, windowMs }: Window): Schedule {
  const startMs = parseTime(upgradeAt);
  if (startMs === undefined) return { isReady: false, isBreached: false, untilMs: 0 };
  if (nowMs <= startMs) return { isReady: false, isBreached: false, untilMs: startMs - nowMs };
  return { isReady: true, isBreached: windowMs > 0 && nowMs >= startMs + windowMs, untilMs: 0 };
}
