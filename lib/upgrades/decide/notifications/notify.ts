// Notifications as effects. What was sent is in the status: it is not sent again.
import type { Effect } from "../types/effects.ts";
import type { Delivery, HistoryEntry, NotificationState, UpgradeConfig, UpgradeStatus } from "../types/plan.ts";
import { renderTime } from "../../../vocabulary/time.ts";
import { unfinishedStep } from "../status_changes.ts";
import { assertNever } from "../../../parsed.ts";

interface NotificationOptions {
  readonly findings?: string | undefined;
  readonly onFailure?: "stop" | "log" | undefined;
}

export function notificationEffects(
  state: NotificationState,
  { plan, entry }: { readonly plan: UpgradeConfig; readonly entry: HistoryEntry },
  { findings = "", onFailure = "stop" }: NotificationOptions = {},
): readonly Effect[] {
  if (wasNotified(entry, state)) return [];
  const { upgradeAt } = plan.spec;
  const { version } = entry;
  return [{
    kind: "notify",
    onFailure,
    notification: {
      id: notificationId(state, { plan, entry }),
      state,
      version,
      upgradeAt,
      description: describeState(state, { entry, upgradeAt, findings }),
    },
  }];
}

/** Every replica gives the same ID to one state of one target of one plan. */
function notificationId(
  state: string,
  { plan, entry: { version, architecture } }: {
    readonly plan: Pick<UpgradeConfig, "uid">;
    readonly entry: Pick<HistoryEntry, "version" | "architecture">;
  },
): string {
  return [plan.uid, version, ...(architecture === "" ? [] : [architecture]), state].join("/");
}

function wasNotified({ notifications }: HistoryEntry, state: NotificationState): boolean {
  return notifications.some((sent) => sent.state === state);
}

export function withNotified(entry: HistoryEntry, done: readonly Effect[], nowMs: number): HistoryEntry {
  const states = done.flatMap((effect) => effect.kind === "notify" ? [effect.notification.state] : []);
  const fresh = [...new Set(states)].filter((state) => !wasNotified(entry, state));
  if (fresh.length === 0) return entry;
  return {
    ...entry,
    notifications: [...entry.notifications, ...fresh.map((state) => ({ state, sentTime: renderTime(nowMs) }))],
  };
}

export function sinksOf(deliveries: readonly Delivery[], id: string): readonly string[] {
  return deliveries.find((delivery) => delivery.id === id)?.sinks ?? [];
}

/** Replaces one delivery. Drops deliveries whose notification is in the history, since every sink has it. */
export function withDelivery(
  deliveries: readonly Delivery[],
  { id, sinks }: Delivery,
  { plan, status }: { readonly plan: Pick<UpgradeConfig, "uid">; readonly status: UpgradeStatus },
): readonly Delivery[] {
  const sent = new Set(
    status.history.flatMap((entry) => entry.notifications.map(({ state }) => notificationId(state, { plan, entry }))),
  );
  const others = deliveries.filter((other) => other.id !== id && !sent.has(other.id));
  return sinks.length === 0 ? others : [...others, { id, sinks }];
}

interface DescriptionContext {
  readonly entry: HistoryEntry;
  readonly upgradeAt: string;
  /** What a health check found, what made a commenced upgrade fail, or what a migration is stuck at; else empty. */
  readonly findings: string;
}

export function describeState(state: NotificationState, { entry, upgradeAt, findings }: DescriptionContext): string {
  const { version } = entry;
  switch (state) {
    case "StateStarted":
      return entry.profile === "type"
        ? `The upgrade of the cluster to ${version} has started.`
        : `The migration of the cluster to the multi-architecture payload of ${version} has started.`;
    case "StateCompleted":
      return entry.profile === "type"
        ? `The cluster has been upgraded to ${version}.`
        : `The cluster has been migrated to the multi-architecture payload of ${version}.`;
    case "StateDelayed":
      return `The upgrade to ${version} is delayed: ${delayedBecause(entry)}. It will retry until its time is over.`;
    case "StateFailed":
      return describeFailure({ entry, upgradeAt, findings });
    case "StateScaleSkipped":
      return `The upgrade to ${version} goes on without temporary workers: there is no MachineSet to clone.`;
    case "StateSkipped":
      return `The upgrade to ${version} goes on without temporary workers: they were not ready in time.`;
    case "StatePreHealthCheckSL":
      return `The upgrade to ${version} is planned for ${upgradeAt}. Checks found what may delay it: ${findings}.`;
    case "StateHealthCheckSL":
      return `Checks before the upgrade to ${version} found: ${findings}.`;
    case "StateControlPlaneStartedSL":
      return `The upgrade of the control plane to ${version} has started.`;
    case "StateControlPlaneFinishedSL":
      return `The control plane is at ${version}. The worker nodes follow.`;
    case "StateWorkerPlaneFinishedSL":
      return `The worker nodes are at ${version}.`;
    case "StateMultiArchCapable":
      return `The payload of ${version} is for several architectures now: nodes of other architectures can be added. ` +
        "There is no way back to a payload for one architecture.";
    case "StateMigrationStuck":
      return `The migration to the multi-architecture payload of ${version} does not proceed: ${findings}. ` +
        "It is not reverted by itself.";
    default:
      return assertNever(state);
  }
}

function describeFailure({ entry, upgradeAt, findings }: DescriptionContext): string {
  if (findings !== "") return `The upgrade to ${entry.version} was given up: ${findings}.`;
  return `The upgrade to ${entry.version}, planned for ${upgradeAt}, did not begin in time and was given up: ` +
    `${failedBecause(entry)}. Nothing was upgraded.`;
}

const WHY: Readonly<Record<string, string>> = {
  ClusterHealthyBeforeUpgrade: "the cluster is not healthy: critical alerts fire, or operators are degraded",
  ExternalDependenciesAvailable: "a service that the upgrade depends on does not answer",
  ComputeCapacityReserved: "temporary workers are not ready",
};

function delayedBecause(entry: HistoryEntry): string {
  return WHY[unfinishedStep(entry)?.type ?? ""] ?? "a step before it has not been completed";
}

function failedBecause(entry: HistoryEntry): string {
  const open = unfinishedStep(entry);
  return open?.type === "IsClusterUpgradable" ? open.message : delayedBecause(entry);
}
