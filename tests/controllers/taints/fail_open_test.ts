import assert from "node:assert/strict";
import { type FailOpenDeps, openTaintFailOpen } from "../../../controllers/taints/fail_open.ts";
import { ApiError } from "../../../lib/k8s/errors.ts";
import type { LeaseView } from "../../../lib/k8s/lease.ts";
import { type KubeObject, Resource } from "../../../lib/k8s/types.ts";
import { silentLogger } from "../../../lib/log.ts";
import { openPace } from "../../../lib/k8s/write_pace.ts";
import { ours, rawNode, RULE } from "../../lib/taints/decide/make.ts";
import { furnish, openScene, runFor, type Scene, whileRunning } from "../make.ts";
import type { MemoryCall } from "../../support/memory_kube_api.ts";
import { clusterConfig, conditionOf, taintLine } from "./make.ts";

const LEASE = { namespace: "archway-system", name: "lease" };
const AFTER_MS = 60_000;
const FOREIGN = { key: "dedicated", value: "gpu", effect: "NoSchedule" };

interface Bed extends Scene {
  readonly watcher: { run(signal: AbortSignal): Promise<void> };
  readonly patched: MemoryCall[];
  view: Pick<LeaseView, "isLeader" | "lastRenewObservedMs">;
  isDown: boolean;
  mayNotRead: boolean;
}

function openBed(): Bed {
  const scene = openScene();
  const { cluster, clock, events } = scene;
  const patched: MemoryCall[] = [];
  const api = cluster.client((call) => {
    if (bed.isDown) throw new ApiError("no answer", { status: 0 });
    if (bed.mayNotRead && call.plural === "leases") throw new ApiError("may not", { status: 403 });
    if (call.verb === "patch") patched.push(call);
  });
  const deps: FailOpenDeps = {
    api,
    lifter: { api, key: RULE.key, pace: openPace(clock) },
    events,
    metrics: { archway_arch_taint_writes_total: { inc: () => {} } },
    clock,
    log: silentLogger,
    lease: LEASE,
    view: () => ({
      ...{ holder: "other", impairment: undefined, heldUntilMs: undefined, refusal: undefined },
      ...bed.view,
    }),
    afterMs: AFTER_MS,
  };
  const watcher = openTaintFailOpen(deps);
  const bed: Bed = {
    ...scene,
    watcher,
    patched,
    view: { isLeader: false, lastRenewObservedMs: undefined },
    isDown: false,
    mayNotRead: false,
  };
  furnish(cluster, [
    clusterConfig(),
    rawNode({ name: "a", taints: [FOREIGN, ours("amd64")] }),
    rawNode({ name: "b", taints: [ours("arm64", "NoExecute"), FOREIGN, ours("amd64")] }),
    rawNode({ name: "c", taints: [FOREIGN] }),
  ]);
  return bed;
}

function lease(renewTime: string): KubeObject {
  const spec = { holderIdentity: "other", leaseDurationSeconds: 15, renewTime, leaseTransitions: 1 };
  return { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: LEASE, spec };
}

Deno.test("openTaintFailOpen() lifts our taint and nothing else when no replica has led for long enough, and reports it", async () => {
  const bed = openBed();
  bed.cluster.put(Resource.leases, lease("2026-11-21T12:00:00.000000Z"));
  await whileRunning(bed, bed.watcher, async () => {
    await bed.clock.advance(AFTER_MS + 15_000);
    assert.equal(taintLine(bed.cluster), "a:gpu+amd64 b:arm64+gpu+amd64 c:gpu");
    await bed.clock.advance(10_000);
    assert.equal(taintLine(bed.cluster), "a:gpu b:gpu c:gpu");
    const nodes = bed.patched.filter(({ plural }) => plural === "nodes");
    assert.deepEqual(
      nodes.map(({ name }) => name),
      ["a", "b"],
      "one write a node, none where there is no taint of ours",
    );
    for (const { body } of nodes) {
      const operations = JSON.stringify(body);
      assert.match(operations, /"op":"test"/);
      assert.doesNotMatch(operations, /"op":"(add|replace|move|copy)"/);
    }
    assert.deepEqual(bed.recorded.map(({ type, reason }) => `${type} ${reason}`), ["Warning ArchTaintsFailedOpen"]);
    assert.match(bed.recorded[0]?.message ?? "", /No replica has led for 60 s.*2 nodes/);
    assert.equal(conditionOf(bed.cluster), "False FailedOpen");
  });
});

Deno.test("openTaintFailOpen() lifts our taint when the Lease may not be read: a replica that may not does not lead either", async () => {
  const bed = openBed();
  bed.mayNotRead = true;
  await runFor(bed, bed.watcher, AFTER_MS + 25_000);
  assert.equal(taintLine(bed.cluster), "a:gpu b:gpu c:gpu");
});

Deno.test("openTaintFailOpen() lifts nothing while a leader renews, or while this replica leads", async () => {
  const bed = openBed();
  await whileRunning(bed, bed.watcher, async () => {
    for (let round = 0; round < 20; round++) {
      bed.view = { isLeader: false, lastRenewObservedMs: bed.clock.monotonicMs() };
      await bed.clock.advance(AFTER_MS / 2);
    }
    bed.view = { isLeader: true, lastRenewObservedMs: 0 };
    await bed.clock.advance(10 * AFTER_MS);
    assert.deepEqual(bed.patched, []);
  });
});

Deno.test("openTaintFailOpen() lifts nothing when it was the API server that was silent, and the leader renews again", async () => {
  const bed = openBed();
  bed.isDown = true;
  await whileRunning(bed, bed.watcher, async () => {
    await bed.clock.advance(10 * AFTER_MS);
    bed.isDown = false;
    for (let second = 0; second < 60; second += 2) {
      bed.cluster.put(Resource.leases, lease(`2026-11-21T13:00:${String(second).padStart(2, "0")}.000000Z`));
      await bed.clock.advance(2_000);
    }
    assert.deepEqual(bed.patched, []);
  });
});

Deno.test("openTaintFailOpen() stops in the middle when a leader is back", async () => {
  const bed = openBed();
  bed.cluster.beforePatch = () => {
    bed.view = { isLeader: false, lastRenewObservedMs: bed.clock.monotonicMs() };
  };
  await runFor(bed, bed.watcher, AFTER_MS + 30_000);
  assert.equal(taintLine(bed.cluster), "a:gpu b:arm64+gpu+amd64 c:gpu");
});
