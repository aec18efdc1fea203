// PodDisruptionBudgets that never let a pod go, so that no node with such a pod can be drained. Pure.
import { type JsonObject, memberOf, objectAt } from "../../json.ts";
import type { KubeObject } from "../../k8s/types.ts";

/** A PodDisruptionBudget. A number or a percentage; undefined where it is not set. */
export interface DisruptionBudget {
  readonly namespace: string;
  readonly name: string;
  readonly maxUnavailable: number | string | undefined;
  readonly minAvailable: number | string | undefined;
}

/** Reads a PodDisruptionBudget. */
export function disruptionBudgetOf(budget: KubeObject): DisruptionBudget {
  const spec = objectAt(budget, "spec");
  const { namespace = "", name } = budget.metadata;
  const [maxUnavailable, minAvailable] = [amountAt(spec, "maxUnavailable"), amountAt(spec, "minAvailable")];
  return { namespace, name, maxUnavailable, minAvailable };
}

function amountAt(spec: JsonObject | undefined, member: string): number | string | undefined {
  const amount = memberOf(spec, member);
  return typeof amount === "number" || typeof amount === "string" ? amount : undefined;
}

/** Platform namespaces whose workloads customers configure. */
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

/** Whether budgets of a namespace count: all but those of the platform, which their operators maintain. */
export function isChecked(namespace: string): boolean {
  const isPlatform = namespace.startsWith("openshift-") || namespace.startsWith("kube-");
  return !isPlatform || CUSTOMER_INFLUENCED.includes(namespace);
}

/** The budgets that forbid every eviction, in the order of their names. */
export function blockingBudgets(budgets: readonly DisruptionBudget[]): readonly DisruptionBudget[] {
  return budgets.filter(({ namespace }) => isChecked(namespace)).filter(forbidsAll)
    .toSorted((left, right) => compare(`${left.namespace}/${left.name}`, `${right.namespace}/${right.name}`));
}

const FINDING = /^deployment_validation_operator_pdb_(?:min|max)_available(?:\{.*\})?\s+(\S+)/;

/** Whether metrics of the Deployment Validation Operator name a budget: a series of such a check with a value above 0. */
export function hasBudgetFindings(metricsText: string): boolean {
  return metricsText.split("\n").some((line) => Number(FINDING.exec(line)?.[1] ?? 0) > 0);
}

function forbidsAll({ maxUnavailable, minAvailable }: DisruptionBudget): boolean {
  return maxUnavailable === 0 || maxUnavailable === "0" || maxUnavailable === "0%" || minAvailable === "100%";
}

function compare(left: string, right: string): number {
  return left < right ? -1 : Number(left > right);
}
