// What came of publishing, in the words of decisions and of metrics.
import assert from "node:assert/strict";
import { outcomeOf, resultOf } from "../../../lib/building/outcome.ts";
import type { PublicationResult } from "../../../lib/building/publish_images.ts";

function failed(
  lasts: "permanent" | "transient",
  reason: string,
  message = "the registry answered.",
): PublicationResult {
  return { kind: "failed", lasts, reason, message };
}

const ROWS: readonly (readonly [result: PublicationResult, outcome: string, metric: string])[] = [
  [failed("transient", "RateLimited"), "transient", "retry"],
  [failed("transient", "ServerError"), "transient", "retry"],
  [failed("permanent", "Unauthorized"), "denied", "failed"],
  [failed("permanent", "PushDenied"), "denied", "failed"],
  [failed("permanent", "MediaTypeRefused"), "index refused", "failed"],
  [failed("permanent", "DigestMismatch"), "other digest", "failed"],
  [failed("permanent", "PartsMissing"), "transient", "retry"],
  [failed("permanent", "Refused", "the registry answered 409: the tag is immutable."), "tag immutable", "retry"],
  [
    failed("permanent", "Refused", "the registry answered 400 TAG_INVALID: cannot be overwritten."),
    "tag immutable",
    "retry",
  ],
  [failed("permanent", "Refused", "the registry answered 400."), "transient", "retry"],
  [{ kind: "missing", arch: "arm64", message: "" }, "child absent", "retry"],
  [{ kind: "mismatch", arch: "arm64", message: "" }, "child mismatch", "failed"],
  [{ kind: "published", reference: "r@d", digest: "d", children: ["c"], isNew: true }, "published", "published"],
  [{ kind: "published", reference: "r@d", digest: "d", children: ["c"], isNew: false }, "published", "unchanged"],
];

Deno.test("outcomeOf() and resultOf() report what each end of publishing means", () => {
  for (const [result, kind, metric] of ROWS) {
    const outcome = outcomeOf(result);
    assert.deepEqual([outcome.kind, resultOf(outcome)], [kind, metric], JSON.stringify(result));
  }
});

Deno.test("outcomeOf() passes on the pause that a registry requests", () => {
  const outcome = outcomeOf({ kind: "failed", lasts: "transient", reason: "", message: "busy", retryAfterMs: 7_000 });
  assert.deepEqual(outcome, { kind: "transient", message: "busy", retryAfterMs: 7_000 });
});
