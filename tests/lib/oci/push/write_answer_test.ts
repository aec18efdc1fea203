import assert from "node:assert/strict";
import fc from "fast-check";
import { judgeRefusal, type WriteRefusal } from "../../../../lib/oci/push/write_answer.ts";

function judge(status: number, ...codes: readonly string[]): WriteRefusal {
  const errors = codes.map((code) => ({ code, message: code.toLowerCase(), detail: { any: "thing" } }));
  return judgeRefusal({ status, body: new TextEncoder().encode(JSON.stringify({ errors })) });
}

const ROWS: readonly (readonly [status: number, code: string | undefined, reason: WriteRefusal["reason"]])[] = [
  [401, "UNAUTHORIZED", "Unauthorized"],
  [403, "DENIED", "PushDenied"],
  [403, undefined, "PushDenied"],
  [400, "DENIED", "PushDenied"],
  [400, "MANIFEST_INVALID", "MediaTypeRefused"],
  [404, "MANIFEST_INVALID", "MediaTypeRefused"],
  [405, "UNSUPPORTED", "MediaTypeRefused"],
  [415, undefined, "MediaTypeRefused"],
  [501, undefined, "MediaTypeRefused"],
  [400, "MANIFEST_BLOB_UNKNOWN", "PartsMissing"],
  [404, "BLOB_UNKNOWN", "PartsMissing"],
  [400, "DIGEST_INVALID", "DigestMismatch"],
  [413, undefined, "TooLarge"],
  [400, "SIZE_INVALID", "TooLarge"],
  [404, "NAME_UNKNOWN", "Refused"],
  [400, "TAG_INVALID", "Refused"],
  [412, "PRECONDITION", "Refused"],
  [409, undefined, "Refused"],
  [429, undefined, "RateLimited"],
  [429, "DENIED", "RateLimited"],
  [403, "TOOMANYREQUESTS", "RateLimited"],
  [500, "UNKNOWN", "ServerError"],
  [503, undefined, "ServerError"],
  [408, undefined, "ServerError"],
];

for (const [status, code, reason] of ROWS) {
  const mayPass = reason === "RateLimited" || reason === "ServerError";
  const title = `judgeRefusal() takes ${status} ${code ?? "without a code"} for ${reason}`;
  Deno.test(`${title}, ${mayPass ? "which may pass" : "for good"} (P-118)`, () => {
    const refusal = code === undefined ? judge(status) : judge(status, code);
    assert.deepEqual([refusal.kind, refusal.reason], [mayPass ? "transient" : "permanent", reason]);
    assert.equal(refusal.says, code === undefined ? String(status) : `${status} ${code}: ${code.toLowerCase()}`);
  });
}

Deno.test("judgeRefusal() takes what a manifest lacks for PartsMissing, whatever else the registry says of it", () => {
  assert.equal(judge(400, "DIGEST_INVALID", "MANIFEST_BLOB_UNKNOWN").reason, "PartsMissing");
});

Deno.test("judgeRefusal() repeats what a registry says on one line, in bounds, and without a query", () => {
  const errors = [{ code: "DENIED", message: "go to\n\u001b[31mhttps://a/b?sig=s3cret x" }, { code: "<script>" }, 7];
  const { says } = judgeRefusal({ status: 403, body: new TextEncoder().encode(JSON.stringify({ errors })) });
  assert.equal(says, "403 DENIED: go to [31mhttps://a/b?… x");
});

Deno.test("judgeRefusal() never throws, and never says more than a few lines", () => {
  fc.assert(fc.property(fc.integer({ min: 100, max: 599 }), fc.json(), fc.uint8Array(), (status, json, bytes) => {
    for (const body of [new TextEncoder().encode(json), bytes]) {
      const { says } = judgeRefusal({ status, body });
      assert.ok(says.startsWith(String(status)) && says.length < 3_000 && !says.includes("\n"), says);
    }
  }));
});
