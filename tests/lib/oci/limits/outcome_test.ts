// What registries say of their own load.
import assert from "node:assert/strict";
import fc from "fast-check";
import { parseRemaining, parseRetryAfter } from "../../../../lib/oci/limits/outcome.ts";

const NOW_MS = Date.parse("2026-11-21T12:00:00Z");

const ROWS: readonly (readonly [string | null, number | undefined])[] = [
  [null, undefined],
  ["", undefined],
  ["soon", undefined],
  ["0", 0],
  [" 12 ", 12_000],
  ["60", 60_000],
  ["61", 60_000],
  ["999999999", 60_000],
  ["Sat, 21 Nov 2026 12:00:30 GMT", 30_000],
  ["Sat, 21 Nov 2026 11:00:00 GMT", 0],
];

for (const [value, ms] of ROWS) {
  Deno.test(`parseRetryAfter() reads ${JSON.stringify(value)} as ${ms}`, () => {
    assert.equal(parseRetryAfter(value, NOW_MS), ms);
  });
}

Deno.test("parseRetryAfter() is never negative, never beyond a minute", () => {
  fc.assert(fc.property(fc.string(), (value) => {
    const ms = parseRetryAfter(value, NOW_MS);
    assert.ok(ms === undefined || (ms >= 0 && ms <= 60_000));
  }));
});

Deno.test("parseRemaining() reads the quota under each of its names", () => {
  assert.equal(parseRemaining(new Headers({ "ratelimit-remaining": "76;w=21600" })), 76);
  assert.equal(parseRemaining(new Headers({ "x-ratelimit-remaining": "3" })), 3);
  assert.equal(parseRemaining(new Headers({ "ratelimit-remaining": "many" })), undefined);
  assert.equal(parseRemaining(new Headers()), undefined);
});
