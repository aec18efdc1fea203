import assert from "node:assert/strict";
import { openAuditedNamespaces } from "../../../../lib/placement/cluster/audited_namespaces.ts";
import { Resource } from "../../../../lib/k8s/types.ts";
import { silentLogger } from "../../../../lib/log.ts";
import { FakeClock } from "../../../support/fake_clock.ts";
import { MemoryCluster } from "../../../support/memory_kube_api.ts";
import { whileRunning } from "../../../controllers/make.ts";

Deno.test("isSettled() is false until the labelled namespaces are listed, then has() answers for each", async () => {
  const cluster = new MemoryCluster();
  cluster.put(Resource.namespaces, { metadata: { name: "shop", labels: { "archway.dev/mode": "audit" } } });
  cluster.put(Resource.namespaces, { metadata: { name: "other", labels: {} } });
  const clock = new FakeClock();
  const audited = openAuditedNamespaces({ api: cluster.api, clock, log: silentLogger });
  assert.deepEqual([audited.isSettled(), audited.has("shop")], [false, false]);
  await whileRunning({ clock }, audited, () => {
    assert.deepEqual([audited.isSettled(), audited.has("shop"), audited.has("other")], [true, true, false]);
  });
});

Deno.test("isSettled() is true when namespaces cannot be listed: readiness must not hang on a missing right", async () => {
  const cluster = new MemoryCluster();
  cluster.withhold(Resource.namespaces.plural);
  const clock = new FakeClock();
  const audited = openAuditedNamespaces({ api: cluster.api, clock, log: silentLogger });
  await whileRunning({ clock }, audited, () => {
    assert.deepEqual([audited.isSettled(), audited.has("shop")], [true, false]);
  });
});
