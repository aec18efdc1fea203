// The namespaces that a request is sent for: their shares of a limit are charged, and the most urgent sets its priority.
import type { Callers } from "../shared_call.ts";
import type { Caller, InspectionPriority, InspectionRequest } from "../inspector.ts";

export const PRIORITIES: readonly InspectionPriority[] = ["gated", "admission", "prewarm"];

export function callersOf(
  { callers, namespace, priority }: Pick<InspectionRequest, "callers" | "namespace" | "priority">,
): Callers<Caller> {
  return callers ?? { members: [{ namespace: namespace ?? "", priority }], onJoin: () => () => {} };
}

export function mostUrgent({ members }: Callers<Caller>): InspectionPriority {
  return PRIORITIES.find((priority) => members.some((caller) => caller.priority === priority)) ?? "prewarm";
}

export function nameOfCaller({ namespace, priority }: Caller): string {
  return `${priority} ${namespace}`;
}
