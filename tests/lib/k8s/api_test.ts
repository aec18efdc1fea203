import assert from "node:assert/strict";
import { ApiError } from "../../../lib/k8s/api_error.ts";
import { readOptional } from "../../../lib/k8s/api.ts";
import { Resource } from "../../../lib/k8s/types.ts";
import { MemoryCluster } from "../../support/memory_kube_api.ts";

Deno.test("21 23 29 readOptional() finds what the API server has, by the name and namespace asked for", async () => {
  const cluster = new MemoryCluster();
  const { signal } = new AbortController();
  const asked: string[] = [];
  const api = cluster.client(({ verb, plural, name }) => void asked.push(`${verb} ${plural} ${name}`));
  await api.create(Resource.clusterConfigs, { metadata: { name: "cluster" } }, { signal });
  await api.create(Resource.deployments, { metadata: { name: "archway" } }, { namespace: "ns", signal });
  const config = await readOptional(api, { type: Resource.clusterConfigs, name: "cluster", signal });
  assert.equal(config?.metadata.name, "cluster");
  assert.ok(await readOptional(api, { type: Resource.deployments, namespace: "ns", name: "archway", signal }));
  const elsewhere = { type: Resource.deployments, namespace: "other", name: "archway", signal };
  assert.equal(await readOptional(api, elsewhere), undefined);
  const twice = Array(2).fill("get deployments archway");
  assert.deepEqual(asked.slice(2), ["get clusterpodplacementconfigs cluster", ...twice]);
});

Deno.test("24 25 readOptional() distinguishes an object that is not there from an API server that does not answer", async () => {
  const { signal } = new AbortController();
  const wanted = { type: Resource.clusterConfigs, name: "cluster", signal };
  assert.equal(await readOptional(new MemoryCluster().client(), wanted), undefined);
  const away = new MemoryCluster().client(() => {
    throw new ApiError("away", { status: 503, reason: "ServiceUnavailable" });
  });
  await assert.rejects(readOptional(away, wanted), (error) => error instanceof ApiError && error.status === 503);
});
