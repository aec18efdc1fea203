// From a policy of the cluster manager (OCM) to the spec of an UpgradeConfig. Pure.
import { renderTime } from "../../../cluster/time.ts";
import type { JsonObject } from "../../../json.ts";

export interface ManagedCluster {
  readonly id: string;
  /** `stable`, `fast`, `eus`…; may be empty. */
  readonly channelGroup: string;
  /** How long a PodDisruptionBudget may hold up a drain (minutes). */
  readonly drainGraceMinutes: number;
}

export interface UpgradePolicy {
  readonly id: string;
  readonly version: string;
  /** RFC 3339. */
  readonly nextRun: string;
}

/** The spec of the UpgradeConfig that a policy leads to, as it is written. */
export interface PolicySpec extends JsonObject {
  readonly desired: { readonly version: string; readonly channel: string };
  readonly upgradeAt: string;
  readonly PDBForceDrainTimeout: number;
  readonly capacityReservation: boolean;
  readonly type: "OSD" | "ARO";
}

const IDLE_STATES = ["pending", "completed", "cancelled"];

export function isActionable(state: string): boolean {
  return !IDLE_STATES.includes(state);
}

export function orderPolicies(policies: readonly UpgradePolicy[]): readonly UpgradePolicy[] {
  return policies.filter(({ version, nextRun }) => version !== "" && !Number.isNaN(Date.parse(nextRun)))
    .toSorted((left, right) => Date.parse(left.nextRun) - Date.parse(right.nextRun));
}

/** The channel for a version, or undefined for a version that is none. An `eus` channel exists for even minors alone. */
export function inferChannel(version: string, channelGroup: string): string | undefined {
  const parts = /^(\d+)\.(\d+)\.\d+(?:[-+].*)?$/.exec(version);
  if (parts === null) return undefined;
  const [, major = "", minorText = ""] = parts;
  const group = channelGroup === "" ? "stable" : channelGroup;
  const minor = Number(minorText);
  return `${group}-${major}.${group === "eus" && minor % 2 === 1 ? minor + 1 : minor}`;
}

export function specOfPolicy(
  { version, nextRun }: UpgradePolicy,
  { cluster, type }: { readonly cluster: ManagedCluster; readonly type: "OSD" | "ARO" },
): PolicySpec | undefined {
  const channel = inferChannel(version, cluster.channelGroup);
  if (channel === undefined) return undefined;
  return {
    desired: { version, channel },
    upgradeAt: renderTime(Date.parse(nextRun)),
    PDBForceDrainTimeout: Math.max(0, Math.trunc(cluster.drainGraceMinutes)),
    // The manager's API does not say it any more.
    capacityReservation: true,
    type,
  };
}

export function isPolicyOf(
  { version, nextRun }: UpgradePolicy,
  plan: { readonly version: string; readonly upgradeAt: string },
): boolean {
  return version === plan.version && Date.parse(nextRun) === Date.parse(plan.upgradeAt);
}
