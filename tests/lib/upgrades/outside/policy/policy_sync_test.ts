import assert from "node:assert/strict";
import type { KubeApi } from "../../../../../lib/k8s/api.ts";
import { type KubeObject, Resource } from "../../../../../lib/k8s/types.ts";
import { silentLogger } from "../../../../../lib/log.ts";
import { Upgrades } from "../../../../../lib/upgrades/names.ts";
import {
  LOCAL_POLICY_SOURCE,
  openOcmPolicySource,
  type PolicySource,
  PolicySync,
} from "../../../../../lib/upgrades/outside/policy/policy_sync.ts";
import { whileRunning } from "../../../../controllers/make.ts";
import { FakeClock } from "../../../../support/fake_clock.ts";
import { type MemoryCall, MemoryCluster, refusing } from "../../../../support/memory_kube_api.ts";
import { addPolicy, startOcm } from "../ocm_double.ts";
import { SIGNAL } from "../support.ts";

const TYPE = Resource.upgradeConfigs;
const TARGET = { type: TYPE, namespace: Upgrades.namespace, name: Upgrades.config };
const SPEC = {
  desired: { version: "4.16.3", channel: "stable-4.16" },
  upgradeAt: "2026-03-20T00:00:00Z",
  PDBForceDrainTimeout: 45,
  capacityReservation: true,
  type: "OSD",
};

const openBed = (
  cluster: MemoryCluster,
  source: PolicySource | Error,
  before: (call: MemoryCall) => void = () => {},
  api: Partial<KubeApi> = {},
) => {
  const clock = new FakeClock();
  const synced: number[] = [];
  const sync = new PolicySync({
    ...TARGET,
    api: { ...cluster.client(before), ...api },
    source: () => source instanceof Error ? Promise.reject(source) : Promise.resolve(source),
    watchIntervalMinutes: () => 60,
    clock,
    log: silentLogger,
    onSynced: (nowMs) => void synced.push(nowMs),
  });
  return { sync, clock, synced };
};

function sourceOf(fetch: PolicySource["fetch"]): PolicySource {
  return { onNone: "remove", fetch };
}

const DESIRED = sourceOf(() => Promise.resolve({ kind: "desired", spec: SPEC }));
const NONE = sourceOf(() => Promise.resolve({ kind: "none" }));

function put(cluster: MemoryCluster, spec: Readonly<Record<string, unknown>>, more: Partial<KubeObject> = {}): void {
  const { namespace, name } = TARGET;
  cluster.put(TYPE, { metadata: { namespace, name, uid: "first" }, spec, ...more });
}

function found(cluster: MemoryCluster): KubeObject | undefined {
  return cluster.find(TYPE.plural, `${TARGET.namespace}/${TARGET.name}`);
}

Deno.test("M-070 refresh() creates the plan that the cluster manager ordered", async () => {
  await using double = startOcm("api");
  addPolicy(double, "over", { state: "completed", at: "2026-03-01T00:00:00Z" });
  addPolicy(double, "next", { at: "2026-03-20T02:00:00.123+02:00" });
  const cluster = new MemoryCluster();
  const { sync, synced, clock } = openBed(cluster, openOcmPolicySource({ client: double.client, type: "OSD" }));
  assert.deepEqual(await sync.refresh(SIGNAL), { kind: "changed" });
  assert.deepEqual(found(cluster)?.spec, SPEC);
  assert.equal(found(cluster)?.apiVersion, "upgrade.managed.openshift.io/v1alpha1");
  assert.deepEqual(await sync.refresh(SIGNAL), { kind: "unchanged" });
  assert.deepEqual(synced, [clock.nowMs(), clock.nowMs()]);
});

Deno.test("M-068 N-029 refresh() removes the plan when the policy was cancelled a moment ago", async () => {
  await using double = startOcm("api");
  addPolicy(double, "p1");
  const cluster = new MemoryCluster();
  const { sync } = openBed(cluster, openOcmPolicySource({ client: double.client, type: "OSD" }));
  await sync.refresh(SIGNAL);
  const [policy] = double.policies;
  assert.ok(policy !== undefined);
  policy.state = { value: "cancelled", description: "" };
  assert.deepEqual(await sync.refresh(SIGNAL), { kind: "changed" });
  assert.equal(found(cluster), undefined);
  assert.deepEqual(await sync.refresh(SIGNAL), { kind: "unchanged" });
});

Deno.test("M-069 refresh() changes nothing where there is no plan and none is wanted, or no source is configured", async () => {
  const cluster = new MemoryCluster();
  assert.deepEqual(await openBed(cluster, NONE).sync.refresh(SIGNAL), { kind: "unchanged" });
  const none = sourceOf(() => Promise.resolve({ kind: "notConfigured" }));
  assert.deepEqual(await openBed(cluster, none).sync.refresh(SIGNAL), { kind: "notConfigured" });
});

Deno.test("M-071 refresh() replaces another plan only once the old one is gone", async () => {
  const cluster = new MemoryCluster();
  const status = { history: [{ phase: "Failed" }] };
  put(cluster, { ...SPEC, upgradeAt: "2026-03-19T00:00:00Z", suspend: true }, { status });
  const calls: string[] = [];
  const { sync } = openBed(cluster, DESIRED, ({ verb }) => void calls.push(verb));
  assert.deepEqual(await sync.refresh(SIGNAL), { kind: "changed" });
  assert.deepEqual(calls, ["get", "delete", "get", "create"]);
  assert.deepEqual(found(cluster)?.spec, { ...SPEC, suspend: true });
  assert.equal(found(cluster)?.status, undefined, "its history starts anew");
});

Deno.test("M-071 refresh() gives up when the old plan stays for a minute, and creates nothing over it", async () => {
  const cluster = new MemoryCluster();
  put(cluster, { ...SPEC, upgradeAt: "2026-03-19T00:00:00Z" });
  const { sync, clock, synced } = openBed(cluster, DESIRED, undefined, { delete: () => Promise.resolve() });
  const refreshing = assert.rejects(sync.refresh(SIGNAL), /still there a minute after it was deleted/);
  for (let waited = 0; waited < 70; waited += 5) await clock.advance(5_000);
  await refreshing;
  assert.deepEqual([found(cluster)?.metadata.uid, synced], ["first", []]);
});

Deno.test("M-066 M-067 M-082 refresh() leaves the plan alone when plan or source cannot be read", async () => {
  const cluster = new MemoryCluster();
  put(cluster, SPEC);
  const { sync, synced } = openBed(cluster, NONE, refusing(500, ({ verb }) => verb === "get"));
  await assert.rejects(sync.refresh(SIGNAL), /away/);
  const away = openBed(cluster, sourceOf(() => Promise.reject(new Error("no manager"))));
  await assert.rejects(away.sync.refresh(SIGNAL), /no manager/);
  const broken = openBed(cluster, new Error("no configuration"));
  await assert.rejects(broken.sync.refresh(SIGNAL), /no configuration/);
  assert.deepEqual(found(cluster)?.spec, SPEC);
  assert.deepEqual([...synced, ...away.synced, ...broken.synced], []);
});

Deno.test("refresh() does not delete the plan for a policy whose version is none", async () => {
  await using double = startOcm("api");
  addPolicy(double, "p1", { version: "latest" });
  const cluster = new MemoryCluster();
  put(cluster, SPEC);
  const { sync } = openBed(cluster, openOcmPolicySource({ client: double.client, type: "OSD" }));
  await assert.rejects(sync.refresh(SIGNAL), /its version is no version/);
  assert.ok(found(cluster) !== undefined);
});

Deno.test("M-060 M-061 M-073 M-074 the source LOCAL reads the plan, and never has it deleted", async () => {
  const cluster = new MemoryCluster();
  put(cluster, SPEC);
  const fetch = () => LOCAL_POLICY_SOURCE.fetch(SIGNAL, found(cluster));
  assert.deepEqual(await fetch(), { kind: "none" });
  assert.deepEqual(await openBed(cluster, LOCAL_POLICY_SOURCE).sync.refresh(SIGNAL), { kind: "unchanged" });
  put(cluster, SPEC, { status: { history: [{ phase: "Pending" }] } });
  assert.deepEqual(await fetch(), { kind: "desired", spec: SPEC });
  put(cluster, SPEC, { status: { history: [{ phase: "Upgraded" }] } });
  assert.deepEqual(await openBed(cluster, LOCAL_POLICY_SOURCE).sync.refresh(SIGNAL), { kind: "unchanged" });
  assert.ok(found(cluster) !== undefined);
  const failing = openBed(cluster, LOCAL_POLICY_SOURCE, refusing(503));
  await assert.rejects(failing.sync.refresh(SIGNAL), /away/);
});

Deno.test("run() asks after a minute, then at the interval, and backs off while the source is away", async () => {
  const cluster = new MemoryCluster();
  let asked = 0;
  let isAway = false;
  const source = sourceOf(() => {
    asked++;
    return isAway ? Promise.reject(new Error("away")) : Promise.resolve({ kind: "none" });
  });
  const { sync, clock, synced } = openBed(cluster, source);
  await whileRunning({ clock }, sync, async () => {
    await clock.advance(50_000);
    assert.equal(asked, 0);
    await clock.advance(20_000);
    assert.equal(asked, 1);
    await clock.advance(50 * 60_000);
    assert.equal(asked, 1);
    isAway = true;
    await clock.advance(20 * 60_000);
    // At most 66 minutes after the first; then after 1, 2 and 4 more.
    assert.ok(asked >= 3 && asked <= 6, String(asked));
    isAway = false;
    await clock.advance(3_600_000);
    assert.ok(synced.length >= 2);
  });
});
