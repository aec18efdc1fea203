import assert from "node:assert/strict";
import { renderTime } from "../../../../lib/vocabulary/time.ts";
import { reconcile, type ReconcileInput, wantsReconcile } from "../../../../lib/upgrades/decide/reconcile.ts";
import type { ClusterVersion } from "../../../../lib/upgrades/decide/types/cluster.ts";
import type { HistoryEntry, UpgradeConfig } from "../../../../lib/upgrades/decide/types/plan.ts";
import { NO_ANSWER, type ReconcileRequest } from "../../../../lib/upgrades/decide/types/steps.ts";
import {
  answerTo,
  CAPACITY,
  commencedCluster,
  CONTROL_PLANE_SILENCE,
  drive,
  type Driver,
  failedCheck,
  FROM,
  makeCluster,
  makeConfig,
  makeHistory,
  makeInput,
  makeObservations,
  makePlan,
  makeSilence,
  makeStep,
  MINUTE,
  NOW,
  NOW_MS,
  type Observations,
  reconcileAbsent,
  reconcileOnce,
  seen,
  START_MS,
  TO,
  unseen,
  upgradedCluster,
  wordsOf,
} from "./make_plan.ts";

const GATED = makeConfig({ featureGate: { enabled: ["PreHealthCheck"] } });
const HOUR = 60 * MINUTE;

function planIn(phase: HistoryEntry["phase"], overrides: Partial<HistoryEntry> = {}): UpgradeConfig {
  return makePlan({}, { history: [makeHistory({ phase, startTime: undefined, ...overrides })] });
}

function phaseOf({ saved }: { readonly saved: readonly { readonly history: readonly HistoryEntry[] }[] }): unknown {
  return saved.at(-1)?.history[0]?.phase;
}

const HEALTH_FAILS = { health: seen([failedCheck("CriticalAlerts", "critical_alerts_firing")]) };

/** Nobody can be notified. */
const MUTE: Driver = { failing: ({ kind }) => kind === "notify" ? "no" : undefined };

const EVENTS: readonly (readonly [string, unknown, unknown, boolean])[] = [
  ["M-001 wantsReconcile() is false without the object from before", undefined, { status: {} }, false],
  ["M-002 wantsReconcile() is false without the object from after", { status: {} }, undefined, false],
  [
    "M-003 wantsReconcile() is true when the status is the same",
    { spec: 1, status: { a: 1 } },
    { status: { a: 1 } },
    true,
  ],
  ["M-004 wantsReconcile() is false for a change of the status", { status: { a: 1 } }, { status: { a: 2 } }, false],
];

for (const [name, before, after, wanted] of EVENTS) {
  Deno.test(name, () => assert.equal(wantsReconcile({ before, after }), wanted));
}

Deno.test("M-005 reconcile() resets the ephemeral metrics when there is no plan, and removes what an upgrade left", () => {
  const clean = reconcileAbsent();
  assert.deepEqual(wordsOf(clean.effects), ["clear ephemeral"]);
  assert.deepEqual(clean.end, { kind: "finished", requeueAfterMs: undefined });
  const observed: Partial<Observations> = {
    silences: seen([makeSilence("Silence for OSD worker node upgrade to version 4.17.2 with remaining 3 nodes")]),
    capacityLeft: seen({ kind: "present", message: "" }),
    smoke: seen({ kind: "waiting", sinceMs: 0, message: "" }),
  };
  const left = reconcileAbsent(observed);
  assert.deepEqual(wordsOf(left.effects), ["clear ephemeral", "endSilence", "releaseCapacity", "deleteSmokeMachine"]);
  assert.deepEqual(left.end, { kind: "finished", requeueAfterMs: MINUTE });
  assert.equal(reconcileAbsent({ silences: unseen() }).end.kind, "finished");
});

const UNREADABLE: readonly (readonly [string, Partial<ReconcileInput>, RegExp])[] = [
  ["M-006 reconcile() fails when the plan cannot be read", { plan: unseen() }, /UpgradeConfig: it is away/],
  ["M-008 reconcile() fails when the configuration is absent", { config: unseen("no ConfigMap") }, /no ConfigMap/],
  ["M-111 M-161 M-179 M-194 M-202 M-254 reconcile() fails when the ClusterVersion cannot be read", {
    clusterVersion: unseen(),
  }, /ClusterVersion: it is away/],
];

for (const [name, overrides, message] of UNREADABLE) {
  Deno.test(`${name}, and does nothing`, () => {
    const { end, requests } = drive(reconcile(makeInput({ plan: seen(planIn("Pending")), ...overrides })));
    assert.equal(end.kind, "failed");
    assert.match(end.kind === "failed" ? end.message : "", message);
    assert.deepEqual(requests, []);
  });
}

Deno.test("M-007 reconcile() goes on with a configuration that is there", () => {
  assert.equal(reconcileOnce({ plan: planIn("New") }).end.kind, "finished");
});

Deno.test("M-017 M-020 M-034 reconcile() fails with an invalid configuration, tells all its problems and keeps the phase", () => {
  for (const phase of ["New", "Pending", "Upgrading"] as const) {
    const problems = ["scale.timeOut must be above 0", "nodeDrain.timeOut must be above 0"];
    const run = drive(reconcile(makeInput({ plan: seen(planIn(phase)), config: { kind: "unparsable", problems } })));
    assert.equal(run.end.kind, "failed");
    assert.equal(phaseOf(run), phase);
    const [found] = run.saved[0]?.conditions ?? [];
    assert.deepEqual([found?.type, found?.status, found?.message], ["ConfigValid", "False", problems.join("; ")]);
    assert.deepEqual(run.effects, []);
  }
});

Deno.test("M-009 reconcile() takes an upgrade over that the ClusterVersion was asked for", () => {
  const { saved } = reconcileOnce({ plan: makePlan(), clusterVersion: commencedCluster() });
  const [entry] = saved[0]?.history ?? [];
  assert.deepEqual([entry?.phase, entry?.startTime, entry?.version], ["Upgrading", NOW, TO]);
});

Deno.test("M-011 reconcile() adds an entry for a new target in front of the others", () => {
  const old = makeHistory({ version: "4.17.0", phase: "Upgraded" });
  const { saved } = reconcileOnce({ plan: makePlan({}, { history: [old] }) });
  const entries = saved[0]?.history.map(({ version, phase }) => `${version} ${phase}`);
  assert.deepEqual(entries, [`${TO} New`, "4.17.0 Upgraded"]);
  assert.equal(saved[0]?.history[0]?.precedingVersion, FROM);
});

/** Rows about a status that cannot be written: the driver sees the fault, and the reconcile has done nothing since. */
const WRITES: readonly (readonly [string, UpgradeConfig, Partial<Observations>])[] = [
  ["M-010 a new entry", makePlan(), {}],
  ["M-019 the step to Pending", planIn("New"), {}],
  ["M-026 the step back to New", planIn("Pending"), { policy: seen({ kind: "changed" }) }],
  ["M-029 the step to Upgrading", planIn("Pending"), {}],
];

/** Answers what is requested before the status is to be written. */
function requestsUntilSave(
  run: ReturnType<typeof reconcile>,
  overrides: Partial<Observations> = {},
): readonly ReconcileRequest[] {
  const requests: ReconcileRequest[] = [];
  const answers = { observed: makeObservations(overrides), failing: () => undefined };
  let next = run.next();
  while (!next.done && next.value.kind !== "save") {
    requests.push(next.value);
    next = run.next(answerTo(next.value, answers));
  }
  assert.equal(next.done, false);
  return requests;
}

for (const [name, plan, observed] of WRITES) {
  Deno.test(`${name} that cannot be written ends the reconcile before anything else is done`, () => {
    const run = reconcile(makeInput({ plan: seen(plan) }));
    const requests = requestsUntilSave(run, observed);
    assert.throws(() => run.throw(new Error("conflict")), /conflict/);
    assert.equal(run.next(NO_ANSWER).done, true);
    const effects = requests.flatMap((request) => request.kind === "apply" ? request.effects : []);
    assert.deepEqual(effects.filter(({ kind }) => kind !== "setMetric"), []);
  });
}

Deno.test("M-032 a plan that waits has its findings written, and a fault of that ends the reconcile", () => {
  const run = reconcile(makeInput({ plan: seen(planIn("Pending")), nowMs: START_MS - HOUR }));
  assert.deepEqual(requestsUntilSave(run).map(({ kind }) => kind), ["apply"]);
  assert.throws(() => run.throw(new Error("conflict")), /conflict/);
});

const NEW: readonly (readonly [string, number, ReturnType<typeof makeConfig>, boolean])[] = [
  ["M-012 New, 5 hours to go, with the gate: the cluster is checked", 5 * HOUR, GATED, true],
  ["M-014 New, 5 hours to go, without the gate: it is not", 5 * HOUR, makeConfig(), false],
  ["M-015 New, 1 hour to go, with the gate: it is not", HOUR, GATED, false],
  ["M-016 New, 1 hour to go, without the gate: it is not", HOUR, makeConfig(), false],
];

for (const [name, aheadMs, config, isChecked] of NEW) {
  Deno.test(`${name}; the phase becomes Pending, and it is looked at again in a minute`, () => {
    const run = reconcileOnce({ plan: planIn("New"), config, nowMs: START_MS - aheadMs }, { observed: HEALTH_FAILS });
    assert.deepEqual(run.end, { kind: "finished", requeueAfterMs: MINUTE });
    assert.equal(phaseOf(run), "Pending");
    assert.equal(run.reads.includes("health"), isChecked);
    assert.equal(wordsOf(run.effects).includes("StatePreHealthCheckSL"), isChecked);
  });
}

Deno.test("M-013 New goes on to Pending when the health cannot be read, or nobody can be notified", () => {
  const options = { plan: planIn("New"), config: GATED, nowMs: START_MS - 5 * HOUR };
  const blind = reconcileOnce(options, { observed: { health: unseen() } });
  const mute = reconcileOnce(options, { observed: HEALTH_FAILS, ...MUTE });
  for (const run of [blind, mute]) assert.deepEqual([run.end.kind, phaseOf(run)], ["finished", "Pending"]);
  assert.deepEqual(mute.saved.at(-1)?.history[0]?.notifications, []);
});

Deno.test("M-018 New before its time becomes Pending", () => {
  assert.equal(phaseOf(reconcileOnce({ plan: planIn("New"), nowMs: START_MS - HOUR })), "Pending");
});

Deno.test("M-021 Pending with an invalid plan sets the gauge, says why, and is tried again", () => {
  const plan = makePlan({ upgradeAt: "tomorrow" }, { history: [makeHistory({ phase: "Pending" })] });
  const run = reconcileOnce({ plan });
  assert.deepEqual(wordsOf(run.effects), ["upgradeconfig_validation_failed=1"]);
  assert.match(run.end.kind === "failed" ? run.end.message : "", /upgradeAt "tomorrow" is not a time/);
  assert.equal(run.saved.at(-1)?.conditions.find(({ type }) => type === "Valid")?.status, "False");
});

Deno.test("M-022 Pending on a cluster that is there already attempts nothing, without an error", () => {
  const history = [makeHistory({ version: FROM, phase: "Pending" })];
  const plan = makePlan({ desired: { version: FROM } }, { history });
  const run = reconcileOnce({ plan });
  assert.equal(run.end.kind, "finished");
  assert.deepEqual(wordsOf(run.effects), ["upgradeconfig_validation_failed=0"]);
  assert.equal(run.saved.at(-1)?.conditions.find(({ type }) => type === "Valid")?.reason, "NothingToDo");
});

Deno.test("M-023 M-027 Pending fails when the policy source cannot be asked, and does not begin", () => {
  const run = reconcileOnce({ plan: planIn("Pending") }, { observed: { policy: unseen("503") } });
  const message = "Cannot ask the policy source: 503";
  assert.deepEqual(run.end, { kind: "failed", message, requeueAfterMs: undefined });
  assert.deepEqual([run.saved, wordsOf(run.effects)], [[], ["upgradeconfig_validation_failed=0"]]);
});

Deno.test("M-024 Pending that is ready becomes Upgrading, and its steps are run at once", () => {
  const run = reconcileOnce({ plan: planIn("Pending") });
  assert.deepEqual([run.saved[0]?.history[0]?.phase, run.saved[0]?.history[0]?.startTime], ["Upgrading", NOW]);
  assert.ok(wordsOf(run.effects).includes("patchClusterVersion"));
});

Deno.test("M-025 N-029 Pending goes back to New when the policy source has another plan or none, and begins nothing", () => {
  const run = reconcileOnce({ plan: planIn("Pending") }, { observed: { policy: seen({ kind: "changed" }) } });
  assert.deepEqual([run.end.kind, phaseOf(run)], ["finished", "New"]);
  assert.deepEqual(wordsOf(run.effects), ["upgradeconfig_validation_failed=0"]);
});

Deno.test("M-028 Pending begins without a policy source", () => {
  const run = reconcileOnce({ plan: planIn("Pending") }, { observed: { policy: seen({ kind: "notConfigured" }) } });
  assert.equal(phaseOf(run), "Upgrading");
});

Deno.test("M-030 Pending that begins and cannot go on says so and stays Upgrading", () => {
  const run = reconcileOnce({ plan: planIn("Pending") }, { observed: { silences: unseen("Alertmanager is away") } });
  assert.match(run.end.kind === "failed" ? run.end.message : "", /Alertmanager is away/);
  assert.equal(phaseOf(run), "Upgrading");
});

Deno.test("M-031 Pending before its time stays Pending and reads nothing", () => {
  const run = reconcileOnce({ plan: planIn("Pending"), nowMs: START_MS - HOUR });
  assert.deepEqual([run.end, phaseOf(run), run.reads], [
    { kind: "finished", requeueAfterMs: undefined },
    "Pending",
    [],
  ]);
});

Deno.test("M-033 Pending with three minutes to go is looked at again exactly then", () => {
  const run = reconcileOnce({ plan: planIn("Pending"), nowMs: START_MS - 3 * MINUTE });
  assert.deepEqual(run.end, { kind: "finished", requeueAfterMs: 3 * MINUTE });
});

Deno.test("M-035 Upgrading runs the steps and is looked at again in a minute", () => {
  const run = reconcileOnce({ plan: planIn("Upgrading", { startTime: renderTime(NOW_MS) }) });
  assert.deepEqual(run.end, { kind: "finished", requeueAfterMs: MINUTE });
  assert.ok(wordsOf(run.effects).includes("StateStarted"));
});

Deno.test("M-036 Upgrading that fails in a step says so, and what was done before is written", () => {
  const plan = planIn("Upgrading", { startTime: renderTime(NOW_MS) });
  const run = reconcileOnce({ plan }, { observed: { silences: unseen() } });
  assert.equal(run.end.kind, "failed");
  assert.deepEqual(run.saved.at(-1)?.history[0]?.notifications.map(({ state }) => state), ["StateStarted"]);
});

const UPGRADED = { phase: "Upgraded", startTime: renderTime(NOW_MS), completeTime: renderTime(NOW_MS + HOUR) } as const;
const RESULTS: readonly (readonly [string, string, string, string])[] = [
  ["M-038 an update of the minor version", "4.14.0", "4.15.0", "y"],
  ["M-039 an update of the patch version", "4.15.1", "4.15.2", "z"],
  ["a version that is none", "4.15.1", "next", "unknown"],
];

for (const [name, precedingVersion, version, stream] of RESULTS) {
  Deno.test(`${name} is reported as stream ${stream}`, () => {
    const history = [makeHistory({ ...UPGRADED, version, precedingVersion })];
    const plan = makePlan({ desired: { version } }, { history });
    const [effect] = reconcileOnce({ plan }).effects;
    assert.deepEqual(effect, {
      kind: "setMetric",
      metric: "upgradeoperator_upgrade_result",
      labels: { preceding_version: precedingVersion, stream, version, alerts: "" },
      value: 1,
    });
  });
}

Deno.test("M-037 Upgraded reports the alerts between its start and its end", () => {
  const observed: Partial<Observations> = { alertsDuring: seen(["A", "B"]) };
  const { effects, reads } = reconcileOnce({ plan: planIn("Upgraded", UPGRADED) }, { observed });
  assert.deepEqual(reads, ["alertsDuring"]);
  assert.deepEqual(
    effects.map((effect) => effect.kind === "setMetric" ? [effect.labels["alerts"], effect.value] : [effect.kind]),
    [["A,B", 0], ["clearMetric"]],
  );
});

Deno.test("Upgraded waits for no notification any more, also while the alerts cannot be read", () => {
  for (const alertsDuring of [seen([]), unseen()]) {
    const run = reconcileOnce({ plan: planIn("Upgraded", UPGRADED) }, { observed: { alertsDuring } });
    assert.equal(wordsOf(run.effects).at(-1), "clear upgrade_notification_failed");
  }
});

for (const [row, phase] of [["M-040", "Failed"], ["M-041", "Unknown"]] as const) {
  Deno.test(`${row} ${phase} does nothing`, () => {
    const run = reconcileOnce({ plan: planIn(phase) });
    assert.deepEqual([run.end.kind, run.requests], ["finished", []]);
  });
}

const TOO_LATE_MS = START_MS + 121 * MINUTE;

Deno.test("N-018 a plan whose time is over before it is ready fails without touching the ClusterVersion", () => {
  const run = reconcileOnce({ plan: planIn("Pending"), nowMs: TOO_LATE_MS });
  assert.deepEqual(wordsOf(run.effects), [
    "upgradeconfig_validation_failed=0",
    "StateFailed",
    "upgrade_window_breached=1",
    "clear failure",
  ]);
  const [entry] = run.saved.at(-1)?.history ?? [];
  assert.equal(entry?.phase, "Failed");
  assert.match(entry?.conditions[0]?.message ?? "", /did not begin within/);
});

Deno.test("an upgrade that did not begin in time removes what it prepared before it fails; one that began goes on", () => {
  const conditions = ["ComputeCapacityReserved", "ControlPlaneMaintenanceWindowCreated"].map((type) =>
    makeStep(type, { status: "False" })
  );
  const plan = makePlan({ capacity: CAPACITY }, { history: [makeHistory({ conditions })] });
  const observed: Partial<Observations> = { capacityLeft: seen({ kind: "present", message: "" }) };
  const removing = reconcileOnce({ plan, nowMs: TOO_LATE_MS }, { observed });
  assert.deepEqual([wordsOf(removing.effects), removing.saved], [["releaseCapacity"], []]);
  const removed = reconcileOnce({ plan, nowMs: TOO_LATE_MS });
  assert.equal(phaseOf(removed), "Failed");
  const mute = reconcileOnce({ plan, nowMs: TOO_LATE_MS }, MUTE);
  assert.deepEqual([mute.end.kind, mute.saved], ["failed", []]);
  const begun = reconcileOnce({ plan, clusterVersion: commencedCluster(), nowMs: TOO_LATE_MS });
  assert.equal(phaseOf(begun), "Upgrading");
  const aro = makePlan({ type: "ARO" }, { history: [makeHistory()] });
  assert.equal(phaseOf(reconcileOnce({ plan: aro, nowMs: TOO_LATE_MS })), "Upgrading");
});

Deno.test("a plan that is postponed before the update was requested waits again, and begins at its new time", () => {
  const upgradeAt = "2026-03-02T02:00:00Z";
  const conditions = [makeStep("ComputeCapacityReserved")];
  for (const type of ["OSD", "ARO"] as const) {
    const plan = makePlan({ type, upgradeAt, capacity: CAPACITY }, { history: [makeHistory({ conditions })] });
    const run = reconcileOnce({ plan });
    const [entry] = run.saved.at(-1)?.history ?? [];
    assert.deepEqual([run.effects, run.reads, entry?.phase, entry?.startTime], [[], [], "Pending", undefined]);
    assert.equal(phaseOf(reconcileOnce({ plan, clusterVersion: commencedCluster() })), "Upgrading");
    const due = reconcileOnce({ plan: { ...plan, status: run.saved.at(-1) ?? plan.status }, nowMs: NOW_MS + 6 * HOUR });
    assert.equal(wordsOf(due.effects).includes("patchClusterVersion"), true);
  }
});

const ASKED = makeStep("UpgradeCommenced");

Deno.test("an upgrade that did not begin in time reports what it waited for", () => {
  const message = "UpgradeCommenced still in progress: version 4.17.2 is not among the updates";
  const plan = planIn("Upgrading", { conditions: [{ ...ASKED, status: "False", message }] });
  const [entry] = reconcileOnce({ plan, nowMs: TOO_LATE_MS }).saved.at(-1)?.history ?? [];
  assert.equal(
    entry?.conditions[0]?.message,
    `The upgrade did not begin within upgradeWindow.timeOut after spec.upgradeAt: ${message}`,
  );
});

const TAKEN_OVER: readonly (readonly [string, Partial<ClusterVersion>, RegExp])[] = [
  ["asked for another version", {
    desiredUpdate: { version: "4.17.9", image: "", architecture: "" },
  }, /Another has taken over: the ClusterVersion is asked for 4\.17\.9 since\.$/],
  ["asked for another image", {
    desiredUpdate: { version: "", image: "quay.io/a/b@sha256:9", architecture: "" },
  }, /is asked for quay\.io\/a\/b@sha256:9 since/],
  ["asked for nothing any more, before it moved", {}, /its request to the ClusterVersion was taken back/],
];

for (const [name, clusterVersion, message] of TAKEN_OVER) {
  Deno.test(`an upgrade whose ClusterVersion is ${name} asks no second time, clears up and has failed with that`, () => {
    const conditions = [ASKED, { ...ASKED, type: "ComputeCapacityReserved" }];
    for (const type of ["OSD", "ARO"] as const) {
      const plan = makePlan({ type, capacity: CAPACITY }, { history: [makeHistory({ conditions })] });
      const observed: Partial<Observations> = { capacityLeft: seen({ kind: "present", message: "" }) };
      const options = { plan, clusterVersion: makeCluster(clusterVersion) };
      assert.deepEqual(wordsOf(reconcileOnce(options, { observed }).effects), ["releaseCapacity"]);
      const run = reconcileOnce(options);
      assert.deepEqual(wordsOf(run.effects), ["StateFailed", "clear failure"]);
      const [notice] = run.effects.flatMap((effect) => effect.kind === "notify" ? [effect.notification] : []);
      assert.doesNotMatch(notice?.description ?? "", /did not begin|Nothing was upgraded/);
      const [entry] = run.saved.at(-1)?.history ?? [];
      assert.equal(entry?.phase, "Failed");
      assert.match(entry?.conditions[0]?.message ?? "", message);
    }
  });
}

const BY_IMAGE = { version: "", image: upgradedCluster().desired.image, architecture: "" };
const FOLLOWED: readonly (readonly [string, ClusterVersion])[] = [
  ["is not asked any more, but has accepted the release", upgradedCluster({ desiredUpdate: undefined })],
  ["is asked for the same release by its image", upgradedCluster({ desiredUpdate: BY_IMAGE })],
];

for (const [name, clusterVersion] of FOLLOWED) {
  Deno.test(`an upgrade whose ClusterVersion ${name} goes on to its end, and asks nothing`, () => {
    const run = reconcileOnce({ plan: planIn("Upgrading", { conditions: [ASKED] }), clusterVersion });
    const [entry] = run.saved.at(-1)?.history ?? [];
    assert.deepEqual([entry?.phase, entry?.completeTime], ["Upgraded", NOW]);
    assert.equal(wordsOf(run.effects).includes("patchClusterVersion"), false);
  });
}

Deno.test("a suspended plan does nothing before it began, reports it, and goes on when it is resumed", () => {
  for (const phase of ["New", "Pending", "Upgrading"] as const) {
    const plan = makePlan({ suspend: true }, { history: [makeHistory({ phase })] });
    const run = reconcileOnce({ plan });
    assert.deepEqual([run.effects, run.reads, phaseOf(run)], [[], [], phase]);
    const status = run.saved.at(-1);
    assert.ok(status?.conditions.some(({ type, status: value }) => type === "Suspended" && value === "True"));
    const resumed = reconcileOnce({ plan: makePlan({}, status) });
    assert.equal(resumed.saved.at(-1)?.conditions.some(({ type }) => type === "Suspended"), false);
  }
  const plan = makePlan({ suspend: true }, { history: [makeHistory()] });
  const begun = reconcileOnce({ plan, clusterVersion: upgradedCluster() });
  assert.equal(phaseOf(begun), "Upgraded");
});

Deno.test("a plan that names only an image gets its version from it, unless it is suspended", () => {
  const desired = { version: "", channel: "", image: `quay.io/a/b@sha256:${"2".repeat(64)}` };
  const payload = seen({ image: desired.image, version: TO, isIndex: true, architectures: ["amd64"] });
  const observed: Partial<Observations> = { payload };
  const adopted = reconcileOnce({ plan: makePlan({ desired }) }, { observed });
  assert.deepEqual(adopted.effects, [{ kind: "setDesiredVersion", version: TO }]);
  assert.deepEqual([adopted.end.kind, adopted.saved], ["finished", []]);
  const suspended = reconcileOnce({ plan: makePlan({ desired, suspend: true }) }, { observed });
  assert.deepEqual([suspended.effects, suspended.reads, suspended.saved.at(-1)?.history], [[], [], []]);
  const broken = reconcileOnce({ plan: makePlan({ desired }) }, { observed: { payload: unseen("401") } });
  assert.match(broken.end.kind === "failed" ? broken.end.message : "", /401/);
  assert.deepEqual(broken.saved.at(-1)?.history, []);
});

Deno.test("a plan that names another target clears up after the one before, which has failed", () => {
  const conditions = [makeStep("ControlPlaneMaintenanceWindowCreated")];
  const old = makeHistory({ version: "4.17.0", conditions });
  const observed: Partial<Observations> = { silences: seen([makeSilence(`${CONTROL_PLANE_SILENCE}4.17.0`)]) };
  const run = reconcileOnce({ plan: makePlan({}, { history: [old] }), nowMs: START_MS - HOUR }, { observed });
  assert.deepEqual(wordsOf(run.effects), ["endSilence"]);
  assert.deepEqual(run.saved.at(-1)?.history.map(({ phase }) => phase), ["Pending", "Failed"]);
});

Deno.test("the status reports what drain.mode does, and that it has no effect where settings or rights do not let it", () => {
  const said = (more: Partial<ReconcileInput> = {}) => {
    const { saved } = drive(reconcile(makeInput({ plan: seen(makePlan({ drainMode: "Delete" })), ...more })));
    const found = saved[0]?.conditions.find(({ type }) => type === "DrainMode");
    return [found?.status, found?.reason];
  };
  assert.deepEqual(said(), ["True", "Delete"]);
  assert.deepEqual(said({ isDrainForbidden: true }), ["False", "Forbidden"]);
  const disabled = makeConfig({ nodeDrain: { disableDrainStrategies: true } });
  const config = { kind: "parsed", config: disabled, warnings: [] } as const;
  assert.deepEqual(said({ config }), ["False", "DrainStrategiesDisabled"]);
});
