import assert from "node:assert/strict";
import { openGateFailOpen } from "../../../controllers/gate_fail_open/controller.ts";
import { openUngater } from "../../../lib/placement/cluster/ungate.ts";
import type { KubeObject } from "../../../lib/k8s/types.ts";
import { openPlacementMetrics } from "../../support/process_metrics.ts";
import { openRateLimiter } from "../../../lib/k8s/write_limits.ts";
import { openFollower, seeLeader } from "../follower.ts";
import { openScene, runFor, type Scene, whileRunning, withMetadata } from "../make.ts";
import { refusing } from "../../support/memory_kube_api.ts";
import { gated } from "../pod_placement/make.ts";

const MAX_GATE_AGE_MS = 60_000;
/** The Lease lasts 6 s, and is read for 15 s after that. */
const OPENS_MS = 22_000;

const openBed = (scene: Scene = openScene(OLD)) => {
  const { follower, deps } = openFollower(scene, { seconds: 6, refusal: "may not update leases" });
  const counted: string[] = [];
  const controller = openGateFailOpen({
    ...deps,
    ungater: openUngater({ api: deps.api, limiter: openRateLimiter(scene.clock, 50) }),
    metrics: { ...openPlacementMetrics(), decision: (kind) => void counted.push(kind) },
    decisions: { record: () => {} },
    maxGateAgeMs: MAX_GATE_AGE_MS,
  });
  return Object.assign(follower, { controller, counted });
};
type Bed = ReturnType<typeof openBed>;

const OLD = podAt("old", -600_000);
const THREE = ["a", "b", "c"].map((name) => podAt(name, -600_000));

function podAt(name: string, afterMs: number): KubeObject {
  const creationTimestamp = new Date(Date.parse("2026-11-21T12:00:00Z") + afterMs).toISOString();
  return withMetadata(gated(name), { creationTimestamp });
}

function isHeld({ cluster }: Bed, name: string): boolean {
  const gates: unknown = Reflect.get(Object(cluster.find("pods", `shop/${name}`)?.["spec"]), "schedulingGates");
  return Array.isArray(gates) && gates.length > 0;
}

const SILENCES: readonly (readonly [name: string, arrange: (bed: Bed) => void])[] = [
  ["whose Lease is not renewed", (bed) => bed.renew("2026-11-21T12:00:00.000000Z")],
  ["whose Lease is gone", () => {}],
  ["whose Lease may not be read", (bed) => (bed.fault = refusing(403, ({ plural }) => plural === "leases"))],
];

for (const [name, arrange] of SILENCES) {
  Deno.test(`openGateFailOpen() releases a pod at its deadline without a leader ${name}, and reports it`, async () => {
    const bed = openBed(openScene(podAt("early", 0), podAt("late", 10_000)));
    arrange(bed);
    await whileRunning(bed, bed.controller, async () => {
      await bed.clock.advance(MAX_GATE_AGE_MS + 1_500);
      assert.deepEqual([isHeld(bed, "early"), isHeld(bed, "late")], [true, true]);
      await bed.clock.advance(1_000);
      assert.deepEqual([isHeld(bed, "early"), isHeld(bed, "late")], [false, true]);
      await bed.clock.advance(10_000);
      assert.equal(isHeld(bed, "late"), false);
      await bed.clock.advance(60_000);
    });
    assert.deepEqual(bed.counted, ["reduced", "reduced"]);
    assert.deepEqual(
      bed.recorded.map(({ type, reason, object }) => `${type} ${reason} ${object.name}`),
      ["Warning ArchAwareSchedGateLifted early", "Warning ArchAwareSchedGateLifted late"],
    );
    assert.match(bed.recorded[0]?.message ?? "", /no replica of Archway has led for 62 s.*may not update leases/);
    const paths = bed.cluster.patches.flat().filter(({ op }) => op !== "test").map(({ path }) => path);
    const changed = ["/metadata/labels/multiarch.openshift.io~1scheduling-gate", "/spec/schedulingGates/0"];
    assert.deepEqual(paths, [...changed, ...changed]);
    assert.deepEqual(new Set(bed.calls.map(({ verb }) => verb)), new Set(["get", "list", "patch"]));
  });
}

Deno.test("openGateFailOpen() releases a pod that was overdue before as soon as the absence is proven", async () => {
  const bed = openBed();
  await whileRunning(bed, bed.controller, async () => {
    await bed.clock.advance(OPENS_MS - 2_000);
    assert.equal(isHeld(bed, "old"), true);
    await bed.clock.advance(3_000);
    assert.equal(isHeld(bed, "old"), false);
  });
});

Deno.test("openGateFailOpen() finds a pod whose label was removed", async () => {
  const bed = openBed(openScene(withMetadata(OLD, { labels: {} })));
  await runFor(bed, bed.controller, OPENS_MS + 1_000);
  assert.equal(isHeld(bed, "old"), false);
});

Deno.test("openGateFailOpen() does not read a pod again and again that is being deleted", async () => {
  const bed = openBed(openScene(withMetadata(OLD, { deletionTimestamp: "2026-11-21T12:00:00Z" })));
  await runFor(bed, bed.controller, OPENS_MS + 60_000);
  assert.deepEqual(bed.calls.filter(({ verb, plural }) => plural === "pods" && verb !== "list"), []);
});

Deno.test("openGateFailOpen() sends no request to the API server while a leader renews, or while this replica leads", async () => {
  const bed = openBed();
  await whileRunning(bed, bed.controller, async () => {
    for (let round = 0; round < 20; round++) {
      seeLeader(bed);
      await bed.clock.advance(5_000);
    }
    bed.view = { isLeader: true, lastRenewObservedMs: 0 };
    await bed.clock.advance(600_000);
  });
  assert.deepEqual(bed.calls, []);
});

Deno.test("openGateFailOpen() releases nothing when the election of this replica alone is behind: the Lease itself is renewed", async () => {
  const bed = openBed();
  await whileRunning(bed, bed.controller, async () => {
    for (let ms = 0; ms < 60_000; ms += 2_000) {
      bed.renew(new Date(bed.clock.nowMs()).toISOString().replace("Z", "000Z"));
      await bed.clock.advance(2_000);
    }
  });
  assert.deepEqual(bed.calls.filter(({ verb }) => verb !== "get"), []);
});

Deno.test("openGateFailOpen() releases nothing after an outage of the API server in which no replica could renew", async () => {
  const bed = openBed();
  bed.renew("2026-11-21T12:00:00.000000Z");
  bed.fault = refusing(0);
  await whileRunning(bed, bed.controller, async () => {
    await bed.clock.advance(600_000);
    bed.fault = () => {};
    // A replica takes the Lease again.
    await bed.clock.advance(10_000);
    bed.renew("2026-11-21T12:10:00.000000Z");
    seeLeader(bed);
    await bed.clock.advance(5_000);
  });
  assert.deepEqual(bed.cluster.patches, []);
});

Deno.test("openGateFailOpen() stops in the middle when a leader is back", async () => {
  const bed = openBed(openScene(...THREE));
  bed.cluster.beforePatch = () => seeLeader(bed);
  await runFor(bed, bed.controller, OPENS_MS + 2_000);
  assert.equal(bed.cluster.patches.length, 1);
});

Deno.test("openGateFailOpen() of two replicas releases each pod once", async () => {
  const first = openBed(openScene(...THREE));
  const other = openBed(first);
  const both = {
    run: async (signal: AbortSignal) => {
      await Promise.all([first, other].map(({ controller }) => controller.run(signal)));
    },
  };
  await runFor(first, both, OPENS_MS + 5_000);
  assert.deepEqual([first.cluster.patches.length, first.recorded.length], [3, 3]);
});

Deno.test("openGateFailOpen() tries a pod again that could not be written", async () => {
  const bed = openBed();
  bed.fault = refusing(503, ({ verb }) => verb === "patch");
  await whileRunning(bed, bed.controller, async () => {
    await bed.clock.advance(OPENS_MS + 10_000);
    assert.equal(isHeld(bed, "old"), true);
    bed.fault = () => {};
    await bed.clock.advance(40_000);
    assert.equal(isHeld(bed, "old"), false);
  });
  assert.equal(bed.recorded.length, 1);
});
