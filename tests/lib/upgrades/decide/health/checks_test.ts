import assert from "node:assert/strict";
import type { Node } from "../../../../../lib/vocabulary/node.ts";
import { type DisruptionBudget, parseDisruptionBudget } from "../../../../../lib/vocabulary/disruption_budget.ts";
import {
  checkAlerts,
  checkBudgets,
  checkCapacity,
  checkCordons,
  checkOperators,
  checkPressure,
  hasBudgetFindings,
  isChecked,
} from "../../../../../lib/upgrades/decide/health/checks.ts";
import type { HealthResult } from "../../../../../lib/upgrades/decide/types/observed.ts";
import { node } from "../make.ts";
import { makeOperator, seen, unseen } from "../make_plan.ts";

const UNKNOWN = unseen("Cannot read it: away");

/** Token, and the reasons that are set. */
function failure(result: HealthResult): readonly string[] {
  assert.equal(result.kind, "failed");
  if (result.kind !== "failed") return [];
  const set = Object.entries(result.reasons).filter(([, value]) => value === 1).map(([reason]) => reason);
  return [result.token, ...set];
}

/** The reasons that a success clears. */
function cleared(result: HealthResult): readonly string[] {
  assert.equal(result.kind, "passed");
  assert.ok(Object.values(result.reasons).every((value) => value === 0));
  return Object.keys(result.reasons);
}

type NodeSpec = NonNullable<Parameters<typeof node>[1]>;

interface Given extends Pick<NodeSpec, "cordonedMinutes" | "state"> {
  readonly name?: string;
  readonly roles?: readonly string[];
  readonly pressures?: readonly string[];
}

function nodeOf({ name = "n1", roles = ["worker"], pressures = [], ...rest }: Given): Node {
  const labels = Object.fromEntries(roles.map((role) => [`node-role.kubernetes.io/${role}`, ""]));
  const taints = pressures.map((kind) => ({ key: `node.kubernetes.io/${kind}-pressure`, effect: "NoSchedule" }));
  return node(name, { labels, taints, ...rest });
}

function budgetOf(spec: Readonly<Record<string, unknown>>, namespace = "shop", name = "b"): DisruptionBudget {
  return parseDisruptionBudget({ metadata: { name, namespace }, spec });
}

Deno.test("M-220 checkAlerts() passes without alerts and clears both reasons", () => {
  assert.deepEqual(cleared(checkAlerts(seen([]))), ["healthcheck_query_failed", "critical_alerts_firing"]);
});

Deno.test("M-221 checkAlerts() fails while alerts fire, and names them", () => {
  const result = checkAlerts(seen(["A", "B"]));
  assert.deepEqual(failure(result), ["CriticalAlertsHealthcheckFailed", "critical_alerts_firing"]);
  assert.ok(result.kind === "failed" && result.message === "Critical alerts fire: A, B.");
  assert.equal(result.reasons.healthcheck_query_failed, 0);
});

Deno.test("M-222 checkAlerts() fails when the query fails", () => {
  assert.deepEqual(failure(checkAlerts(UNKNOWN)), ["CriticalAlertsHealthcheckFailed", "healthcheck_query_failed"]);
});

Deno.test("M-223 checkOperators() fails for one that is degraded or not available, and when they cannot be read", () => {
  const good = makeOperator("dns");
  const reasons = ["cluster_operator_status_failed", "cluster_operators_degraded"];
  assert.deepEqual(cleared(checkOperators(seen([good]))), reasons);
  for (const ill of [{ ...good, isDegraded: true }, { ...good, isAvailable: false }]) {
    const result = checkOperators(seen([makeOperator("etcd"), ill]));
    assert.deepEqual(failure(result), ["ClusterOperatorsHealthcheckFailed", reasons[1]]);
    assert.ok(result.kind === "failed" && result.message.endsWith(": dns."));
  }
  assert.deepEqual(failure(checkOperators(UNKNOWN)), ["ClusterOperatorsHealthcheckFailed", reasons[0]]);
});

Deno.test("M-250 checkCapacity() fails when there is nothing to clone, or that cannot be read", () => {
  const reason = "default_worker_machinepool_not_found";
  assert.deepEqual(cleared(checkCapacity(seen(true))), [reason]);
  assert.deepEqual(failure(checkCapacity(seen(false))), ["CapacityReservationHealthcheckFailed", reason]);
  assert.deepEqual(failure(checkCapacity(UNKNOWN)), ["CapacityReservationHealthcheckFailed", reason]);
});

Deno.test("M-224 M-225 M-246 checkCordons() passes for nodes without cordon, cordoned by the upgrade, or no plain workers", () => {
  const nodes = [
    nodeOf({}),
    nodeOf({ cordonedMinutes: 1, state: "Working" }),
    nodeOf({ cordonedMinutes: 1, roles: ["worker", "infra"] }),
    nodeOf({ cordonedMinutes: 1, roles: ["master"] }),
  ];
  const reasons = ["cluster_node_query_failed", "cluster_node_manually_cordoned"];
  assert.deepEqual(cleared(checkCordons(seen(nodes))), reasons);
});

Deno.test("M-226 M-227 checkCordons() names workers cordoned by hand, and fails when nodes cannot be read", () => {
  const nodes = ["n1", "n2"].map((name) => nodeOf({ name, cordonedMinutes: 1, state: "Done" }));
  const named = ["NodeUnschedulableHealthcheckFailed:(n1,n2)", "cluster_node_manually_cordoned"];
  assert.deepEqual(failure(checkCordons(seen(nodes))), named);
  assert.deepEqual(failure(checkCordons(UNKNOWN)), ["NodeUnschedulableHealthcheckFailed", "cluster_node_query_failed"]);
});

Deno.test("M-228 checkPressure() fails when nodes cannot be read", () => {
  const failed = ["NodeUnschedulableTaintHealthcheckFailed", "cluster_node_query_failed"];
  assert.deepEqual(failure(checkPressure(UNKNOWN)), failed);
});

Deno.test("M-229 M-230 M-252 checkPressure() names every node with one, two or three kinds of pressure, whatever its role", () => {
  const kinds = [["memory"], ["disk"], ["pid"], ["memory", "disk"], ["memory", "disk", "pid"]];
  const nodes = kinds.map((pressures, at) => nodeOf({ name: `n${at}`, pressures, roles: ["master"] }));
  assert.deepEqual(failure(checkPressure(seen([nodeOf({ name: "well" }), ...nodes]))), [
    "NodeUnschedulableTaintHealthcheckFailed:(n0,n1,n2,n3,n4)",
    "cluster_node_taint_unschedulable",
  ]);
  for (const node of nodes) assert.equal(checkPressure(seen([node])).kind, "failed");
  assert.equal(checkPressure(seen([nodeOf({ cordonedMinutes: 1 })])).kind, "passed");
});

Deno.test("checkCordons() bounds the names of its token", () => {
  const nodes = Array.from({ length: 5_000 }, (_, at) => nodeOf({ name: `n${at}`, cordonedMinutes: 1 }));
  const result = checkCordons(seen(nodes));
  assert.ok(result.kind === "failed" && result.token.split(",").length === 100 && result.message.length < 200);
});

Deno.test("M-231 M-232 checkBudgets() fails for budgets that forbid every eviction, and names all of them", () => {
  const blocking = [{ maxUnavailable: 0 }, { maxUnavailable: "0%" }, { minAvailable: "100%" }];
  for (const spec of blocking) {
    assert.deepEqual(failure(checkBudgets(seen([budgetOf(spec)]), undefined)), [
      'PDBHealthcheckFailed: [{"Name":"b","Namespace":"shop"}]',
      "cluster_invalid_pdb_configuration",
    ]);
  }
  const both = [budgetOf({ maxUnavailable: 0 }, "z"), budgetOf({ maxUnavailable: 0 }, "a")];
  assert.match(failure(checkBudgets(seen(both), undefined))[0] ?? "", /"a".*"z"/);
  const fine = [{ maxUnavailable: 1 }, { maxUnavailable: "10%" }, { minAvailable: 1 }, { minAvailable: "50%" }, {}];
  const result = checkBudgets(seen(fine.map((spec) => budgetOf(spec))), seen(false));
  assert.equal(cleared(result).length, 5, "every reason of the check is cleared");
});

Deno.test("M-233 checkBudgets() fails when budgets cannot be read", () => {
  assert.deepEqual(failure(checkBudgets(UNKNOWN, undefined)), ["PDBHealthcheckFailed", "pdb_query_failed"]);
});

Deno.test("M-234 M-236 checkBudgets() fails when the Deployment Validation Operator is absent, away, or names a budget", () => {
  const of = (findings: Parameters<typeof checkBudgets>[1]) => failure(checkBudgets(seen([]), findings))[1];
  assert.equal(of({ kind: "absent" }), "dvo_client_creation_failed");
  assert.equal(of(UNKNOWN), "dvo_metrics_query_failed");
  assert.equal(of(seen(true)), "cluster_invalid_pdb");
  assert.equal(checkBudgets(seen([]), undefined).kind, "passed", "where it is not asked");
});

Deno.test("M-235 isChecked() takes namespaces of people, and those of the platform that people fill", () => {
  const filled = ["shop", "default", "openshift", "openshift-logging", "openshift-cnv", "openshift-pipelines"];
  for (const namespace of filled) assert.equal(isChecked(namespace), true, namespace);
  for (const namespace of ["openshift-etcd", "openshift-monitoring", "kube-system"]) {
    assert.equal(isChecked(namespace), false, namespace);
  }
  const platform = seen([budgetOf({ maxUnavailable: 0 }, "openshift-etcd")]);
  assert.equal(checkBudgets(platform, undefined).kind, "passed");
});

Deno.test("hasBudgetFindings() reads metrics line by line", () => {
  const series = 'deployment_validation_operator_pdb_min_available{name="b",namespace="shop"}';
  const table: readonly (readonly [string, boolean])[] = [
    ["", false],
    [`# HELP deployment_validation_operator_pdb_min_available 1\n`, false],
    [`${series} 0`, false],
    [`other 1\n${series} 1\n`, true],
    ["deployment_validation_operator_pdb_max_available 1", true],
    ["deployment_validation_operator_pdb_max_available_total 1", false],
    [`deployment_validation_operator_replicas{a="deployment_validation_operator_pdb_max_available"} 1`, false],
  ];
  for (const [text, expected] of table) assert.equal(hasBudgetFindings(text), expected, text);
});
