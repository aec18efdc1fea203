// PodDisruptionBudgets that never let a pod go, so that no node with such a pod can be drained. Pure.
import type { DisruptionBudget } from "../../../cluster/disruption_budget.ts";

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

export function isBlocking({ namespace, maxUnavailable, minAvailable }: DisruptionBudget): boolean {
  const forbidsAll = [0, "0", "0%"].some((none) => none === maxUnavailable) || minAvailable === "100%";
  return forbidsAll && isChecked(namespace);
}

const FINDING = /^deployment_validation_operator_pdb_(?:min|max)_available(?:\{.*\})?\s+(\S+)/;

/** Whether metrics of the Deployment Validation Operator name a budget: a series of such a check with a value above 0. */
export function hasBudgetFindings(metricsText: string): boolean {
  return metricsText.split("\n").some((line) => Number(FINDING.exec(line)?.[1] ?? 0) > 0);
}
