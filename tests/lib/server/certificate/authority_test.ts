import assert from "node:assert/strict";
import { createPrivateKey, X509Certificate } from "node:crypto";
import {
  type Authority,
  type AuthorityTerms,
  bundleOf,
  changeAuthority,
  decideAuthorityChange,
} from "../../../../lib/server/certificate/authority.ts";

const DAY_MS = 86_400_000;
const START_MS = Date.parse("2026-11-21T12:00:00Z");
const TERMS: AuthorityTerms = {
  authorityMs: 300 * DAY_MS,
  servingMs: 30 * DAY_MS,
  overlapMs: 60_000,
  names: ["archway-webhook.ns.svc", "localhost", "127.0.0.1", "::1"],
};

function make(
  authority: Authority | undefined,
  change: Parameters<typeof changeAuthority>[1]["change"],
  nowMs = START_MS,
): Promise<Authority> {
  return changeAuthority(authority, { change, terms: TERMS, nowMs });
}

function trusted(authority: Authority): readonly X509Certificate[] {
  return bundleOf(authority).split(/(?<=-----END CERTIFICATE-----\n)/).map((pem) => new X509Certificate(pem));
}

function isTrusted(serving: string, bundle: readonly X509Certificate[]): boolean {
  const leaf = new X509Certificate(serving);
  return bundle.some((authority) => leaf.checkIssued(authority) && leaf.verify(authority.publicKey));
}

Deno.test("changeAuthority() issues ECDSA P-256 for every name, valid an hour ago", async () => {
  const { signer, serving } = await make(undefined, "create");
  const leaf = new X509Certificate(serving.cert);
  assert.equal(leaf.publicKey.asymmetricKeyDetails?.namedCurve, "prime256v1");
  assert.ok(leaf.checkPrivateKey(createPrivateKey(serving.key)));
  assert.equal(leaf.checkHost("archway-webhook.ns.svc"), "archway-webhook.ns.svc");
  assert.equal(leaf.checkIP("127.0.0.1"), "127.0.0.1");
  assert.equal(leaf.ca, false);
  assert.equal(new X509Certificate(signer.cert).ca, true);
  for (const { cert } of [signer, serving]) {
    assert.equal(Date.parse(new X509Certificate(cert).validFrom), START_MS - 3_600_000);
  }
});

Deno.test("decideAuthorityChange() renews each part at two thirds of its life", async () => {
  const authority = await make(undefined, "create");
  const changes = [0, 19.9, 20.1, 199, 201, 301].map((days) =>
    decideAuthorityChange(authority, TERMS, START_MS + days * DAY_MS)
  );
  assert.deepEqual(changes, ["none", "none", "renew", "renew", "stage", "create"]);
});

Deno.test("decideAuthorityChange() starts anew when the authority is missing or does not fit together", async () => {
  const [one, other] = [await make(undefined, "create"), await make(undefined, "create")];
  const broken: readonly (Authority | undefined)[] = [
    undefined,
    { ...one, serving: other.serving },
    { ...one, signer: { ...one.signer, key: other.signer.key } },
    { ...one, serving: { cert: "no", key: "no" } },
    { ...one, successor: { pair: { ...one.signer, key: "no" }, signsAtMs: 0 } },
  ];
  for (const authority of broken) assert.equal(decideAuthorityChange(authority, TERMS, START_MS), "create");
});

Deno.test("decideAuthorityChange() serves anew when a name is requested that the certificate lacks", async () => {
  const authority = await make(undefined, "create");
  for (const names of [["other.ns.svc"], ["10.0.0.1"]]) {
    assert.equal(decideAuthorityChange(authority, { ...TERMS, names }, START_MS), "renew");
  }
});

Deno.test("changeAuthority() keeps the names of the other replica when one asks for its own", async () => {
  const authority = await make(undefined, "create");
  const terms = { ...TERMS, names: ["10.0.0.1"] };
  const both = await changeAuthority(authority, { change: "renew", terms, nowMs: START_MS });
  assert.equal(decideAuthorityChange(both, terms, START_MS), "none");
  assert.equal(decideAuthorityChange(both, TERMS, START_MS), "none");
});

Deno.test("a successor is trusted before it signs, and its predecessor after", async () => {
  const before = await make(undefined, "create");
  const staged = await make(before, "stage");
  assert.equal(trusted(staged).length, 2);
  assert.equal(staged.serving.cert, before.serving.cert, "nothing changes for clients that know only the old bundle");
  assert.equal(decideAuthorityChange(staged, TERMS, START_MS + TERMS.overlapMs - 1), "none");
  assert.equal(decideAuthorityChange(staged, TERMS, START_MS + TERMS.overlapMs), "promote");
  const after = await make(staged, "promote", START_MS + TERMS.overlapMs);
  assert.ok(isTrusted(after.serving.cert, trusted(staged)), "clients that know the staged bundle trust the new one");
  assert.ok(isTrusted(before.serving.cert, trusted(after)), "replicas that still serve the old one stay trusted");
  assert.equal(decideAuthorityChange(after, TERMS, START_MS + TERMS.overlapMs), "none");
});
