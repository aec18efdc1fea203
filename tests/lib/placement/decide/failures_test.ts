import assert from "node:assert/strict";
import { makeSettings } from "../../../support/placement_settings.ts";
import { clip, failureText, nextAttemptAfterMs } from "../../../../lib/placement/decide/failures.ts";
import type { RegistryFailure } from "../../../../lib/oci/errors.ts";

const TRANSIENT: RegistryFailure = { kind: "transient", reason: "ServerError", message: "500" };
const PERMANENT: RegistryFailure = { kind: "permanent", reason: "Unauthorized", message: "401" };

function after(
  failure: RegistryFailure,
  tries: Partial<Parameters<typeof nextAttemptAfterMs>[1]> = {},
): number | undefined {
  const settings = makeSettings({ maxGateAgeMs: 60_000 });
  const fresh = { settings, failedAttempts: 0, permanentFailures: 0, gateAgeMs: 0, jitter: 0.5 };
  return nextAttemptAfterMs({ failure }, { ...fresh, ...tries });
}

Deno.test("nextAttemptAfterMs() confirms a permanent failure once, one that follows a transient one too", () => {
  assert.equal(after(PERMANENT), 1_000);
  assert.equal(after(PERMANENT, { failedAttempts: 1, permanentFailures: 1 }), undefined);
  assert.equal(after(PERMANENT, { gateAgeMs: 59_900 }), undefined);
  assert.equal(after(PERMANENT, { failedAttempts: 3, permanentFailures: 0 }), 1_000);
  assert.equal(after(PERMANENT, { failedAttempts: 4, permanentFailures: 1 }), undefined);
});

Deno.test("nextAttemptAfterMs() doubles its wait up to a ceiling, and spreads it by the jitter", () => {
  const waits = [0, 1, 2, 3, 4, 5, 6].map((failedAttempts) => after(TRANSIENT, { failedAttempts }));
  assert.deepEqual(waits, [500, 1_000, 2_000, 4_000, 4_000, 4_000, 4_000]);
  assert.equal(after(TRANSIENT, { failedAttempts: 2, jitter: 0 }), 1_500);
  assert.equal(after(TRANSIENT, { failedAttempts: 2, jitter: 1 }), 2_500);
});

Deno.test("nextAttemptAfterMs() waits as long as the registry asks, with a last chance before the deadline if one fits", () => {
  assert.equal(after({ ...TRANSIENT, retryAfterMs: 20_000 }), 20_000);
  assert.equal(after({ ...TRANSIENT, retryAfterMs: 600_000 }, { gateAgeMs: 10_000 }), 48_500);
  assert.equal(after(TRANSIENT, { failedAttempts: 6, gateAgeMs: 55_500 }), 3_000);
  assert.equal(after(TRANSIENT, { gateAgeMs: 58_600 }), undefined);
  assert.equal(after(TRANSIENT, { gateAgeMs: 60_000 }), undefined);
  assert.equal(after(TRANSIENT, { gateAgeMs: 999_999_999 }), undefined);
});

Deno.test("nextAttemptAfterMs() ends every history of failures inside the deadline", () => {
  for (const jitter of [0, 0.5, 1]) {
    let gateAgeMs = 0;
    let failedAttempts = 0;
    let waitMs = after(TRANSIENT);
    while (waitMs !== undefined) {
      gateAgeMs += waitMs;
      failedAttempts += 1;
      waitMs = after(TRANSIENT, { failedAttempts, gateAgeMs, jitter });
    }
    assert.ok(gateAgeMs < 60_000 && gateAgeMs > 50_000, `${gateAgeMs}`);
    assert.ok(failedAttempts >= 12 && failedAttempts < 25, `${failedAttempts}`);
  }
});

Deno.test("failureText() names the image once", () => {
  assert.equal(failureText({ image: "a/b", failure: TRANSIENT }), 'Cannot inspect image "a/b": 500');
  assert.equal(failureText({ image: "a/b", failure: { ...TRANSIENT, message: "a/b: gone" } }), "a/b: gone");
});

Deno.test("clip() counts code points, not units", () => {
  assert.equal(clip("🐳🐳🐳", 3), "🐳🐳🐳");
  assert.equal(clip("🐳🐳🐳🐳", 3), "🐳🐳…");
});
