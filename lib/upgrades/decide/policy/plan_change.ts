// What becomes of the UpgradeConfig when a policy source was read, and when the source is read next.
//
//   the source        there is none    there is one
//   none              nothing          remove
//   a spec            create           the same: nothing · another: replace, so that its history starts anew
//   not configured    nothing          nothing
//   unavailable       nothing          nothing (and an error)
import * as z from "zod";
import { isObject, type JsonObject, listAt, memberOf, objectAt, textAt } from "../../../json.ts";
import { MINUTE_MS, parseTime, renderTime } from "../../../vocabulary/time.ts";

export type PolicyResult =
  | { readonly kind: "none" }
  | { readonly kind: "desired"; readonly spec: JsonObject }
  | { readonly kind: "notConfigured" };

export type PlanChange =
  | { readonly kind: "nothing" }
  | { readonly kind: "remove" }
  | { readonly kind: "create" | "replace"; readonly spec: JsonObject };

/** `current`: the spec of the UpgradeConfig as it was read; undefined when there is none. */
export function decidePlanChange(
  current: JsonObject | undefined,
  result: Exclude<PolicyResult, { readonly kind: "notConfigured" }>,
): PlanChange {
  if (result.kind !== "desired") return current === undefined ? { kind: "nothing" } : { kind: "remove" };
  if (current === undefined) return { kind: "create", spec: result.spec };
  // Members that only users set do not count.
  const isThere = Object.entries(result.spec).every(([member, value]) => isSame(memberOf(current, member), value));
  if (isThere) return { kind: "nothing" };
  // What people set beside the policy (`suspend`, `drain`…) stays.
  return { kind: "replace", spec: { ...current, ...result.spec } };
}

/** Deep equality of JSON, where an empty text equals an absent member. */
function isSame(left: unknown, right: unknown): boolean {
  if (isObject(left) && isObject(right)) {
    return [...new Set([...Object.keys(left), ...Object.keys(right)])].every((key) =>
      isSame(memberOf(left, key) ?? "", memberOf(right, key) ?? "")
    );
  }
  return left === right;
}

/** Where users write the UpgradeConfig, its spec is the policy, until its phase is Upgraded. */
export function localPolicyOf(object: JsonObject | undefined): PolicyResult {
  const [newest] = listAt(objectAt(object, "status"), "history") ?? [];
  const spec = objectAt(object, "spec");
  if (newest === undefined || spec === undefined || textAt(newest, "phase") === "Upgraded") return { kind: "none" };
  return { kind: "desired", spec };
}

export type LastSync =
  | { readonly kind: "first" }
  | { readonly kind: "synced" }
  | { readonly kind: "failed"; readonly failures: number };

const MAX_BACKOFF_MS = 60 * MINUTE_MS;
const JITTER = 0.1;

/** How long to wait until a policy source is read again (ms). `random` is at least 0 and below 1. */
export function nextSyncMs(
  last: LastSync,
  { watchIntervalMinutes, random }: { readonly watchIntervalMinutes: number; readonly random: number },
): number {
  if (last.kind === "failed") return Math.min(MAX_BACKOFF_MS, MINUTE_MS * 2 ** (last.failures - 1));
  const pauseMs = last.kind === "first" ? MINUTE_MS : watchIntervalMinutes * MINUTE_MS;
  return pauseMs * (1 - JITTER + 2 * JITTER * random);
}

/** A cluster as the cluster manager describes it. The grace: how long a PodDisruptionBudget may hold up a drain. */
export const ManagedCluster = z.object({
  id: z.string().min(1),
  version: z.object({ channel_group: z.string().default("") }).default({ channel_group: "" }),
  node_drain_grace_period: z.object({ value: z.number().default(0) }).default({ value: 0 }),
}).transform(({ id, version, node_drain_grace_period: { value: drainGraceMinutes } }) => {
  return { id, channelGroup: version.channel_group, drainGraceMinutes };
});

export const UpgradePolicy = z.object({
  id: z.string().min(1),
  version: z.string().default(""),
  next_run: z.string().default(""),
}).transform(({ next_run: nextRun, ...policy }) => ({ ...policy, nextRun }));

export type ManagedCluster = Readonly<z.output<typeof ManagedCluster>>;
export type UpgradePolicy = Readonly<z.output<typeof UpgradePolicy>>;

const IDLE_STATES = ["pending", "completed", "cancelled"];

export function isActionable(state: string): boolean {
  return !IDLE_STATES.includes(state);
}

/** The policies that have a version and a time, the earliest first. */
export function orderPolicies(policies: readonly UpgradePolicy[]): readonly UpgradePolicy[] {
  const timed = policies.flatMap((policy) => {
    const nextRunMs = parseTime(policy.nextRun);
    return policy.version === "" || nextRunMs === undefined ? [] : [{ policy, nextRunMs }];
  });
  return timed.toSorted((left, right) => left.nextRunMs - right.nextRunMs).map(({ policy }) => policy);
}

/** The channel of a version; `eus` has channels for even minor versions only. Undefined for a malformed version. */
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
): JsonObject | undefined {
  const channel = inferChannel(version, cluster.channelGroup);
  const nextRunMs = parseTime(nextRun);
  if (channel === undefined || nextRunMs === undefined) return undefined;
  return {
    desired: { version, channel },
    upgradeAt: renderTime(nextRunMs),
    PDBForceDrainTimeout: Math.max(0, Math.trunc(cluster.drainGraceMinutes)),
    // The cluster manager's API has no such field any more.
    capacityReservation: true,
    type,
  };
}

export function isPolicyOf(
  { version, nextRun }: UpgradePolicy,
  plan: { readonly version: string; readonly upgradeAt: string },
): boolean {
  const nextRunMs = parseTime(nextRun);
  return version === plan.version && nextRunMs !== undefined && nextRunMs === parseTime(plan.upgradeAt);
}
