import assert from "node:assert/strict";
import { ApiError, classifyWriteFailure } from "../../../lib/k8s/api_error.ts";
import { Resource } from "../../../lib/k8s/types.ts";
import { fenceWrites } from "../../../lib/k8s/election.ts";
import { type MemoryCall, MemoryCluster } from "../../support/memory_kube_api.ts";

const signal = new AbortController().signal;
const TARGET = { namespace: "archway", name: "one" };
const BODY = { kind: "merge", document: { data: { a: "2" } } } as const;

Deno.test("fenceWrites() lets reads and writes pass while it may, and only reads after that", async () => {
  const verbs: MemoryCall["verb"][] = [];
  const cluster = new MemoryCluster();
  let mayWrite = true;
  const api = fenceWrites(cluster.client(({ verb }) => void verbs.push(verb)), () => mayWrite);
  const object = { metadata: TARGET, data: { a: "1" } };
  await api.create(Resource.leases, object, { ...TARGET, signal });
  await api.patch(Resource.leases, TARGET, { body: BODY, signal });
  assert.deepEqual(verbs.splice(0), ["create", "patch"]);

  mayWrite = false;
  const writes = [
    () => api.create(Resource.leases, object, { ...TARGET, signal }),
    () => api.replace(Resource.leases, object, { ...TARGET, signal }),
    () => api.patch(Resource.leases, TARGET, { body: BODY, signal }),
    () => api.delete(Resource.leases, TARGET, { signal }),
  ];
  for (const write of writes) {
    await assert.rejects(write(), (error) => error instanceof ApiError && classifyWriteFailure(error) === "transient");
  }
  assert.deepEqual((await api.get(Resource.leases, TARGET, signal))["data"], { a: "2" });
  assert.equal((await api.list(Resource.leases, { namespace: TARGET.namespace }, signal)).items.length, 1);
  assert.deepEqual(verbs, ["get", "list"]);
});
