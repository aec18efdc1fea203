import assert from "node:assert/strict";
import { absenceOf } from "../../../../lib/oci/limits/absence.ts";
import { outcomeOfResponse, parseRemaining, parseRetryAfter } from "../../../../lib/oci/limits/outcome.ts";

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

Deno.test("parseRemaining() reads the quota under each of its names", () => {
  assert.equal(parseRemaining(new Headers({ "ratelimit-remaining": "76;w=21600" })), 76);
  assert.equal(parseRemaining(new Headers({ "x-ratelimit-remaining": "3" })), 3);
  assert.equal(parseRemaining(new Headers({ "ratelimit-remaining": "many" })), undefined);
  assert.equal(parseRemaining(new Headers()), undefined);
});

const ANSWERS: readonly (readonly [status: number, message: string, method: string, kind: string])[] = [
  [500, "Tag v1 was deleted or has expired. To pull, revive it", "GET", "answered"],
  [500, "the database does not answer", "GET", "groupFailed"],
  [502, "Tag v1 was deleted or has expired. To pull, revive it", "GET", "groupFailed"],
  [500, "", "HEAD", "nothing"],
  [502, "", "HEAD", "groupFailed"],
  [404, "", "HEAD", "answered"],
];

for (const [status, message, method, kind] of ANSWERS) {
  Deno.test(`outcomeOfResponse() takes ${status} "${message}" to a ${method} for "${kind}"`, () => {
    const body = new TextEncoder().encode(JSON.stringify({ errors: message === "" ? [] : [{ message }] }));
    const absence = absenceOf({ status, method, body });
    assert.equal(outcomeOfResponse({ status, headers: new Headers(), absence, pauseMs: undefined }).kind, kind);
  });
}
