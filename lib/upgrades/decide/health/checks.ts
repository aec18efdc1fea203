// The health checks: each turns what was read into a result, with a value for every reason that it decides. A failed
// read is a failed check. What results mean for an upgrade is decided elsewhere.
//
//   check                    fails when
//   CriticalAlerts           a critical alert of the platform fires that is not ignored
//   ClusterOperators         one is degraded, or not available
//   CapacityReservation      there is nothing to clone for temporary workers
//   NodeUnschedulable        a worker is cordoned, and not by the upgrade
//   NodeUnschedulableTaint   a node is short of memory, disk or process ids
//   PDB                      a budget forbids every eviction, or the Deployment Validation Operator reports one
import { nameSome } from "../../../vocabulary/condition.ts";
import type { DisruptionBudget } from "../../../vocabulary/disruption_budget.ts";
import type { Node } from "../../../vocabulary/node.ts";
import { isPlainWorker, isWorkedOn, pressuresOf } from "../pools.ts";
import type { ClusterOperator } from "../types/cluster.ts";
import type { HealthCheckId, HealthReason, HealthResult, Observation } from "../types/observed.ts";

/** Whether the Deployment Validation Operator reports a budget. `absent`: it is not installed. */
export type DeploymentFindings = Observation<boolean> | { readonly kind: "absent" };

const MAX_NAMES = 100;
const MAX_SHOWN = 5;

export function checkAlerts(firing: Observation<readonly string[]>): HealthResult {
  const decides = ["healthcheck_query_failed", "critical_alerts_firing"] as const;
  if (firing.kind === "unknown") return failed("CriticalAlerts", decides, { reason: decides[0], message: firing.why });
  if (firing.value.length === 0) return passed("CriticalAlerts", decides);
  const message = `Critical alerts fire: ${nameSome(firing.value, MAX_SHOWN)}.`;
  return failed("CriticalAlerts", decides, { reason: decides[1], message });
}

export function checkOperators(operators: Observation<readonly ClusterOperator[]>): HealthResult {
  const decides = ["cluster_operator_status_failed", "cluster_operators_degraded"] as const;
  if (operators.kind === "unknown") {
    return failed("ClusterOperators", decides, { reason: decides[0], message: operators.why });
  }
  const ill = operators.value.filter(({ isDegraded, isAvailable }) => isDegraded || !isAvailable);
  if (ill.length === 0) return passed("ClusterOperators", decides);
  const message = `Cluster operators are degraded or not available: ${
    nameSome(ill.map(({ name }) => name), MAX_SHOWN)
  }.`;
  return failed("ClusterOperators", decides, { reason: decides[1], message });
}

export function checkCapacity(canReserve: Observation<boolean>): HealthResult {
  const reason = "default_worker_machinepool_not_found";
  if (canReserve.kind === "observed" && canReserve.value) return passed("CapacityReservation", [reason]);
  const message = canReserve.kind === "unknown"
    ? canReserve.why
    : "Capacity is to be reserved, but there is no MachineSet with the label hive.openshift.io/machine-pool=worker.";
  return failed("CapacityReservation", [reason], { reason, message });
}

export function checkCordons(nodes: Observation<readonly Node[]>): HealthResult {
  const decides = ["cluster_node_query_failed", "cluster_node_manually_cordoned"] as const;
  if (nodes.kind === "unknown") return failed("NodeUnschedulable", decides, { reason: decides[0], message: nodes.why });
  const found = nodes.value.filter((node) => isPlainWorker(node) && !node.isSchedulable && !isWorkedOn(node));
  if (found.length === 0) return passed("NodeUnschedulable", decides);
  const cordoned = found.map(({ name }) => name);
  const message = `Workers were cordoned by hand: ${nameSome(cordoned, MAX_SHOWN)}. Uncordon or remove them.`;
  return failed("NodeUnschedulable", decides, { reason: decides[1], message, names: cordoned });
}

export function checkPressure(nodes: Observation<readonly Node[]>): HealthResult {
  const decides = ["cluster_node_query_failed", "cluster_node_taint_unschedulable"] as const;
  if (nodes.kind === "unknown") {
    return failed("NodeUnschedulableTaint", decides, { reason: decides[0], message: nodes.why });
  }
  const pressed = nodes.value.map((node) => ({ name: node.name, pressures: pressuresOf(node) }))
    .filter(({ pressures }) => pressures.length > 0);
  if (pressed.length === 0) return passed("NodeUnschedulableTaint", decides);
  const described = pressed.map(({ name, pressures }) => `${name} (${pressures.join(", ")})`);
  const message = `Nodes are under pressure: ${nameSome(described, MAX_SHOWN)}.`;
  return failed("NodeUnschedulableTaint", decides, {
    reason: decides[1],
    message,
    names: pressed.map(({ name }) => name),
  });
}

const BUDGET_REASONS = [
  "pdb_query_failed",
  "cluster_invalid_pdb_configuration",
  "cluster_invalid_pdb",
  "dvo_client_creation_failed",
  "dvo_metrics_query_failed",
] as const;

/** `findings` is undefined where the Deployment Validation Operator is not read. */
export function checkBudgets(
  budgets: Observation<readonly DisruptionBudget[]>,
  findings: DeploymentFindings | undefined,
): HealthResult {
  const fail = (reason: typeof BUDGET_REASONS[number], message: string, detail = ""): HealthResult =>
    failed("PDB", BUDGET_REASONS, { reason, message, detail });
  if (budgets.kind === "unknown") return fail("pdb_query_failed", budgets.why);
  const blocking = budgets.value.filter(isBlocking).toSorted(byName);
  if (blocking.length > 0) {
    const listed = blocking.slice(0, MAX_NAMES).map(({ name, namespace }) => ({ Name: name, Namespace: namespace }));
    const names = blocking.map(({ namespace, name }) => `${namespace}/${name}`);
    const message = `PodDisruptionBudgets forbid every eviction: ${nameSome(names, MAX_SHOWN)}.`;
    return fail("cluster_invalid_pdb_configuration", message, ` ${JSON.stringify(listed)}`);
  }
  if (findings === undefined) return passed("PDB", BUDGET_REASONS);
  if (findings.kind === "absent") {
    return fail("dvo_client_creation_failed", "The Deployment Validation Operator has no Service for its metrics.");
  }
  if (findings.kind === "unknown") return fail("dvo_metrics_query_failed", findings.why);
  if (!findings.value) return passed("PDB", BUDGET_REASONS);
  return fail(
    "cluster_invalid_pdb",
    "The Deployment Validation Operator reports PodDisruptionBudgets that block evictions.",
  );
}

function passed(check: HealthCheckId, decides: readonly HealthReason[]): HealthResult {
  return { kind: "passed", check, reasons: valued(decides, undefined) };
}

interface Failure<R extends HealthReason> {
  readonly reason: R;
  readonly message: string;
  readonly names?: readonly string[];
  readonly detail?: string;
}

function failed<R extends HealthReason>(
  check: HealthCheckId,
  decides: readonly R[],
  { reason, message, names, detail = "" }: Failure<R>,
): HealthResult {
  const listed = names === undefined ? detail : `(${names.slice(0, MAX_NAMES).join(",")})`;
  const token = `${check}HealthcheckFailed${listed === "" ? "" : `:${listed}`}`;
  return { kind: "failed", check, token, message, reasons: valued(decides, reason) };
}

function valued(
  decides: readonly HealthReason[],
  failing: HealthReason | undefined,
): Readonly<Partial<Record<HealthReason, 0 | 1>>> {
  return Object.fromEntries(decides.map((reason) => [reason, reason === failing ? 1 : 0]));
}

function byName(left: DisruptionBudget, right: DisruptionBudget): number {
  return `${left.namespace}/${left.name}` < `${right.namespace}/${right.name}` ? -1 : 1;
}

const CUSTOMER_INFLUENCED = [
  "openshift-logging",
  "openshift-redhat-marketplace",
  "openshift-operators",
  "openshift-customer-monitoring",
  "openshift-cnv",
  "openshift-route-monitoring-operator",
  "openshift-user-workload-monitoring",
  "openshift-pipelines",
];

/** Whether budgets of a namespace count. The platform's operators maintain its budgets, except where customers do. */
export function isChecked(namespace: string): boolean {
  const isPlatform = namespace.startsWith("openshift-") || namespace.startsWith("kube-");
  return !isPlatform || CUSTOMER_INFLUENCED.includes(namespace);
}

export function isBlocking({ namespace, maxUnavailable, minAvailable }: DisruptionBudget): boolean {
  const forbidsAll = [0, "0", "0%"].some((none) => none === maxUnavailable) || minAvailable === "100%";
  return forbidsAll && isChecked(namespace);
}

const FINDING = /^deployment_validation_operator_pdb_(?:min|max)_available(?:\{.*\})?\s+(\S+)/;

/** Whether the Deployment Validation Operator's metrics report a budget: one of these series is above 0. */
export function hasBudgetFindings(metricsText: string): boolean {
  return metricsText.split("\n").some((line) => Number(FINDING.exec(line)?.[1] ?? 0) > 0);
}
