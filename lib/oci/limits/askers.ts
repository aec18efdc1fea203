// The namespaces that a request is sent for: their shares of a limit are charged, and the most urgent sets its priority.
import type { Callers } from "../../shared_call.ts";
import type { Asker, InspectionPriority, InspectionRequest } from "../inspector.ts";

/** The priorities, the most urgent first. */
export const PRIORITIES: readonly InspectionPriority[] = ["gated", "admission", "prewarm"];

/** The askers of a request: all who share it, or the one that it names. */
export function askersOf(
  { askers, namespace, priority }: Pick<InspectionRequest, "askers" | "namespace" | "priority">,
): Callers<Asker> {
  return askers ?? { members: [{ namespace: namespace ?? "", priority }], onJoin: () => () => {} };
}

/** The most urgent priority among the askers as of now. */
export function mostUrgent({ members }: Callers<Asker>): InspectionPriority {
  return PRIORITIES.find((priority) => members.some((asker) => asker.priority === priority)) ?? "prewarm";
}

/** The request as one of all these askers: as urgent as the most urgent of them is when that is read. */
export function forAll<R extends InspectionRequest>(request: R, askers: Callers<Asker>): R {
  return {
    ...request,
    askers,
    get priority() {
      return mostUrgent(askers);
    },
  };
}

/** Equal for askers that count as one. */
export function nameOfAsker({ namespace, priority }: Asker): string {
  return `${priority} ${namespace}`;
}
