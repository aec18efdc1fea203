import assert from "node:assert/strict";
import { issueAuthority, issueServing } from "../../../../lib/tls/issue.ts";
import { isIssuedBy } from "../../../../lib/server/certificate/files.ts";

const validity = { nowMs: Date.now(), lifetimeMs: 86_400_000 };

Deno.test("isIssuedBy() distinguishes the authority of a certificate from others, in a bundle of several", async () => {
  const [ours, other] = [await issueAuthority(validity), await issueAuthority(validity)];
  const serving = await issueServing(ours, { ...validity, names: ["localhost"] });
  const rows: readonly (readonly [string, boolean | undefined])[] = [
    [ours.cert, true],
    [other.cert, false],
    [`${other.cert}\n${ours.cert}`, true],
    // A certificate of its own, trusted by itself.
    [serving.cert, true],
    ["CA", undefined],
    ["", undefined],
  ];
  assert.deepEqual(rows.map(([bundle]) => isIssuedBy(serving.cert, bundle)), rows.map(([, expected]) => expected));
  assert.equal(isIssuedBy("no certificate", ours.cert), undefined);
});
