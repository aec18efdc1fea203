import assert from "node:assert/strict";
import { elapsedMs, MINUTE_MS, parseTime, renderTime } from "../../../lib/vocabulary/time.ts";

Deno.test("parseTime() reads RFC 3339 and nothing else", () => {
  const none = [
    "",
    "2026-02-30T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-01-01T25:00:00Z",
    "2026-01-01T24:00:00Z",
    "2026-01-01",
    "1767225600",
  ];
  for (const text of [...none, undefined, null, 1_767_225_600]) assert.equal(parseTime(text), undefined, String(text));
  assert.equal(renderTime(parseTime("2026-01-01T01:02:03.5+01:00") ?? 0), "2026-01-01T00:02:03Z");
});

Deno.test("N-030 elapsedMs() of a clock that was set back is 0", () => {
  const nowMs = Date.parse("2026-03-01T20:00:00Z");
  assert.equal(elapsedMs(nowMs, nowMs - MINUTE_MS), 0);
  assert.equal(elapsedMs(nowMs - MINUTE_MS, nowMs), MINUTE_MS);
});
