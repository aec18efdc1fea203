// The strategies of drain help as one table, in the order of their times.
import { unreachable } from "../../unreachable.ts";
import { matchesSelector } from "../../k8s/label_selector.ts";
import type { DrainMode } from "../types/plan.ts";
import type { DrainBudget, DrainPod, DrainPolicy, JudgedPod, Strategy } from "./types.ts";

/** Every strategy, soonest first; of those due at the same time in the order of the table. */
export function allStrategies({ timeoutMs, protectedTimeoutMs, expectedMs }: DrainPolicy): readonly Strategy[] {
  const [plainMs, protectedMs] = [timeoutMs, protectedTimeoutMs + expectedMs];
  const strategies: readonly Strategy[] = [
    { name: "DELETE", dueAfterMs: plainMs, action: "delete", isTarget: isPlain, actsOn: isStaying },
    {
      name: "DEFAULT-FINALIZER",
      dueAfterMs: plainMs,
      action: "stripFinalizers",
      isTarget: (pod) => isPlain(pod) && hasFinalizers(pod),
      actsOn: hasFinalizers,
    },
    {
      name: "POD-STUCK-TERMINATING",
      dueAfterMs: plainMs,
      action: "delete",
      isTarget: (pod) => isPlain(pod) && pod.pod.isTerminating && !hasFinalizers(pod),
      actsOn: (pod) => pod.pod.isTerminating,
    },
    { name: "PDB-DELETE", dueAfterMs: protectedMs, action: "delete", isTarget: isProtected, actsOn: isStaying },
    {
      name: "PDB-FINALIZER",
      dueAfterMs: protectedMs,
      action: "stripFinalizers",
      isTarget: (pod) => isProtected(pod) && hasFinalizers(pod),
      actsOn: hasFinalizers,
    },
  ];
  return byDueTime(strategies);
}

/** Sorted by when they are due; the order of equals stays. */
export function byDueTime(strategies: readonly Strategy[]): readonly Strategy[] {
  return strategies.toSorted((one, other) => one.dueAfterMs - other.dueAfterMs);
}

/** Those that a mode allows. */
export function allowedBy(mode: DrainMode, strategies: readonly Strategy[]): readonly Strategy[] {
  switch (mode) {
    case "Observe":
      return [];
    case "Delete":
      return strategies.filter(({ action }) => action === "delete");
    case "DeleteAndStripFinalizers":
      return strategies;
    default:
      return unreachable(mode);
  }
}

/** The pods of a node that may be touched at all, each with its budget. */
export function judgePods(
  pods: readonly DrainPod[],
  { node, budgets, ignoredNamespaces }: {
    readonly node: string;
    readonly budgets: readonly DrainBudget[];
    readonly ignoredNamespaces: readonly RegExp[];
  },
): readonly JudgedPod[] {
  return pods
    .filter(({ nodeName, isBoundToNode }) => nodeName === node && !isBoundToNode)
    .filter(({ namespace }) => !ignoredNamespaces.some((pattern) => pattern.test(namespace)))
    .map((pod) => ({ pod, budget: budgets.find((budget) => protects(budget, pod)) }));
}

/** Whether a budget counts a pod: of its namespace, and by its whole selector. */
export function protects({ namespace, selector }: DrainBudget, pod: DrainPod): boolean {
  return selector !== undefined && namespace === pod.namespace && matchesSelector(selector, pod.labels);
}

function isPlain({ budget }: JudgedPod): boolean {
  return budget === undefined;
}

function isProtected({ budget }: JudgedPod): boolean {
  return budget !== undefined;
}

function isStaying({ pod }: JudgedPod): boolean {
  return !pod.isTerminating;
}

function hasFinalizers({ pod }: JudgedPod): boolean {
  return pod.finalizers.length > 0;
}
