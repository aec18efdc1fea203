import assert from "node:assert/strict";
import { openUpgrades } from "../../../controllers/upgrades/controller.ts";
import { openDrains } from "../../../controllers/upgrades/drains.ts";
import { ApiError } from "../../../lib/k8s/api_error.ts";
import { Resource } from "../../../lib/k8s/types.ts";
import { readInput } from "../../../lib/upgrades/cluster/plan_input.ts";
import { machineSet } from "../../lib/upgrades/decide/make.ts";
import { refusing } from "../../support/memory_kube_api.ts";
import { noAnswer } from "../../support/until.ts";
import { whileRunning } from "../make.ts";
import { NAMESPACE, openUpgradeScene, pool, type UpgradeScene } from "./make.ts";
import { lookOnce } from "./play.ts";

const signal = new AbortController().signal;
const UPGRADING = { history: [{ version: "4.20.5", phase: "Upgrading", startTime: "2026-11-21T12:00:00Z" }] };
const DRAIN_GAUGE = 'upgradeoperator_node_drain_timeout{"node_name":"n-1"}';

async function lookAtDrains(scene: UpgradeScene, drains = openDrains(scene.deps)): Promise<void> {
  const nowMs = scene.clock.nowMs();
  const { facts } = await readInput({ readApi: scene.deps.readApi, namespace: NAMESPACE }, { nowMs, signal });
  assert.ok(facts !== undefined);
  scene.calls.length = 0;
  await drains.check(facts, { nowMs, signal });
}

/** A worker that the machine config operator works on, cordoned for so many minutes, with a pod. */
function putDraining(scene: UpgradeScene, minutes: number): void {
  const { clock, cluster } = scene;
  const timeAdded = new Date(clock.nowMs() - minutes * 60_000).toISOString();
  cluster.put(Resource.nodes, {
    metadata: { name: "n-1", annotations: { "machineconfiguration.openshift.io/state": "Working" } },
    spec: {
      unschedulable: true,
      taints: [{ key: "node.kubernetes.io/unschedulable", effect: "NoSchedule", timeAdded }],
    },
  });
  cluster.put(Resource.pods, {
    metadata: { namespace: "shop", name: "web", uid: "pod-1" },
    spec: { nodeName: "n-1" },
  });
  cluster.put(Resource.machineConfigPools, pool("worker", { updated: 1 }));
}

Deno.test("a reconcile with 500 nodes and 50 pools takes at most ten requests and a second", async () => {
  const scene = openUpgradeScene({ spec: { capacityReservation: true }, status: UPGRADING });
  for (let n = 0; n < 500; n++) scene.cluster.put(Resource.nodes, { metadata: { name: `n-${n}` }, spec: {} });
  for (let n = 0; n < 50; n++) scene.cluster.put(Resource.machineConfigPools, pool(`pool-${n}`, { updated: 1 }));
  scene.cluster.put(Resource.machineSets, machineSet("a"));
  const startedMs = performance.now();
  await lookOnce(scene);
  const tookMs = performance.now() - startedMs;
  const reads = scene.calls.filter(({ verb }) => verb === "get" || verb === "list");
  const words = scene.calls.map(({ verb, plural }) => `${verb} ${plural}`);
  assert.ok(reads.length <= 10, words.join(", "));
  assert.equal(reads.filter(({ plural }) => plural === "nodes").length, 1, "one list, whoever asks");
  assert.ok(tookMs <= 1_000, `${Math.round(tookMs)} ms`);
});

Deno.test("the target that the cluster moves to is followed while the plan names another since", async () => {
  const conditions = [{ type: "UpgradeCommenced", status: "True" }];
  const status = { history: [{ version: "4.20.5", phase: "Upgrading", conditions }] };
  const { deps, clock, cluster } = openUpgradeScene({ spec: { desired: { version: "4.20.6" } }, status });
  const desired = { version: "4.20.5" };
  const metadata = { name: "version" };
  cluster.put(Resource.clusterVersions, { metadata, spec: { desiredUpdate: desired }, status: { desired } });
  const { readApi } = deps;
  const { known } = await readInput({ readApi, namespace: NAMESPACE }, { nowMs: clock.nowMs(), signal });
  assert.equal(known?.spec.desired.version, "4.20.5");
});

Deno.test("drains are helped on every minute while what is outside of the cluster keeps a reconcile for minutes", async () => {
  const scene = openUpgradeScene({ spec: { drain: { mode: "Delete" } }, status: UPGRADING });
  putDraining(scene, 20);
  let asked = 0;
  const notify = (_: unknown, { signal }: { readonly signal: AbortSignal }): Promise<void> => {
    asked++;
    return noAnswer(signal);
  };
  const controller = openUpgrades({ ...scene.deps, outside: { ...scene.deps.outside, notify } });
  const listed = (): number => scene.calls.filter(({ verb, plural }) => `${verb} ${plural}` === "list nodes").length;
  await whileRunning(scene, controller, async () => {
    for (const minute of [1, 2, 3, 4]) {
      await scene.clock.advance(minute === 1 ? 1_000 : 60_000);
      assert.deepEqual([asked, listed()], [1, minute]);
    }
  });
});

Deno.test("M-271 M-272 M-281 MachineSets, machines or nodes that cannot be read fail the step with the reason", async () => {
  for (const plural of ["machinesets", "machines", "nodes"]) {
    const scene = openUpgradeScene({ spec: { capacityReservation: true }, status: UPGRADING });
    scene.cluster.put(Resource.machineSets, machineSet("a"));
    scene.cluster.put(Resource.machineSets, machineSet("a-upgrade", { temporary: true }));
    scene.fault = (call) => {
      if (call.plural === plural) throw new ApiError(`Cannot list ${plural}.`, { status: 500 });
    };
    const end = await lookOnce(scene);
    assert.equal(end.kind, "failed");
    assert.match(end.kind === "failed" ? end.message : "", new RegExp(`Cannot list ${plural}`));
  }
});

Deno.test("M-275 a clone that cannot be created fails the step, and is created by a later look", async () => {
  const scene = openUpgradeScene({ spec: { capacityReservation: true }, status: UPGRADING });
  scene.cluster.put(Resource.machineSets, machineSet("a"));
  let faults = 1;
  scene.fault = refusing(500, ({ verb, plural }) => verb === "create" && plural === "machinesets" && faults-- > 0);
  assert.equal((await lookOnce(scene)).kind, "failed");
  await lookOnce(scene);
  assert.ok(scene.cluster.find("machinesets", "openshift-machine-api/a-upgrade") !== undefined);
});

Deno.test("M-303 drains are not looked at while no workers are upgraded", async () => {
  const scene = openUpgradeScene({ status: UPGRADING });
  putDraining(scene, 99);
  scene.cluster.put(Resource.machineConfigPools, pool("worker"));
  scene.cluster.put(Resource.machineConfigPools, pool("master", { updated: 0 }));
  await lookAtDrains(scene);
  assert.deepEqual(scene.calls.map(({ plural }) => plural), ["machineconfigpools"]);
});

Deno.test("M-304 M-305 N-022 without drain.mode an overdue drain is reported once, and pods stay", async () => {
  const scene = openUpgradeScene({ status: UPGRADING });
  putDraining(scene, 50);
  const drains = openDrains(scene.deps);
  await lookAtDrains(scene, drains);
  await lookAtDrains(scene, drains);
  assert.equal(scene.gauges.get(DRAIN_GAUGE), 1);
  assert.deepEqual(scene.events.map(({ reason, message }) => [reason, message]), [[
    "NodeDrainTimeout",
    "Node n-1 is not drained in time. spec.drain.mode keeps pods from being removed: shop/web.",
  ]]);
  assert.ok(scene.cluster.find("pods", "shop/web") !== undefined);
});

Deno.test("M-322 drain.mode Delete removes pods that are overdue, the very ones that were judged", async () => {
  const scene = openUpgradeScene({ spec: { drain: { mode: "Delete" } }, status: UPGRADING });
  putDraining(scene, 44);
  await lookAtDrains(scene);
  assert.ok(scene.cluster.find("pods", "shop/web") !== undefined, "not due");
  putDraining(scene, 46);
  await lookAtDrains(scene);
  assert.equal(scene.cluster.find("pods", "shop/web"), undefined);
  assert.deepEqual(scene.calls.filter(({ verb }) => verb === "delete").map(({ name }) => name), ["web"]);
});

Deno.test("a status is written where it has changed: a second look at the same time writes nothing", async () => {
  const status = { history: [{ version: "4.20.5", phase: "Pending" }] };
  const scene = openUpgradeScene({ spec: { upgradeAt: "2126-01-01T00:00:00Z" }, status });
  const written = async (): Promise<number> => {
    scene.calls.length = 0;
    await lookOnce(scene);
    return scene.calls.filter(({ verb }) => !["get", "list"].includes(verb)).length;
  };
  assert.deepEqual([await written(), await written()], [1, 0]);
});

Deno.test("M-006 M-008 M-130 a failed read of plan, settings or ClusterVersion ends a reconcile with nothing written", async () => {
  for (const plural of ["upgradeconfigs", "configmaps", "clusterversions"]) {
    const scene = openUpgradeScene({ status: UPGRADING });
    scene.fault = refusing(500, (call) => call.plural === plural);
    assert.equal((await lookOnce(scene)).kind, "failed");
    assert.deepEqual(scene.calls.filter(({ verb }) => !["get", "list"].includes(verb)), []);
  }
});
