// Notifications that some sinks have and others have not, as the status of a plan keeps them: the next leader sends to the rest.
import type { Delivery, UpgradeConfig, UpgradeStatus } from "../types/plan.ts";
import { notificationId } from "./notify.ts";

export function sinksOf(deliveries: readonly Delivery[], id: string): readonly string[] {
  return deliveries.find((delivery) => delivery.id === id)?.sinks ?? [];
}

/** The deliveries with one changed, and without those whose notifications every sink has: the history says so. */
export function withDelivery(
  deliveries: readonly Delivery[],
  { id, sinks }: Delivery,
  { plan, status }: { readonly plan: Pick<UpgradeConfig, "uid">; readonly status: UpgradeStatus },
): readonly Delivery[] {
  const sent = new Set(
    status.history.flatMap((history) =>
      history.notifications.map(({ state }) => notificationId(state, { plan, history }))
    ),
  );
  const others = deliveries.filter((other) => other.id !== id && !sent.has(other.id));
  return sinks.length === 0 ? others : [...others, { id, sinks }];
}
