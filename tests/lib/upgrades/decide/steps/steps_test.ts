import assert from "node:assert/strict";
import { renderTime } from "../../../../../lib/vocabulary/time.ts";
import { CHECK_HEALTH_AFTER, POST_UPGRADE, SEND_COMPLETED } from "../../../../../lib/upgrades/decide/steps/after.ts";
import {
  CHECK_DELAY,
  CHECK_DEPENDENCIES,
  CHECK_HEALTH,
  CHECK_UPGRADEABLE,
  RESERVE_CAPACITY,
  SEND_STARTED,
} from "../../../../../lib/upgrades/decide/steps/before.ts";
import {
  AWAIT_CONTROL_PLANE,
  CLOSE_CONTROL_PLANE_WINDOW,
  COMMENCE,
  OPEN_CONTROL_PLANE_WINDOW,
} from "../../../../../lib/upgrades/decide/steps/control_plane.ts";
import {
  AWAIT_WORKERS,
  CLOSE_WORKER_WINDOW,
  OPEN_WORKER_WINDOW,
  RELEASE_CAPACITY,
} from "../../../../../lib/upgrades/decide/steps/workers.ts";
import { UPGRADERS } from "../../../../../lib/upgrades/decide/steps/upgraders.ts";
import type { MachineConfigPool } from "../../../../../lib/vocabulary/machines.ts";
import type { Silence } from "../../../../../lib/upgrades/decide/types/cluster.ts";
import type { Effect } from "../../../../../lib/upgrades/decide/types/effects.ts";
import type { HistoryEntry } from "../../../../../lib/upgrades/decide/types/plan.ts";
import type { Step, StepResult } from "../../../../../lib/upgrades/decide/types/steps.ts";
import {
  CAPACITY,
  commencedCluster,
  condition,
  CONTROL_PLANE_SILENCE,
  decideStep,
  failedCheck,
  makeCluster,
  makeConfig,
  makeHistory,
  makePlan,
  makePool,
  makeSilence,
  makeStep,
  MINUTE,
  NOW_MS,
  type Observations,
  reconcileOnce,
  type Seen,
  seen,
  TO,
  UNDER_WAY,
  unseen,
  upgradedCluster,
  wordsOf,
} from "../make_plan.ts";

/** `done: StateStarted`, `wait (3 nodes are left)`, `fail (…)`. */
function wordOf(result: StepResult): string {
  const words = wordsOf(result.effects).join(" ");
  const why = result.kind === "done" ? "" : ` (${result.message})`;
  return `${result.kind}${words === "" ? "" : `: ${words}`}${why}`;
}

function notified(...states: readonly HistoryEntry["notifications"][number]["state"][]): Partial<HistoryEntry> {
  return { notifications: states.map((state) => ({ state, sentTime: renderTime(1) })) };
}

function completed(type: string): Partial<HistoryEntry> {
  return { conditions: [makeStep(type, { completeTime: renderTime(1) })] };
}

const ASKED: Seen = { clusterVersion: commencedCluster() };
const THERE: Seen = { clusterVersion: upgradedCluster() };
const BEYOND: Seen = { spec: { desired: { version: "4.17.9" } } };
const HOUR_AGO: Seen = { history: { startTime: renderTime(NOW_MS - 60 * MINUTE) } };
const Y: Seen = { spec: { desired: { version: "4.18.0" } } };
const NOT_UPGRADEABLE = makeCluster({ conditions: [condition("Upgradeable", "False", "remove the old API")] });
const UPGRADEABLE = makeCluster({ conditions: [condition("Upgradeable", "True")] });
const URLS = makeConfig({ extDependencyAvailabilityChecks: { http: { urls: ["https://a.example.com"] } } });
const RESERVED: Seen = { spec: { capacity: CAPACITY } };
const PAUSED = makePool("infra", { isPaused: true, updatedMachineCount: 0 });
const TIMED_OUT = seen({ kind: "timedOut", message: "30 minutes" } as const);
const UPDATING = [makePool("master"), makePool("worker", { updatedMachineCount: 1 })];
const CONTROL_PLANE = CONTROL_PLANE_SILENCE + TO;
const WORKERS = `Silence for OSD worker node upgrade to version ${TO} with remaining `;
const REGULATED = makeConfig({ environment: { fedramp: true } });
const LATE: Seen = { nowMs: NOW_MS + 91 * MINUTE };

const sees = (observed: Partial<Observations>): Seen => ({ observed });
const rolling = (...pools: readonly MachineConfigPool[]): Seen => sees({ pools: seen(pools) });
const asked = (pools: Observations["pools"]): Seen => ({ ...ASKED, observed: { pools } });
const GOING = sees({ pools: seen(UPDATING) });
const silenced = (state?: Silence["state"]): Seen =>
  sees({ pools: seen(UPDATING), silences: seen([makeSilence(`${WORKERS}2 nodes`, state)]) });
const BOTH_SILENCED = sees({ silences: seen([makeSilence(CONTROL_PLANE), makeSilence(`${WORKERS}2 nodes`)]) });
const DEGRADED = failedCheck("ClusterOperators", "cluster_operators_degraded");
const ILL = { ...DEGRADED, message: "etcd is degraded", reasons: {} };
const services = (...missing: readonly string[]): Seen => ({
  config: URLS,
  observed: { dependencies: seen(missing) },
});
const reserved = (capacity: Observations["capacity"]): Seen => ({ ...RESERVED, observed: { capacity } });

const ROWS: readonly (readonly [Step, readonly (readonly [string, Seen, RegExp])[]])[] = [
  [SEND_STARTED, [
    ["M-160 start, already asked", ASKED, /^done$/],
    ["M-162 start", {}, /^done: StateStarted$/],
    ["start that was sent", { history: notified("StateStarted") }, /^done$/],
  ]],
  [SEND_COMPLETED, [["M-164 end", {}, /^done: StateCompleted$/]]],
  [RESERVE_CAPACITY, [
    ["M-165 no capacity, already asked", { ...RESERVED, ...ASKED }, /^done$/],
    ["M-178 capacity, already asked", { ...RESERVED, ...ASKED, observed: { capacity: unseen() } }, /^done$/],
    ["M-180 capacity that is impossible", reserved(seen({ kind: "impossible" })), /^done: StateScaleSkipped$/],
    ["M-181 capacity that is ready", RESERVED, /^done: scaling_failed=0$/],
    ["M-182 capacity that is late", reserved(TIMED_OUT), /^done: scaling_failed=1 StateSkipped$/],
    ["capacity that is late, where that is a reason to stop", {
      spec: { capacity: { ...CAPACITY, onTimeout: "Fail" } },
      observed: { capacity: TIMED_OUT },
    }, /^fail: scaling_failed=1 \(30 minutes\)$/],
    ["M-184 M-185 capacity that is not wanted", sees({ capacity: unseen() }), /^done$/],
    [
      "M-186 capacity of other pools",
      reserved(seen({ kind: "missing", machineSets: ["gpu"] })),
      /^wait: reserveCapacity \(cloning gpu\)$/,
    ],
    ["capacity on its way", reserved(seen({ kind: "waiting", message: "1 of 2 ready" })), /^wait \(1 of 2 ready\)$/],
    ["M-271 M-272 M-281 M-286 capacity that cannot be read", reserved(unseen()), /^fail/],
  ]],
  [CHECK_DELAY, [
    ["M-167 delay, started an hour ago, switched off", {
      ...HOUR_AGO,
      config: makeConfig({ upgradeWindow: { delayTrigger: 0 } }),
    }, /^done$/],
    ["M-168 delay, started an hour ago", HOUR_AGO, /^done: StateDelayed$/],
    ["delay that was sent", { history: { ...HOUR_AGO.history, ...notified("StateDelayed") } }, /^done$/],
    ["M-170 delay, started now", {}, /^done$/],
    ["M-171 delay, already asked", { ...HOUR_AGO, ...ASKED }, /^done$/],
    ["delay without a start", { history: { startTime: undefined } }, /^wait/],
  ]],
  [CHECK_UPGRADEABLE, [
    [
      "M-172 a minor version on a cluster that is not upgradeable",
      { ...Y, clusterVersion: NOT_UPGRADEABLE },
      /^fail \(.*4\.18\.0 as planned for 2026-03-01T20:00:00Z: .*Because: remove the old API\)$/,
    ],
    ["a patch version on a cluster that is not upgradeable", { clusterVersion: NOT_UPGRADEABLE }, /^done$/],
    ["M-173 an upgradeable cluster", { ...Y, clusterVersion: UPGRADEABLE }, /^done$/],
    [
      "a major version, although the cluster says no",
      { spec: { desired: { version: "5.0.0" } }, clusterVersion: NOT_UPGRADEABLE },
      /^fail \(The cluster cannot be upgraded to 5\.0\.0/,
    ],
    ["M-174 a cluster that says nothing about it", Y, /^done$/],
    [
      "a version that cannot be compared",
      { spec: { desired: { version: "next" } }, clusterVersion: NOT_UPGRADEABLE },
      /^fail \(Cannot compare version "next"/,
    ],
  ]],
  [CHECK_HEALTH, [
    ["M-253 health, already asked", { ...ASKED, observed: { health: unseen() } }, /^done$/],
    ["health that cannot be read", sees({ health: unseen() }), /^fail \(Cannot read the health/],
  ]],
  [CHECK_DEPENDENCIES, [
    ["M-175 all services answer", services(), /^done$/],
    [
      "M-176 a service does not answer",
      services("https://a.example.com (503)"),
      /^fail \(Not available: https:\/\/a\.example\.com \(503\)\)$/,
    ],
    ["M-177 services, already asked", { ...ASKED, config: URLS, observed: { dependencies: unseen() } }, /^done$/],
    ["services that cannot be read", sees({ dependencies: unseen() }), /^fail \(Cannot read the services/],
  ]],
  [OPEN_CONTROL_PLANE_WINDOW, [
    ["M-188 the window of the control plane opens", {}, /^done: createSilence$/],
    ["M-188 silences that cannot be read fail it", sees({ silences: unseen("500") }), /^fail \(.*500\)$/],
    ["a window is not opened again by an upgrade that has begun", {
      ...ASKED,
      history: completed("ControlPlaneMaintenanceWindowCreated"),
      observed: { silences: unseen() },
    }, /^done$/],
  ]],
  [CLOSE_CONTROL_PLANE_WINDOW, [["M-188 the window of the control plane closes", BOTH_SILENCED, /^done: endSilence$/]]],
  [COMMENCE, [
    [
      "M-200 asking the cluster",
      {},
      /^done: upgrade_window_breached=0 StateControlPlaneStartedSL patchClusterVersion$/,
    ],
    ["M-201 asking once", ASKED, /^done$/],
    [
      "asking in another channel",
      { spec: { desired: { channel: "fast-4.17" } } },
      /^wait: .*patchClusterVersion \(channel fast-4\.17 is set/,
    ],
    ["asking for what is not offered", BEYOND, /^wait \(version 4\.17\.9 is not among/],
  ]],
  [AWAIT_CONTROL_PLANE, [
    ["M-196 the control plane is done", THERE, /^done: StateControlPlaneFinishedSL controlplane_timeout=0$/],
    ["M-197 the control plane is late", { ...ASKED, ...LATE }, /^wait: controlplane_timeout=1 \(/],
    ["M-198 the control plane is in time", ASKED, /^wait \(the control plane is being upgraded\)$/],
    [
      "the control plane waits for its nodes: their pool is named, with its trouble",
      asked(seen([
        makePool("worker", { updatedMachineCount: 1 }),
        makePool("master", { updatedMachineCount: 1, isUpdated: false, isDegraded: true, degradedMessage: "m-2" }),
      ])),
      /^wait \(the control plane is being upgraded; MachineConfigPool master: 1 of 3 nodes updated; .* degraded \(m-2\)\)$/,
    ],
    [
      "the control plane is held up by a degraded pool of workers too: it is named, one that only rolls is not",
      asked(seen([
        makePool("infra", { updatedMachineCount: 1, isUpdated: false }),
        makePool("worker", { isDegraded: true, degradedMessage: "w-1: disk full" }),
      ])),
      /^wait \(the control plane is being upgraded; MachineConfigPool worker is degraded \(w-1: disk full\)\)$/,
    ],
    ["pools that cannot be read: it is waited for", asked(unseen()), /^wait \(the control plane is being upgraded\)$/],
  ]],
  [OPEN_WORKER_WINDOW, [
    ["M-189 the window of workers that are left", GOING, /^done: createSilence$/],
    ["M-189 it fails when silences cannot be read", sees({ pools: seen(UPDATING), silences: unseen() }), /^fail/],
    ["M-190 no workers are left", sees({ silences: unseen() }), /^done$/],
    ["M-191 the pools cannot be read", sees({ pools: unseen() }), /^fail \(Cannot read the MachineConfigPools/],
    ["M-192 the workers are done already", { ...GOING, history: completed("WorkerNodesUpgraded") }, /^done$/],
  ]],
  [CLOSE_WORKER_WINDOW, [
    ["M-193 the window of the workers closes", BOTH_SILENCED, /^done: endSilence$/],
    ["M-193 it fails when silences cannot be read", sees({ silences: unseen() }), /^fail/],
  ]],
  [AWAIT_WORKERS, [
    ["M-203 M-340 workers, the pools cannot be read", sees({ pools: unseen() }), /^fail/],
    ["M-204 workers, silences cannot be read", sees({ pools: seen(UPDATING), silences: unseen() }), /^fail/],
    ["M-205 the workers are done", {}, /^done: StateWorkerPlaneFinishedSL worker_timeout=0$/],
    ["M-206 workers on their way, silenced", silenced(), /^wait: worker_timeout=0 \(2 nodes are left\)$/],
    ["M-207 workers on their way, not silenced", silenced("expired"), /^wait: worker_timeout=1 \(2 nodes are left\)$/],
    [
      "a node fails: it is named, with why",
      sees({
        pools: seen([
          makePool("worker", { updatedMachineCount: 2, isDegraded: true, degradedMessage: "Node w-2: disk full" }),
        ]),
        notReadyNodes: seen([{ name: "w-3", message: "Kubelet stopped posting node status." }]),
      }),
      /\(1 nodes are left; MachineConfigPool worker is degraded \(Node w-2: disk full\); node w-3 is not Ready \(Kubelet/,
    ],
    [
      "N-024 nodes of another pool are on their way",
      rolling(makePool("worker"), makePool("infra", { updatedMachineCount: 2 })),
      /^wait: .* \(1 nodes are left\)$/,
    ],
    [
      "a pool whose counts are those of the configuration before is waited for until it is Updated",
      rolling(makePool("master"), makePool("worker", { isUpdated: false })),
      /^wait: worker_timeout=1 \(not Updated: MachineConfigPools worker\)$/,
    ],
    ["nodes of a paused pool are not waited for", rolling(PAUSED), /^done/],
  ]],
  [RELEASE_CAPACITY, [
    ["M-184 M-185 removal of capacity that was not wanted", sees({ capacityLeft: unseen() }), /^done$/],
    ["M-187 removal of capacity", {
      ...RESERVED,
      observed: { capacityLeft: seen({ kind: "present", message: "2 machines" }) },
    }, /^wait: releaseCapacity \(2 machines\)$/],
    [
      "capacity that the plan does without since is removed all the same",
      sees({ capacityLeft: seen({ kind: "present", message: "1 machine" }) }),
      /^wait: releaseCapacity \(1 machine\)$/,
    ],
    ["nothing is left of capacity", RESERVED, /^done: clear node_drain_timeout$/],
    ["M-294 a node of temporary capacity that is not drained", {
      ...RESERVED,
      observed: { capacityLeft: seen({ kind: "drainTimedOut", node: "n1", message: "n1 is late" }) },
    }, /^fail: node_drain_timeout=1 releaseCapacity \(n1 is late\)$/],
  ]],
  [CHECK_HEALTH_AFTER, [
    ["M-255 the cluster is healthy afterwards", {}, /^done: clear node_drain_timeout$/],
    ["M-256 the cluster is not healthy afterwards", sees({ healthAfter: seen([ILL]) }), /^wait \(etcd is degraded\)$/],
    ["a problem afterwards has its gauge", sees({ healthAfter: seen([DEGRADED]) }), /^wait: healthcheck_failed=1 \(/],
  ]],
  [POST_UPGRADE, [
    ["M-209 a regulated environment", { config: REGULATED }, /^done: annotateFileIntegrity$/],
    ["M-210 any other environment", {}, /^done$/],
    ["a step that was done does nothing again", { config: REGULATED, history: completed(POST_UPGRADE.id) }, /^done$/],
  ]],
];

for (const [step, rows] of ROWS) {
  for (const [name, given, expected] of rows) {
    Deno.test(`${name}: ${expected.source.replaceAll(/[$^\\]/g, "")}`, () => {
      assert.match(wordOf(decideStep(step, given)), expected);
    });
  }
}

/** Rows about a notification that cannot be sent: the step has failed with it, and nothing behind it was done. */
const MUTE: readonly (readonly [string, string, Seen])[] = [
  ["M-163 the start", "StateStarted", {}],
  ["M-169 a delay", "StateDelayed", { nowMs: NOW_MS + 60 * MINUTE }],
  ["M-199 asking the cluster", "StateControlPlaneStartedSL", {}],
  ["M-195 a control plane that is done", "StateControlPlaneFinishedSL", THERE],
  ["M-208 workers that are done", "StateWorkerPlaneFinishedSL", THERE],
  ["M-164 the end", "StateCompleted", THERE],
];

for (const [name, state, { clusterVersion = makeCluster(), nowMs = NOW_MS }] of MUTE) {
  Deno.test(`${name} that cannot be sent fails the step, and is sent when it can be`, () => {
    const run = reconcileOnce({ plan: UNDER_WAY, clusterVersion, nowMs }, {
      failing: (effect) => effect.kind === "notify" && effect.notification.state === state ? "no sink" : undefined,
    });
    assert.equal(run.end.kind === "failed" ? run.end.message : "", "no sink");
    const status = run.saved.at(-1);
    assert.equal(status?.history[0]?.conditions[0]?.message, "no sink");
    assert.equal(status?.history[0]?.phase, "Upgrading");
    assert.equal(wordsOf(run.effects).includes("patchClusterVersion"), false);
    const again = reconcileOnce({ plan: makePlan({}, status), clusterVersion, nowMs });
    assert.ok(wordsOf(again.effects).includes(state));
  });
}

Deno.test("M-199 a ClusterVersion that cannot be written fails the step; what was sent is not sent again", () => {
  const run = reconcileOnce({ plan: UNDER_WAY }, {
    failing: ({ kind }) => kind === "patchClusterVersion" ? "conflict" : undefined,
  });
  assert.equal(run.end.kind === "failed" ? run.end.message : "", "conflict");
  const again = reconcileOnce({ plan: makePlan({}, run.saved.at(-1)) });
  assert.deepEqual(wordsOf(again.effects).filter((word) => word.startsWith("State")), []);
  assert.ok(wordsOf(again.effects).includes("patchClusterVersion"));
});

Deno.test("M-166 the notice that there is no capacity may fail to be sent: it is not recorded, and the upgrade goes on", () => {
  const plan = makePlan({ capacity: CAPACITY }, { history: [makeHistory()] });
  const run = reconcileOnce({ plan }, {
    observed: { capacity: seen({ kind: "impossible" }) },
    failing: (effect) =>
      effect.kind === "notify" && effect.notification.state === "StateScaleSkipped" ? "no" : undefined,
  });
  assert.ok(wordsOf(run.effects).includes("patchClusterVersion"));
  const states = run.saved.at(-1)?.history[0]?.notifications.map(({ state }) => state);
  assert.equal(states?.includes("StateScaleSkipped"), false);
});

Deno.test("M-275 M-290 clones that cannot be made or removed fail the step with why", () => {
  const plan = makePlan({ capacity: CAPACITY }, { history: [makeHistory()] });
  const missing: Partial<Observations> = { capacity: seen({ kind: "missing", machineSets: ["worker"] }) };
  const left: Partial<Observations> = { capacityLeft: seen({ kind: "present", message: "1 machine" }) };
  const failing = ({ kind }: Effect): string | undefined => /Capacity$/.test(kind) ? "quota" : undefined;
  const making = reconcileOnce({ plan }, { observed: missing, failing });
  const removing = reconcileOnce({ plan, clusterVersion: upgradedCluster() }, { observed: left, failing });
  for (const { end, saved } of [making, removing]) {
    assert.equal(end.kind === "failed" ? end.message : "", "quota");
    assert.equal(saved.at(-1)?.history[0]?.conditions[0]?.message, "quota");
  }
});

Deno.test("the window of the workers is as long as their drains may take, and is read again before it is judged", () => {
  const observed: Partial<Observations> = { pools: seen(UPDATING) };
  const run = reconcileOnce({ plan: UNDER_WAY, clusterVersion: upgradedCluster() }, { observed });
  const [created] = run.effects.flatMap((effect) => effect.kind === "createSilence" ? [effect.silence] : []);
  assert.deepEqual(created, {
    comment: `${WORKERS}2 nodes`,
    matchers: [
      { name: "severity", pattern: "(warning|info)" },
      { name: "namespace", pattern: "(^openshift.*|^kube.*|^redhat.*|^default$)" },
    ],
    endsAtMs: NOW_MS + 2 * (60 + 8) * MINUTE,
  });
  assert.equal(run.reads.filter((name) => name === "silences").length, 2, "before the window, and behind it");
});

Deno.test("the times of the workers are stamped once: when nodes are on their way, and when none is", () => {
  const clusterVersion = upgradedCluster();
  const going = { observed: { pools: seen(UPDATING) } };
  const first = reconcileOnce({ plan: UNDER_WAY, clusterVersion }, going);
  const plan = makePlan({}, first.saved.at(-1));
  const second = reconcileOnce({ plan, clusterVersion, nowMs: NOW_MS + MINUTE }, going);
  const last = reconcileOnce({ plan: makePlan({}, second.saved.at(-1)), clusterVersion, nowMs: NOW_MS + 2 * MINUTE });
  const [entry] = last.saved.at(-1)?.history ?? [];
  assert.deepEqual([entry?.workerStartTime, entry?.workerCompleteTime], [NOW_MS, NOW_MS + 2 * MINUTE].map(renderTime));
});

Deno.test("pools that are paused are reported when the others are done", () => {
  const observed: Partial<Observations> = { pools: seen([makePool("worker"), PAUSED]) };
  const run = reconcileOnce({ plan: UNDER_WAY, clusterVersion: upgradedCluster() }, { observed });
  const found = run.saved.at(-1)?.conditions.find(({ type }) => type === "PoolsPaused");
  assert.deepEqual([found?.status, /infra/.test(found?.message ?? "")], ["True", true]);
});

Deno.test("ARO has all but three of the steps of OSD in the same order, without a window", () => {
  const { OSD, ARO } = UPGRADERS;
  assert.deepEqual([OSD.hasWindow, ARO.hasWindow], [true, false]);
  assert.deepEqual(ARO.steps, OSD.steps.filter((step) => ARO.steps.includes(step)));
  const left = OSD.steps.filter((step) => !ARO.steps.includes(step)).map(({ id }) => id);
  assert.deepEqual(left, ["StartedNotificationSent", "IsClusterUpgradable", "PostUpgradeTasksCompleted"]);
});
