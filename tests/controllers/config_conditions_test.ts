import assert from "node:assert/strict";
import { writeConfigConditions } from "../../controllers/config_conditions.ts";
import { Resource } from "../../lib/k8s/types.ts";
import { silentLogger } from "../../lib/log.ts";
import { renderTaintCondition } from "../../lib/operator/decide/conditions.ts";
import { FakeClock } from "../support/fake_clock.ts";
import { type MemoryCall, MemoryCluster, refusing } from "../support/memory_kube_api.ts";
import { clusterConfig, conditionOf } from "./taints/make.ts";

const write = async (
  cluster: MemoryCluster,
  before: (call: MemoryCall) => void = () => {},
  { signal } = new AbortController(),
) => {
  const calls: string[] = [];
  const api = cluster.client((call) => {
    calls.push(call.verb);
    before(call);
  });
  const condition = { isTrue: true, reason: "Done", message: "All nodes have their taint." };
  const outcome = await writeConfigConditions(
    { api, clock: new FakeClock(), log: silentLogger, signal },
    condition.reason,
    (earlier) => renderTaintCondition(condition, earlier),
  );
  return { outcome, calls };
};

Deno.test("writeConfigConditions() writes a condition once, and only reads where it is already", async () => {
  const cluster = new MemoryCluster();
  cluster.put(Resource.clusterConfigs, clusterConfig());
  assert.deepEqual(await write(cluster), { outcome: "there", calls: ["get", "patch"] });
  assert.equal(conditionOf(cluster), "True Done");
  assert.deepEqual(await write(cluster), { outcome: "there", calls: ["get"] });
});

Deno.test("writeConfigConditions() reports that there is no config", async () => {
  assert.deepEqual(await write(new MemoryCluster()), { outcome: "absent", calls: ["get"] });
});

Deno.test("writeConfigConditions() fails without throwing when the API server refuses or the signal has aborted", async () => {
  const cluster = new MemoryCluster();
  cluster.put(Resource.clusterConfigs, clusterConfig());
  const before = refusing(409, ({ verb }) => verb === "patch");
  assert.equal((await write(cluster, before)).outcome, "failed");
  const stop = new AbortController();
  stop.abort();
  assert.equal((await write(cluster, () => stop.signal.throwIfAborted(), stop)).outcome, "failed");
  assert.equal(conditionOf(cluster), "");
});
