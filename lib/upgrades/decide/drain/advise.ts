// What to do about a cordoned node: which pods to delete or strip of finalizers now, and whether its drain has failed.
//
//   cordoned at ──▶ timeOut: pods without a budget ──▶ PDBForceDrainTimeout + expected: pods with one ──▶ failed
import { cordonOf, isMaster } from "../pools.ts";
import type { Node } from "../../../vocabulary/node.ts";
import type { DrainAction, DrainAdvice, DrainPod, DrainSettings, Strategy } from "./types.ts";
import { assertNever } from "../../../parsed.ts";
import type { DrainMode, NewPlanCondition, UpgradeSpec } from "../types/plan.ts";
import type { OperatorConfig } from "../types/operator_config.ts";

/** Whether a node's pods must be read: before the first strategy is due, advice does not depend on them. */
export function needsPods(node: Node, settings: DrainSettings, nowMs: number): boolean {
  const cordon = cordonOf(node);
  if (isMaster(node) || cordon.kind !== "since") return false;
  return allStrategies(settings).some(({ dueAfterMs }) => nowMs - cordon.sinceMs >= dueAfterMs);
}

export function adviseDrain(
  node: Node,
  settings: DrainSettings,
  { pods, nowMs }: { readonly pods: readonly DrainPod[]; readonly nowMs: number },
): DrainAdvice {
  const cordon = cordonOf(node);
  if (isMaster(node) || cordon.kind === "none") return { kind: "none" };
  if (cordon.kind === "unknownTime") return { kind: "unknownStart", node: node.name };
  const elapsedMs = nowMs - cordon.sinceMs;
  const known = allStrategies(settings);
  const allowed = allowedBy(settings.mode, known);
  const withheld = known.filter((strategy) => !allowed.includes(strategy));
  return {
    kind: "draining",
    node: node.name,
    actions: actionsOf(allowed, { pods, elapsedMs }),
    withheld: actionsOf(withheld, { pods, elapsedMs }),
    hasFailed: !node.isDeleting && hasDrainFailed(allowed, { pods, elapsedMs, settings }),
  };
}

/** What the strategies that are due do now, in their order. A pod gets at most one delete and one strip. */
export function actionsOf(
  strategies: readonly Strategy[],
  { pods, elapsedMs }: { readonly pods: readonly DrainPod[]; readonly elapsedMs: number },
): readonly DrainAction[] {
  const due = strategies.filter(({ dueAfterMs }) => elapsedMs >= dueAfterMs);
  return due.flatMap(({ name, action, isTarget, actsOn }) =>
    pods.filter((pod) => isTarget(pod) && actsOn(pod)).map((pod) => ({ kind: action, strategy: name, pod }))
  );
}

/** Whether the drain has failed: no pod is left to a later strategy, and the last due one has had its time. */
export function hasDrainFailed(
  strategies: readonly Strategy[],
  { pods, elapsedMs, settings: { timeoutMs, expectedMs } }: {
    readonly pods: readonly DrainPod[];
    readonly elapsedMs: number;
    readonly settings: Pick<DrainSettings, "timeoutMs" | "expectedMs">;
  },
): boolean {
  const sorted = byDueTime(strategies);
  const isPending = sorted.some(({ dueAfterMs, isTarget }) => elapsedMs < dueAfterMs && pods.some(isTarget));
  if (isPending) return false;
  const last = sorted.findLast(({ dueAfterMs }) => elapsedMs >= dueAfterMs);
  const maxWaitMs = Math.max(timeoutMs, (last?.dueAfterMs ?? 0) + (last === undefined ? 0 : expectedMs));
  return elapsedMs > maxWaitMs;
}

/** All strategies, soonest first; those that are due at the same time keep the order below. */
export function allStrategies({ timeoutMs, protectedTimeoutMs, expectedMs }: DrainSettings): readonly Strategy[] {
  const [plainMs, protectedMs] = [timeoutMs, protectedTimeoutMs + expectedMs];
  return byDueTime([
    {
      name: "DELETE",
      dueAfterMs: plainMs,
      action: "delete",
      isTarget: (pod) => !pod.isProtected,
      actsOn: (pod) => !pod.isTerminating,
    },
    {
      name: "DEFAULT-FINALIZER",
      dueAfterMs: plainMs,
      action: "stripFinalizers",
      isTarget: (pod) => !pod.isProtected && pod.hasFinalizers,
      actsOn: (pod) => pod.hasFinalizers,
    },
    {
      name: "POD-STUCK-TERMINATING",
      dueAfterMs: plainMs,
      action: "delete",
      isTarget: (pod) => !pod.isProtected && pod.isTerminating && !pod.hasFinalizers,
      actsOn: (pod) => pod.isTerminating,
    },
    {
      name: "PDB-DELETE",
      dueAfterMs: protectedMs,
      action: "delete",
      isTarget: (pod) => pod.isProtected,
      actsOn: (pod) => !pod.isTerminating,
    },
    {
      name: "PDB-FINALIZER",
      dueAfterMs: protectedMs,
      action: "stripFinalizers",
      isTarget: (pod) => pod.isProtected && pod.hasFinalizers,
      actsOn: (pod) => pod.hasFinalizers,
    },
  ]);
}

function byDueTime(strategies: readonly Strategy[]): readonly Strategy[] {
  return strategies.toSorted((one, other) => one.dueAfterMs - other.dueAfterMs);
}

function allowedBy(mode: DrainMode, strategies: readonly Strategy[]): readonly Strategy[] {
  switch (mode) {
    case "Observe":
      return [];
    case "Delete":
      return strategies.filter(({ action }) => action === "delete");
    case "DeleteAndStripFinalizers":
      return strategies;
    default:
      return assertNever(mode);
  }
}

type Mode = Pick<UpgradeSpec, "drainMode">;
type Settings = Pick<OperatorConfig, "nodeDrain">;

/** The plan's mode, else that of the settings. `Observe` without either, and where strategies are disabled. */
export function drainModeOf({ drainMode }: Mode, { nodeDrain }: Settings): DrainMode {
  return nodeDrain.disableDrainStrategies ? "Observe" : drainMode ?? nodeDrain.mode ?? "Observe";
}

const REPORTED = "Pods that keep a node from being drained are reported, not deleted";

/** `isForbidden`: the API server refused all actions that were tried last (403). */
export function drainModeCondition(
  plan: Mode,
  { config, isForbidden }: { readonly config: Settings; readonly isForbidden: boolean },
): NewPlanCondition {
  const because = (status: NewPlanCondition["status"], reason: string, message: string): NewPlanCondition => {
    return { type: "DrainMode", status, reason, message };
  };
  if (config.nodeDrain.disableDrainStrategies) {
    return because("False", "DrainStrategiesDisabled", `${REPORTED}: nodeDrain.disableDrainStrategies is true.`);
  }
  const mode = plan.drainMode ?? config.nodeDrain.mode;
  if (mode === undefined) {
    const hint = "Set spec.drain.mode to DeleteAndStripFinalizers for what the Managed Upgrade Operator does.";
    return because("False", "ObserveByDefault", `${REPORTED}. ${hint}`);
  }
  if (mode === "Observe") return because("False", mode, `${REPORTED}.`);
  if (isForbidden) {
    const hint = "The component `upgrades-drain` grants the right.";
    return because("False", "Forbidden", `${REPORTED}: the API server forbids what ${mode} tries (403). ${hint}`);
  }
  const granted = "where the component `upgrades-drain` grants it";
  return because("True", mode, `Pods that keep a node from being drained in time are to be deleted, ${granted}.`);
}
