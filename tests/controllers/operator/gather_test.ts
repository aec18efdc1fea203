import assert from "node:assert/strict";
import type { OperatorFacts } from "../../../controllers/operator/deps.ts";
import { gatherFacts } from "../../../controllers/operator/gather.ts";
import { OperatorMemory } from "../../../controllers/operator/operator_memory.ts";
import { ApiError } from "../../../lib/k8s/api_error.ts";
import type { KubeApi } from "../../../lib/k8s/api.ts";
import { Resource } from "../../../lib/k8s/types.ts";
import { FakeClock } from "../../support/fake_clock.ts";
import { type MemoryCall, MemoryCluster, refusing } from "../../support/memory_kube_api.ts";
import { makeDeps } from "./make.ts";

const { signal } = new AbortController();

async function gatherFrom(api: KubeApi): Promise<OperatorFacts> {
  const deps = makeDeps(api, { clock: new FakeClock() });
  return await gatherFacts({ ...deps, memory: new OperatorMemory(), signal }, (route) => route);
}

async function gather(listStatus?: number): Promise<OperatorFacts> {
  const cluster = new MemoryCluster();
  cluster.put(Resource.clusterConfigs, { metadata: { name: "cluster" }, spec: {} });
  const isRefused = ({ verb, plural }: MemoryCall): boolean =>
    verb === "list" && plural === Resource.namespaceConfigs.plural && listStatus !== undefined;
  return await gatherFrom(cluster.client(refusing(listStatus ?? 0, isRefused)));
}

Deno.test("gatherFacts() finds no namespace configs where their kind is not defined, and all else as it is", async () => {
  const facts = await gather(404);
  assert.equal(facts.hasNamespaceConfigs, false);
  assert.deepEqual(facts, await gather());
});

Deno.test("gatherFacts() takes no namespace config for one that somebody else's finalizer holds", async () => {
  const cluster = new MemoryCluster();
  const put = (name: string, more: { readonly deletionTimestamp?: string }): void =>
    cluster.put(Resource.namespaceConfigs, { metadata: { namespace: "shop", name, ...more } });
  const has = async (): Promise<boolean> => (await gatherFrom(cluster.client())).hasNamespaceConfigs;
  put("held", { deletionTimestamp: "2026-11-21T12:00:00Z" });
  assert.equal(await has(), false);
  put("kept", {});
  assert.equal(await has(), true);
});

Deno.test("gatherFacts() fails when the namespace configs cannot be read for another reason", async () => {
  for (const status of [403, 500, 503]) {
    await assert.rejects(gather(status), (error) => error instanceof ApiError && error.status === status);
  }
});
