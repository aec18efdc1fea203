import assert from "node:assert/strict";
import { ApiError } from "../../../lib/k8s/api_error.ts";
import { type LeaseProof, provenForMs, readLeaseProof } from "../../../lib/k8s/leader_watch.ts";
import { Resource } from "../../../lib/k8s/types.ts";
import { FakeClock } from "../../support/fake_clock.ts";
import { MemoryCluster } from "../../support/memory_kube_api.ts";

const LEASE = { namespace: "archway", name: "leader" } as const;

/** What each second's read of the Lease finds: a renewal, or the status of a failure. */
async function proveFor(answers: readonly (string | number)[]): Promise<number> {
  const [cluster, clock] = [new MemoryCluster(), new FakeClock()];
  let answer: string | number = "";
  const api = cluster.client(() => {
    if (typeof answer === "number") throw new ApiError("no", { status: answer });
  });
  let proof: LeaseProof | undefined;
  for (answer of answers) {
    if (typeof answer === "string") {
      cluster.put(Resource.leases, { metadata: LEASE, spec: { holderIdentity: "other", renewTime: answer } });
    }
    proof = await readLeaseProof({ api, clock, lease: LEASE }, proof, new AbortController().signal);
    await clock.advance(1_000);
  }
  return provenForMs(proof);
}

const ROWS: readonly (readonly [name: string, answers: readonly (string | number)[], ms: number])[] = [
  ["the same renewal is a proof from its first read on", ["a", "a", "a"], 2_000],
  ["a renewal begins anew", ["a", "a", "b", "b"], 1_000],
  ["no Lease at all is a proof", ["a", 404, 404, 404], 2_000],
  ["a Lease that may not be read is a proof: the API server has answered", [403, 403, 403, 403], 3_000],
  ["from 'may not be read' to a renewal it begins anew", [403, 403, "a", "a"], 1_000],
];

for (const [name, answers, ms] of ROWS) {
  Deno.test(`readLeaseProof(): ${name}`, async () => assert.equal(await proveFor(answers), ms));
}

Deno.test("readLeaseProof() throws when there is no answer, or one that reports nothing about the Lease", async () => {
  for (const status of [0, 401, 429, 500, 503]) await assert.rejects(proveFor(["a", status]), ApiError);
  assert.equal(provenForMs(undefined), 0);
});
