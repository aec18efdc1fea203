import assert from "node:assert/strict";
import { ApiError } from "../../../../lib/k8s/api_error.ts";
import { Resource } from "../../../../lib/k8s/types.ts";
import { silentLogger } from "../../../../lib/log.ts";
import { DEFAULT_TERMS } from "../../../../lib/server/certificate/authority.ts";
import { AUTHORITY_SECRET, AuthorityStore } from "../../../../lib/server/certificate/authority_store.ts";
import { openSelfManagedCertificate } from "../../../../lib/server/certificate/self_managed.ts";
import { findPairProblem } from "../../../../lib/server/certificate/serving_certificate.ts";
import { FakeClock } from "../../../support/fake_clock.ts";
import { openCommandBed } from "../../cli/support.ts";
import { until } from "../../../support/until.ts";

const DAY_MS = 86_400_000;
const TERMS = { ...DEFAULT_TERMS, names: ["localhost"] };

const open = async () => {
  const bed = await openCommandBed();
  const stop = new AbortController();
  const store = new AuthorityStore(bed.api, "default");
  return { ...bed, stop, parts: { store, terms: TERMS, clock: new FakeClock(), log: silentLogger } };
};

Deno.test("openSelfManagedCertificate() gives racing replicas one authority", async () => {
  await using bench = await open();
  const opened = await Promise.all([1, 2, 3].map(() => openSelfManagedCertificate(bench.parts, bench.stop.signal)));
  const [first, ...others] = opened.map((replica) => replica.current());
  assert.ok(first !== undefined && first.caBundle !== undefined);
  assert.equal(findPairProblem(first.cert, first.key), undefined);
  for (const other of others) assert.deepEqual(other, first);
});

Deno.test("openSelfManagedCertificate() makes a new authority when someone emptied the Secret", async () => {
  await using bench = await open();
  const before = await openSelfManagedCertificate(bench.parts, bench.stop.signal);
  const target = { namespace: "default", name: AUTHORITY_SECRET };
  const body = { kind: "merge", document: { data: null } } as const;
  await bench.api.patch(Resource.secrets, target, { body, signal: bench.signal });
  const after = await openSelfManagedCertificate(bench.parts, bench.stop.signal);
  assert.notEqual(after.current().caBundle, before.current().caBundle);
});

Deno.test("openSelfManagedCertificate() rejects when the API server refuses the Secret", async () => {
  await using bench = await open();
  const refused = new ApiError("secrets is forbidden", { status: 403 });
  const store = { read: () => Promise.reject(refused), swap: () => Promise.reject(refused) };
  await assert.rejects(openSelfManagedCertificate({ ...bench.parts, store }, bench.stop.signal), refused);
});

Deno.test("run() renews the certificate in time and every replica follows", async () => {
  await using bench = await open();
  const { parts: { clock }, stop } = bench;
  const leader = await openSelfManagedCertificate(bench.parts, stop.signal);
  const follower = await openSelfManagedCertificate(bench.parts, stop.signal);
  const first = leader.current();
  let heard = 0;
  leader.onChange(() => heard++);
  const running = [leader, follower].map((replica) => replica.run(stop.signal));
  clock.jumpWall(21 * DAY_MS);
  await until("both follow", async () => {
    await clock.advance(30_000);
    return leader.current().cert !== first.cert && leader.current().cert === follower.current().cert;
  });
  assert.equal(leader.current().caBundle, first.caBundle, "the CA is the same: nobody need be told");
  assert.equal(heard, 1);
  stop.abort();
  await Promise.all(running);
});
