// What to do about a node that is cordoned: which pods to help away now, and whether its drain has failed.
//
//   cordoned at ──▶ timeOut: pods without a budget ──▶ PDBForceDrainTimeout + expected: pods with one ──▶ failed
import { cordonOf, isMaster } from "../nodes.ts";
import type { Node } from "../../../cluster/node.ts";
import type { DrainAction, DrainAdvice, DrainPod, DrainPolicy, Strategy } from "./types.ts";
import { unreachable } from "../../../parsed.ts";
import type { DrainMode } from "../types/plan.ts";

export interface DrainFacts {
  /** Those on it that may be touched. */
  readonly pods: readonly DrainPod[];
  readonly nowMs: number;
}

/** Whether advice about a node depends on its pods: before the soonest of its times it does not, and nothing is read for it. */
export function needsPods(node: Node, policy: DrainPolicy, nowMs: number): boolean {
  const cordon = cordonOf(node);
  if (isMaster(node) || cordon.kind !== "since") return false;
  const soonestMs = Math.min(policy.timeoutMs, ...allStrategies(policy).map(({ dueAfterMs }) => dueAfterMs));
  return nowMs - cordon.sinceMs >= soonestMs;
}

export function adviseDrain(node: Node, policy: DrainPolicy, { pods, nowMs }: DrainFacts): DrainAdvice {
  const cordon = cordonOf(node);
  if (isMaster(node) || cordon.kind === "none") return { kind: "none" };
  if (cordon.kind === "unknownTime") return { kind: "unknownStart", node: node.name };
  const { sinceMs } = cordon;
  const elapsedMs = nowMs - sinceMs;
  const known = allStrategies(policy);
  const allowed = allowedBy(policy.mode, known);
  const withheld = known.filter((strategy) => !allowed.includes(strategy));
  const next = allowed.find(({ dueAfterMs }) => dueAfterMs > elapsedMs);
  return {
    kind: "draining",
    node: node.name,
    sinceMs,
    actions: actionsOf(allowed, { pods, elapsedMs }),
    withheld: actionsOf(withheld, { pods, elapsedMs }),
    hasFailed: !node.isDeleting && hasDrainFailed(allowed, { pods, elapsedMs, policy }),
    nextMs: next === undefined ? undefined : sinceMs + next.dueAfterMs,
  };
}

/** What the strategies that are due do now, soonest due first. A pod gets at most one delete and one strip. */
export function actionsOf(
  strategies: readonly Strategy[],
  { pods, elapsedMs }: { readonly pods: readonly DrainPod[]; readonly elapsedMs: number },
): readonly DrainAction[] {
  return byDueTime(strategies).filter(({ dueAfterMs }) => elapsedMs >= dueAfterMs).flatMap((
    { name, action, isTarget, actsOn },
  ) =>
    pods.filter((pod) => isTarget(pod) && actsOn(pod))
      .map((pod) => ({ kind: action, strategy: name, pod }))
  );
}

/**
 * Whether the time of the drain is over. While a strategy that is not due yet still has pods to help away it is not; when all
 * that are due were tried, the last one gets the time that a drain is expected to take.
 */
export function hasDrainFailed(
  strategies: readonly Strategy[],
  { pods, elapsedMs, policy: { timeoutMs, expectedMs } }: {
    readonly pods: readonly DrainPod[];
    readonly elapsedMs: number;
    readonly policy: Pick<DrainPolicy, "timeoutMs" | "expectedMs">;
  },
): boolean {
  const sorted = byDueTime(strategies);
  const isPending = sorted.some(({ dueAfterMs, isTarget }) => elapsedMs < dueAfterMs && pods.some(isTarget));
  if (isPending) return false;
  const last = sorted.findLast(({ dueAfterMs }) => elapsedMs >= dueAfterMs);
  const maxWaitMs = Math.max(timeoutMs, (last?.dueAfterMs ?? 0) + (last === undefined ? 0 : expectedMs));
  return elapsedMs > maxWaitMs;
}

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
