// The strategies of drain help as one table, in the order of their times.
import { unreachable } from "../../../parsed.ts";
import type { DrainMode } from "../types/plan.ts";
import type { DrainPod, DrainPolicy, Strategy } from "./types.ts";

/** Every strategy, soonest first; of those due at the same time in the order of the table. */
export function allStrategies({ timeoutMs, protectedTimeoutMs, expectedMs }: DrainPolicy): readonly Strategy[] {
  const [plainMs, protectedMs] = [timeoutMs, protectedTimeoutMs + expectedMs];
  const strategies: readonly Strategy[] = [
    { name: "DELETE", dueAfterMs: plainMs, action: "delete", isTarget: isPlain, actsOn: isStaying },
    {
      name: "DEFAULT-FINALIZER",
      dueAfterMs: plainMs,
      action: "stripFinalizers",
      isTarget: (pod) => isPlain(pod) && pod.hasFinalizers,
      actsOn: hasFinalizers,
    },
    {
      name: "POD-STUCK-TERMINATING",
      dueAfterMs: plainMs,
      action: "delete",
      isTarget: (pod) => isPlain(pod) && pod.isTerminating && !pod.hasFinalizers,
      actsOn: (pod) => pod.isTerminating,
    },
    { name: "PDB-DELETE", dueAfterMs: protectedMs, action: "delete", isTarget: isProtected, actsOn: isStaying },
    {
      name: "PDB-FINALIZER",
      dueAfterMs: protectedMs,
      action: "stripFinalizers",
      isTarget: (pod) => pod.isProtected && pod.hasFinalizers,
      actsOn: hasFinalizers,
    },
  ];
  return byDueTime(strategies);
}

export function byDueTime(strategies: readonly Strategy[]): readonly Strategy[] {
  return strategies.toSorted((one, other) => one.dueAfterMs - other.dueAfterMs);
}

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

function isPlain({ isProtected }: DrainPod): boolean {
  return !isProtected;
}

function isProtected({ isProtected }: DrainPod): boolean {
  return isProtected;
}

function isStaying({ isTerminating }: DrainPod): boolean {
  return !isTerminating;
}

function hasFinalizers({ hasFinalizers }: DrainPod): boolean {
  return hasFinalizers;
}
