// Notifications as effects. What was sent is in the status: it is not sent again.
import type { Effect } from "../types/effects.ts";
import type { Delivery, History, NotificationState, UpgradeConfig, UpgradeStatus } from "../types/plan.ts";
import { describeState } from "./descriptions.ts";
import { renderTime } from "../../../cluster/time.ts";

export interface NotifyContext {
  readonly plan: UpgradeConfig;
  readonly history: History;
}

/** `findings` is for the states about health checks and stuck migrations. */
export interface NotifyOptions {
  readonly findings?: string | undefined;
  readonly onFailure?: "stop" | "log" | undefined;
}

export function notify(
  state: NotificationState,
  { plan, history }: NotifyContext,
  { findings = "", onFailure = "stop" }: NotifyOptions = {},
): readonly Effect[] {
  if (wasNotified(history, state)) return [];
  const { upgradeAt } = plan.spec;
  const { version } = history;
  return [{
    kind: "notify",
    onFailure,
    notification: {
      id: notificationId(state, { plan, history }),
      state,
      version,
      upgradeAt,
      description: describeState(state, { history, upgradeAt, findings }),
    },
  }];
}

/** The same for the same state of the same target of the same plan, from any replica. */
export function notificationId(
  state: NotificationState,
  { plan, history: { version, architecture } }: {
    readonly plan: Pick<UpgradeConfig, "uid">;
    readonly history: Pick<History, "version" | "architecture">;
  },
): string {
  return [plan.uid, version, ...(architecture === "" ? [] : [architecture]), state].join("/");
}

function wasNotified({ notifications }: History, state: NotificationState): boolean {
  return notifications.some((sent) => sent.state === state);
}

export function withNotified(history: History, done: readonly Effect[], nowMs: number): History {
  const states = done.flatMap((effect) => effect.kind === "notify" ? [effect.notification.state] : []);
  const fresh = [...new Set(states)].filter((state) => !wasNotified(history, state));
  if (fresh.length === 0) return history;
  return {
    ...history,
    notifications: [...history.notifications, ...fresh.map((state) => ({ state, sentTime: renderTime(nowMs) }))],
  };
}

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
