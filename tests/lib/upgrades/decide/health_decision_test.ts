import assert from "node:assert/strict";
import { checksOf, decideHealthBefore, type HealthContext } from "../../../../lib/upgrades/decide/health_decision.ts";
import type { HealthCheckId, HealthReason, HealthResult } from "../../../../lib/upgrades/decide/types/observed.ts";
import type { Phase } from "../../../../lib/upgrades/decide/types/plan.ts";
import { CAPACITY, failedCheck, FROM, makeCluster, makeConfig, makeHistory, makePlan, wordsOf } from "./make_plan.ts";

const GATE = makeConfig({ featureGate: { enabled: ["PreHealthCheck"] } });

function passing(check: HealthCheckId, ...reasons: readonly HealthReason[]): HealthResult {
  return { check, kind: "passed", reasons: Object.fromEntries(reasons.map((reason) => [reason, 0])) };
}

const QUIET = passing("CriticalAlerts", "critical_alerts_firing");
const ALERTS = failedCheck("CriticalAlerts", "critical_alerts_firing");
const OPERATORS = failedCheck("ClusterOperators", "cluster_operators_degraded");
const NO_CAPACITY = failedCheck("CapacityReservation", "default_worker_machinepool_not_found");
const CORDONED = failedCheck(
  "NodeUnschedulable",
  "cluster_node_manually_cordoned",
  "NodeUnschedulableHealthcheckFailed:(n1)",
);
const PRESSURE = failedCheck("NodeUnschedulableTaint", "cluster_node_taint_unschedulable");

interface Given {
  readonly results: readonly HealthResult[];
  readonly phase?: Phase;
  readonly gate?: boolean;
  readonly overrides?: Partial<HealthContext>;
}

function contextOf({ results, phase = "Upgrading", gate = true, overrides = {} }: Given): HealthContext {
  const entry = makeHistory({ phase });
  const config = gate ? GATE : makeConfig();
  const plan = makePlan({}, { history: [entry] });
  return { plan, config, clusterVersion: makeCluster(), entry, results, ...overrides };
}

/** `blocked: healthcheck_failed=1 StateHealthCheckSL` */
function wordOf(given: Given): string {
  const { kind, effects } = decideHealthBefore(contextOf(given));
  return [kind === "wait" ? "blocked" : "free", ...wordsOf(effects)].join(" ");
}

const NOTICE = "StateHealthCheckSL";
const EARLY = "StatePreHealthCheckSL";
const NOT_BEFORE = `blocked healthcheck_failed=1 ${EARLY}`;
const GOES_ON = `free healthcheck_failed=1 ${NOTICE}`;
const ROWS: readonly (readonly [string, Given, string])[] = [
  ["M-240 gate off, healthy", { gate: false, results: [QUIET] }, "free healthcheck_failed=0"],
  ["M-244 gate off, alerts firing", { gate: false, results: [ALERTS] }, "blocked healthcheck_failed=1"],
  ["M-244 gate off, operators degraded", { gate: false, results: [OPERATORS] }, "blocked healthcheck_failed=1"],
  ["M-245 gate on, healthy", {
    results: [
      passing("CriticalAlerts", "healthcheck_query_failed", "critical_alerts_firing"),
      passing("PDB", "cluster_invalid_pdb"),
    ],
  }, "free healthcheck_failed=0 healthcheck_failed=0 healthcheck_failed=0"],
  ["M-246 gate on, a node cordoned by the upgrade", {
    results: [passing("NodeUnschedulable", "cluster_node_manually_cordoned")],
  }, "free healthcheck_failed=0"],
  ["M-247 gate on, alerts in New", { results: [ALERTS], phase: "New" }, NOT_BEFORE],
  ["M-248 gate on, alerts in Upgrading", { results: [ALERTS] }, `blocked healthcheck_failed=1 ${NOTICE}`],
  ["M-249 gate on, operators degraded", { results: [OPERATORS] }, `blocked healthcheck_failed=1 ${NOTICE}`],
  ["M-250 gate on, no capacity in New", { results: [NO_CAPACITY], phase: "New" }, NOT_BEFORE],
  ["M-250 gate on, no capacity in Upgrading", { results: [NO_CAPACITY] }, GOES_ON],
  ["M-251 gate on, a node cordoned by hand in New", { results: [CORDONED], phase: "New" }, NOT_BEFORE],
  ["M-251 gate on, a node cordoned by hand in Upgrading", { results: [CORDONED] }, GOES_ON],
  ["M-252 gate on, a pressure taint in New", { results: [PRESSURE], phase: "New" }, NOT_BEFORE],
  ["M-252 gate on, a pressure taint in Upgrading", { results: [PRESSURE] }, GOES_ON],
  ["another phase", { results: [PRESSURE], phase: "Pending" }, "blocked healthcheck_failed=1"],
];

for (const [name, given, expected] of ROWS) {
  Deno.test(`${name}: ${expected}`, () => assert.equal(wordOf(given), expected));
}

Deno.test("what is said of New is given up where it cannot be sent; Upgrading waits for it", () => {
  const onFailure = (phase: "New" | "Upgrading"): readonly string[] =>
    decideHealthBefore(contextOf({ results: [ALERTS], phase })).effects
      .flatMap((effect) => effect.kind === "notify" ? [effect.onFailure] : []);
  assert.deepEqual([onFailure("New"), onFailure("Upgrading")], [["log"], ["stop"]]);
});

Deno.test("M-370 the tokens of all checks that failed are in the notification, joined by commas", () => {
  const { effects } = decideHealthBefore(contextOf({ results: [ALERTS, CORDONED] }));
  const [said = ""] = effects.flatMap((effect) => effect.kind === "notify" ? [effect.notification.description] : []);
  assert.match(said, /CriticalAlertsHealthcheckFailed,NodeUnschedulableHealthcheckFailed:\(n1\)\.$/);
});

Deno.test("M-243 a version that cannot be read does not block: its label is unknown", () => {
  const labels = (history: ReturnType<typeof makeCluster>["history"]): unknown => {
    const { kind, effects } = decideHealthBefore(
      contextOf({ gate: false, results: [QUIET], overrides: { clusterVersion: makeCluster({ history }) } }),
    );
    assert.equal(kind, "done");
    return effects.map((effect) => effect.kind === "setMetric" ? effect.labels : undefined);
  };
  const reason = "critical_alerts_firing";
  assert.deepEqual(labels([]), [{ state: "Upgrading", version: "unknown", reason }]);
  assert.deepEqual(labels(makeCluster().history), [{ state: "Upgrading", version: FROM, reason }]);
});

Deno.test("checksOf() makes all checks with the gate, of capacity only where it is wanted", () => {
  const plan = makePlan({ capacity: CAPACITY });
  const facts = contextOf({ results: [] });
  assert.deepEqual(checksOf({ ...facts, config: makeConfig(), plan }), ["CriticalAlerts", "ClusterOperators"]);
  assert.equal(checksOf(facts).includes("CapacityReservation"), false);
  const more = checksOf({ ...facts, plan }).slice(2);
  assert.deepEqual(more, ["CapacityReservation", "NodeUnschedulable", "NodeUnschedulableTaint", "PDB"]);
});
