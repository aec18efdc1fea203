import assert from "node:assert/strict";
import { decideSchedule } from "../../../../../lib/upgrades/decide/phases/plan_state.ts";

const NOW_MS = Date.parse("2026-03-01T20:00:00Z");
const MINUTE = 60_000;

const ROWS: readonly (readonly [string, string, number, string])[] = [
  ["M-050 ten minutes after its time, in a window of 60", "2026-03-01T19:50:00Z", 60, "ready"],
  ["M-051 eighty minutes before its time", "2026-03-01T22:20:00+01:00", 60, "in 80"],
  ["M-052 ten minutes after its time, in a window of 5", "2026-03-01T19:50:00Z", 5, "ready breached"],
  ["M-053 a time that is not RFC 3339", "2025-02-25 15:00", 60, "not ready"],
  ["a window of 0 never ends", "2020-01-01T00:00:00Z", 0, "ready"],
  ["the very moment is not ready yet", "2026-03-01T20:00:00Z", 60, "not ready"],
  ["the end of the window is breached", "2026-03-01T19:00:00Z", 60, "ready breached"],
];

for (const [name, upgradeAt, minutes, expected] of ROWS) {
  Deno.test(`${name}: ${expected}`, () => {
    const { isReady, isBreached, untilMs } = decideSchedule(upgradeAt, { nowMs: NOW_MS, windowMs: minutes * MINUTE });
    const words = isReady
      ? `ready${isBreached ? " breached" : ""}`
      : untilMs > 0
      ? `in ${untilMs / MINUTE}`
      : "not ready";
    assert.equal(words, expected);
    assert.equal(isBreached && !isReady, false);
  });
}
