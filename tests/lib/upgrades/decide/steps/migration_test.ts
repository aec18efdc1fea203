import assert from "node:assert/strict";
import type { MachineConfigPool } from "../../../../../lib/vocabulary/machines.ts";
import {
  decideConvergence,
  imageComparisons,
  type MigrationFacts,
} from "../../../../../lib/upgrades/decide/release/convergence.ts";
import { UPGRADERS } from "../../../../../lib/upgrades/decide/steps/upgraders.ts";
import type { ClusterVersion, OsImageState } from "../../../../../lib/upgrades/decide/types/cluster.ts";
import type { Readings } from "../../../../../lib/upgrades/decide/types/observed.ts";
import type { HistoryEntry, UpgradeStatus } from "../../../../../lib/upgrades/decide/types/plan.ts";
import {
  condition,
  type Driver,
  FROM,
  IMAGE_FROM,
  IMAGE_MULTI,
  makeCluster,
  makeHistory,
  makeOperator,
  makePlan,
  makePool,
  migratingCluster,
  MINUTE,
  NOW_MS,
  type Observations,
  reconcileOnce,
  seen,
  type SpecOverrides,
  START_MS,
  unseen,
  wordsOf,
} from "../make_plan.ts";

const SPEC: SpecOverrides = { desired: { version: FROM, architecture: "Multi", channel: "" } };
const SMOKE: SpecOverrides = { ...SPEC, smoke: { machineSetTemplate: "arm", timeoutMinutes: 15 } };
const BASELINE = {
  image: IMAGE_FROM,
  operatorImages: { etcd: "etcd-1", dns: "dns-1" },
  renderedConfigs: { master: "rendered-master-1", worker: "rendered-worker-1" },
};

const ASKED = { version: FROM, image: "", architecture: "Multi" };
const BEFORE = makeCluster().history;
const [GOING, THERE] = [migratingCluster("Partial"), migratingCluster("Completed")];
const MASTER = makePool("master", { currentRendered: "rendered-master-2" });
const POOLS = [MASTER, makePool("worker", { currentRendered: "rendered-worker-2" })];
const CHANGED: Readings["osImages"] = new Map([["master", "changed"], ["worker", "changed"]]);
const ETCD_BEFORE = makeOperator("etcd", "etcd-1");
const OPERATORS = [
  makeOperator("etcd", "etcd-2"),
  makeOperator("dns", "dns-2"),
  makeOperator("console"),
  makeOperator("new", "new-1"),
];

const DONE: MigrationFacts = {
  version: FROM,
  clusterVersion: THERE,
  operators: OPERATORS,
  pools: POOLS,
  osImages: CHANGED,
  baseline: BASELINE,
  smoke: "passed",
};

function at(overrides: Partial<ClusterVersion>): Partial<MigrationFacts> {
  return { clusterVersion: { ...THERE, ...overrides } };
}

function worker(overrides: Partial<MachineConfigPool>): Partial<MigrationFacts> {
  return { pools: [MASTER, makePool("worker", { currentRendered: "rendered-worker-2", ...overrides })] };
}

function image(worker: OsImageState | undefined): Pick<MigrationFacts, "osImages"> {
  return { osImages: new Map([["master", "changed"], ...worker === undefined ? [] : [["worker", worker] as const]]) };
}

const RULES: readonly (readonly [string, Partial<MigrationFacts>, string])[] = [
  ["N-011 everything has arrived", {}, "converged"],
  [
    "N-007 the version is completed, the architecture is not reported",
    at({ desired: { version: FROM, image: IMAGE_MULTI, architecture: "" } }),
    "architecture",
  ],
  ["the version is not completed", at({ history: GOING.history }), "release"],
  [
    "another version is",
    at({ history: [{ version: "4.17.9", image: "x", state: "Completed", startedMs: 1, completedMs: 1 }] }),
    "release",
  ],
  ["N-008 it is completed with the image from before", at({ history: BEFORE }), "release"],
  ["the ClusterVersion is progressing", at({ conditions: [condition("Progressing", "True")] }), "settled"],
  ["the ClusterVersion does not say whether it is progressing", at({ conditions: [] }), "settled"],
  ["N-010 an operator has its image from before", { operators: [...OPERATORS, ETCD_BEFORE] }, "operators"],
  ["N-009 a pool is on its way", worker({ updatedMachineCount: 2 }), "nodes"],
  ["a pool is not Updated", worker({ isUpdated: false }), "nodes"],
  ["a pool has its configuration from before", worker({ currentRendered: "rendered-worker-1" }), "nodes"],
  ["a pool has its operating system from before", image("asBefore"), "nodes"],
  ["a user names the operating system of a pool", image("overridden"), "converged"],
  ["the operating system of a pool is still to be read", image("unread"), "nodes"],
  ["the operating system of a pool is not known", image(undefined), "nodes"],
  ["a paused pool is as before", worker({ isPaused: true, currentRendered: "rendered-worker-1" }), "converged"],
  ["a pool is new", { pools: [...POOLS, makePool("gpu")] }, "converged"],
  ["no node of another architecture has come", { smoke: "open" }, "smoke"],
  ["none is wanted", { smoke: "notWanted" }, "converged"],
];

for (const [name, overrides, expected] of RULES) {
  Deno.test(`${name}: ${expected}`, () => {
    const convergence = decideConvergence({ ...DONE, ...overrides });
    assert.equal(convergence.kind === "open" ? convergence.rule : convergence.kind, expected);
  });
}

Deno.test("imageComparisons() leaves out pools that are waited for anyway, and those without a configuration from before", () => {
  const pools = [
    ...POOLS,
    makePool("late", { currentRendered: "rendered-late-2", updatedMachineCount: 1 }),
    makePool("stirring", { currentRendered: "rendered-stirring-2", isUpdated: false }),
    makePool("frozen", { currentRendered: "rendered-frozen-2", isPaused: true }),
    makePool("same"),
    makePool("new"),
  ];
  const known = pools.map(({ name }) => name).filter((name) => name !== "new");
  const renderedConfigs = Object.fromEntries(known.map((name) => [name, `rendered-${name}-1`]));
  assert.deepEqual(imageComparisons(pools, { renderedConfigs }), [
    { pool: "master", config: "rendered-master-2", before: "rendered-master-1" },
    { pool: "worker", config: "rendered-worker-2", before: "rendered-worker-1" },
  ]);
});

interface Given {
  readonly spec?: SpecOverrides;
  readonly entry?: Partial<HistoryEntry>;
  readonly status?: UpgradeStatus | undefined;
  readonly cluster?: Partial<ClusterVersion>;
  readonly observed?: Partial<Observations>;
  readonly nowMs?: number;
  readonly failing?: Driver["failing"];
}

function migrate(
  { spec = SPEC, entry = {}, status, cluster = {}, observed = {}, nowMs = NOW_MS, failing }: Given,
): ReturnType<typeof reconcileOnce> {
  const history = makeHistory({ version: FROM, architecture: "Multi", profile: "multiarch-migration", ...entry });
  const plan = makePlan(spec, status ?? { history: [history] });
  const observations: Partial<Observations> = {
    pools: seen(POOLS),
    osImages: seen(CHANGED),
    clusterOperators: seen(OPERATORS),
    ...observed,
  };
  return reconcileOnce({ plan, clusterVersion: makeCluster(cluster), nowMs }, { observed: observations, failing });
}

function stepOf({ saved }: ReturnType<typeof reconcileOnce>): readonly string[] {
  const [step] = saved.at(-1)?.history[0]?.conditions ?? [];
  return [step?.type ?? "", step?.message ?? ""];
}

Deno.test("a migration is an entry of its own, with steps of its own, also at the version of an earlier upgrade", () => {
  const earlier = makeHistory({ version: FROM, phase: "Upgraded" });
  const run = migrate({ status: { history: [earlier], conditions: [] } });
  const entries = run.saved[0]?.history.map(({ version, architecture, profile }) => [version, architecture, profile]);
  assert.deepEqual(entries, [[FROM, "Multi", "multiarch-migration"], [FROM, "", "type"]]);
  assert.equal(run.saved[0]?.history[0]?.precedingVersion, FROM);
  const later = makePlan({ desired: { architecture: "Multi" } });
  const onMulti = reconcileOnce({ plan: later, clusterVersion: THERE });
  assert.equal(onMulti.saved[0]?.history[0]?.profile, "type");
});

Deno.test("a migration asks for its version and architecture, with what it must change written down before", () => {
  const before = [makePool("worker"), makePool("new", { currentRendered: "" })];
  const observed = { pools: seen(before), clusterOperators: seen([ETCD_BEFORE, makeOperator("dns")]) };
  const run = migrate({ observed });
  assert.deepEqual(run.saved.at(-1)?.history[0]?.baseline, {
    image: IMAGE_FROM,
    operatorImages: { etcd: "etcd-1" },
    renderedConfigs: { worker: "rendered-worker-1" },
  });
  const patches = run.effects.flatMap((effect) => effect.kind === "patchClusterVersion" ? [effect.patch] : []);
  assert.deepEqual(patches, [{ spec: { desiredUpdate: { version: FROM, architecture: "Multi", image: null } } }]);
  const order = run.requests.map((one) => one.kind === "apply" ? wordsOf(one.effects).at(-1) : one.kind);
  assert.ok(order.indexOf("save") < order.indexOf("patchClusterVersion"));
  assert.deepEqual(stepOf(run)[0], "ControlPlaneUpgraded");
});

const PAYLOAD = { image: IMAGE_MULTI, version: FROM, isIndex: true, architectures: ["amd64", "arm64"] };
const sees = (observed: Partial<Observations>): Given => ({ observed });
const poolThat = (state: Partial<MachineConfigPool>): Given => sees({ pools: seen([makePool("infra", state)]) });
const payloadWith = (more: Partial<typeof PAYLOAD>): Given => sees({ payload: seen({ ...PAYLOAD, ...more }) });
const BUSY = [condition("Progressing", "True", "busy")];
const FAILING = [condition("Progressing", "False"), condition("Failing", "True", "etcd")];
const BLOCKED: readonly (readonly [string, Given, RegExp])[] = [
  ["N-012 a paused pool", poolThat({ isPaused: true }), /paused \(unpause them first\): infra/],
  ["a degraded pool", poolThat({ isDegraded: true }), /degraded: infra/],
  ["a pool whose image is built", sees({ buildingPools: seen(new Set(["worker"])) }), /building an image: worker/],
  ["a pool on its way", poolThat({ updatedMachineCount: 1 }), /still updating: infra/],
  ["pools that cannot be read", sees({ pools: unseen() }), /Cannot read the MachineConfigPools/],
  ["builds that cannot be read", sees({ buildingPools: unseen() }), /Cannot read the builds of node images/],
  ["a cluster that is progressing", { cluster: { conditions: BUSY } }, /progressing: busy/],
  ["a cluster that is failing", { cluster: { conditions: FAILING } }, /failing: etcd/],
  [
    "a cluster at another version",
    { cluster: { desired: { version: "4.17.9", image: "x", architecture: "" } } },
    /the cluster is at 4\.17\.9, the plan says 4\.17\.1/,
  ],
  ["a payload for one architecture", payloadWith({ isIndex: false }), /no index/],
  [
    "a payload without the architecture of the control plane",
    sees({ controlPlaneArchitectures: seen(["s390x"]) }),
    /no image for s390x.*holds amd64, arm64/,
  ],
  ["a payload of another version", payloadWith({ version: "4.17.9" }), /of version "4\.17\.9"/],
  ["a control plane whose architecture is not known", sees({ controlPlaneArchitectures: seen([]) }), /not known/],
  ["a payload that cannot be read", sees({ payload: unseen("401") }), /release payload: 401/],
];

for (const [name, given, expected] of BLOCKED) {
  Deno.test(`${name} keeps a migration from beginning`, () => {
    const run = migrate(given);
    assert.match(run.end.kind === "failed" ? run.end.message : "", expected);
    assert.deepEqual(wordsOf(run.effects).filter((word) => !word.startsWith("State")), []);
    assert.equal(run.saved.at(-1)?.history[0]?.phase, "Upgrading");
  });
}

const BEGUN: Partial<HistoryEntry> = { baseline: BASELINE };
const LATE_MS = START_MS + 91 * MINUTE + 300_000;

Deno.test("N-013 a payload that is not accepted is waited for with its words, and alerts after its time", () => {
  const cluster = {
    desiredUpdate: ASKED,
    conditions: [condition("ReleaseAccepted", "False", "no signature"), condition("Progressing", "False")],
  };
  const early = migrate({ entry: BEGUN, cluster });
  assert.equal(early.end.kind, "finished");
  assert.match(stepOf(early)[1] ?? "", /the payload was not accepted: no signature/);
  assert.ok(wordsOf(early.effects).includes("archway_upgrade_migration_stuck=0"));
  const late = migrate({ status: early.saved.at(-1), cluster, nowMs: LATE_MS });
  assert.ok(wordsOf(late.effects).includes("archway_upgrade_migration_stuck=1"));
  assert.ok(wordsOf(late.effects).includes("StateMigrationStuck"));
  const later = migrate({ status: late.saved.at(-1), cluster, nowMs: LATE_MS + MINUTE });
  assert.equal(wordsOf(later.effects).includes("StateMigrationStuck"), false);
  assert.equal(wordsOf([...late.effects, ...later.effects]).includes("patchClusterVersion"), false);
});

Deno.test("a ClusterVersion that fails for longer than its time alerts, one that fails for a moment does not", () => {
  const conditions = [condition("Failing", "True", "etcd is down"), condition("Progressing", "True")];
  const cluster = { ...GOING, conditions };
  assert.ok(wordsOf(migrate({ entry: BEGUN, cluster }).effects).includes("archway_upgrade_migration_stuck=0"));
  const late = migrate({ entry: BEGUN, cluster, nowMs: LATE_MS });
  assert.ok(wordsOf(late.effects).includes("archway_upgrade_migration_stuck=1"));
  const stuck = late.effects.find((effect) => "metric" in effect && effect.metric.endsWith("migration_stuck"));
  assert.ok(stuck?.kind === "setMetric" && /^4\.\d+\.\d+$/.test(stuck.labels["version"] ?? ""));
  assert.match(stepOf(late)[1] ?? "", /failing: etcd is down/);
});

/** It has been asked for, the release is there, and this is seen. */
const there = (observed: Partial<Observations> = {}): Given => ({ entry: BEGUN, cluster: THERE, observed });
const theirs = (state: OsImageState): Given => there({ osImages: seen(image(state).osImages) });

const WAITING: readonly (readonly [string, Given, string, RegExp])[] = [
  ["the control plane", { cluster: GOING }, "ControlPlaneUpgraded", /is not completed yet/],
  ["nodes", there({ pools: seen([makePool("worker", { updatedMachineCount: 1 })]) }), "WorkerNodesUpgraded", /1 of 3/],
  ["nodes whose operating system is that from before", theirs("asBefore"), "WorkerNodesUpgraded", /image from before/],
  ["operators", there({ clusterOperators: seen([ETCD_BEFORE]) }), "ArchitectureVerified", /from before: etcd/],
];

for (const [name, given, step, message] of WAITING) {
  Deno.test(`a migration waits for ${name}`, () => {
    const run = migrate({ entry: BEGUN, ...given });
    assert.deepEqual([run.end.kind, stepOf(run)[0]], ["finished", step]);
    assert.match(stepOf(run)[1] ?? "", message);
  });
}

Deno.test("a migration goes on soon while images of pools are still to be read", () => {
  const unread = migrate(theirs("unread"));
  assert.deepEqual(unread.end, { kind: "finished", requeueAfterMs: 1_000 });
  assert.match(stepOf(unread)[1] ?? "", /worker \(operating system image not read yet\)/);
  assert.deepEqual(migrate(theirs("asBefore")).end, { kind: "finished", requeueAfterMs: MINUTE });
});

Deno.test("N-011 a migration that has converged is announced, and the plan is MultiArchCapable with what is worth knowing", () => {
  const sentences = ["One workload runs on amd64 only."];
  const run = migrate(there({ advisories: seen({ kind: "found", sentences }) }));
  const status = run.saved.at(-1);
  assert.equal(status?.history[0]?.phase, "Upgraded");
  const found = status?.conditions.find(({ type }) => type === "MultiArchCapable");
  assert.deepEqual([found?.status, /amd64 only/.test(found?.message ?? "")], ["True", true]);
  assert.deepEqual(wordsOf(run.effects).slice(-2), ["StateMultiArchCapable", "StateCompleted"]);
});

Deno.test("a migration that has converged waits while workloads are looked at", () => {
  const waiting = migrate(there({ advisories: seen({ kind: "looking" }) }));
  assert.equal(waiting.saved.at(-1)?.history[0]?.phase, "Upgrading");
  assert.deepEqual(stepOf(waiting), [
    "CompletedNotificationSent",
    "CompletedNotificationSent still in progress: the workloads of the cluster are being checked",
  ]);
  assert.equal(wordsOf(waiting.effects).includes("StateCompleted"), false);
});

Deno.test("a migration that something else began is taken over, measured against the history of the ClusterVersion", () => {
  const run = migrate({ status: { history: [], conditions: [] }, cluster: GOING });
  const [entry] = run.saved.at(-1)?.history ?? [];
  const begun = [entry?.phase, entry?.profile, entry?.baseline?.image];
  assert.deepEqual(begun, ["Upgrading", "multiarch-migration", IMAGE_FROM]);
  assert.equal(wordsOf(run.effects).includes("patchClusterVersion"), false);
});

const NO_NODE = seen({ kind: "waiting", sinceMs: NOW_MS, message: "no node yet" } as const);

Deno.test("a machine of another architecture is started, waited for and removed, and then the migration is complete", () => {
  const given = { ...there(), spec: SMOKE };
  const started = migrate(given);
  assert.deepEqual(started.effects.at(-1), { kind: "createSmokeMachine", template: "arm" });
  const second = migrate({ ...given, status: started.saved.at(-1), observed: { smoke: NO_NODE } });
  assert.deepEqual([second.effects, stepOf(second)[0]], [[], "SecondaryArchitectureProven"]);
  const ready = seen({ kind: "ready", node: "n1", architecture: "arm64" } as const);
  const third = migrate({ ...given, status: second.saved.at(-1), observed: { smoke: ready } });
  assert.ok(wordsOf(third.effects).includes("deleteSmokeMachine"));
  assert.equal(third.saved.at(-1)?.history[0]?.phase, "Upgraded");
});

Deno.test("N-014 a machine of another architecture that does not become ready is removed, and the step fails", () => {
  const given = { ...there({ smoke: NO_NODE }), spec: SMOKE };
  const run = migrate({ ...given, nowMs: NOW_MS + 16 * MINUTE });
  assert.equal(run.effects.at(-1)?.kind, "deleteSmokeMachine");
  assert.match(run.end.kind === "failed" ? run.end.message : "", /within 15 minutes: no node yet/);
  assert.equal(run.saved.at(-1)?.history[0]?.phase, "Upgrading");
  const early = migrate({ ...given, nowMs: NOW_MS - 60 * MINUTE });
  assert.equal(early.end.kind, "finished", "N-030: a clock that was set back");
});

Deno.test("a machine of the control plane's own architecture proves nothing", () => {
  const ready = seen({ kind: "ready", node: "n1", architecture: "amd64" } as const);
  const run = migrate({ ...there({ smoke: ready }), spec: SMOKE });
  assert.match(run.end.kind === "failed" ? run.end.message : "", /n1 has the architecture of the control plane, amd64/);
});

Deno.test("the steps of a migration", () => {
  assert.deepEqual(UPGRADERS["multiarch-migration"].steps.map(({ id }) => id), [
    "StartedNotificationSent",
    "ClusterHealthyBeforeUpgrade",
    "ClusterHealthyBeforeUpgrade",
    "PayloadSupportsArchitectures",
    "BaselineRecorded",
    "ComputeCapacityReserved",
    "ControlPlaneMaintenanceWindowCreated",
    "UpgradeCommenced",
    "ControlPlaneUpgraded",
    "ControlPlaneMaintenanceWindowRemoved",
    "WorkersMaintenanceWindowCreated",
    "WorkerNodesUpgraded",
    "ComputeCapacityRemoved",
    "WorkersMaintenanceWindowRemoved",
    "ArchitectureVerified",
    "SecondaryArchitectureProven",
    "ClusterHealthyAfterUpgrade",
    "CompletedNotificationSent",
  ]);
});
