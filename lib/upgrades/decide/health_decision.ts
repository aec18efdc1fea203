// What the results of the health checks mean for an upgrade.
import { notificationEffects } from "./notifications/notify.ts";
import { currentVersionOf } from "./release/target.ts";
import type { Effect } from "./types/effects.ts";
import type { HealthCheckId, HealthResult, UpgradeFacts } from "./types/observed.ts";
import type { HistoryEntry } from "./types/plan.ts";
import type { StepResult } from "./types/steps.ts";

export interface HealthContext extends UpgradeFacts {
  readonly entry: HistoryEntry;
  readonly results: readonly HealthResult[];
}

/**
 * The checks that may stop an upgrade, and that run after it. The other checks find what may delay a node, which is no
 * reason to keep an old release.
 */
export const BLOCKING_CHECKS: readonly HealthCheckId[] = ["CriticalAlerts", "ClusterOperators"];

export function checksOf({ plan, config }: UpgradeFacts): readonly HealthCheckId[] {
  if (!config.featureGates.has("PreHealthCheck")) return BLOCKING_CHECKS;
  const capacity: readonly HealthCheckId[] = plan.spec.capacity.enabled ? ["CapacityReservation"] : [];
  return [...BLOCKING_CHECKS, ...capacity, "NodeUnschedulable", "NodeUnschedulableTaint", "PDB"];
}

export function decideHealthBefore(context: HealthContext): StepResult {
  const { config, entry } = context;
  const found = problemsOf(context);
  const effects = metricsOf(context);
  if (found.length === 0) return { kind: "done", effects };
  const message = messageOf(found);
  if (!config.featureGates.has("PreHealthCheck")) return { kind: "wait", message, effects };
  const findings = found.map(({ token }) => token).join(",");
  const isEarly = entry.phase === "New";
  const state = isEarly ? "StatePreHealthCheckSL" : "StateHealthCheckSL";
  const isUpgrading = entry.phase === "Upgrading";
  // No step waits for the early notification, so it is not tried again.
  const onFailure = isEarly ? "log" : "stop";
  const notices = isUpgrading || isEarly ? notificationEffects(state, context, { findings, onFailure }) : [];
  const isBlocked = !isUpgrading || found.some(({ check }) => BLOCKING_CHECKS.includes(check));
  const all = [...effects, ...notices];
  return isBlocked ? { kind: "wait", message, effects: all } : { kind: "done", effects: all };
}

export function decideHealthAfter(context: HealthContext): StepResult {
  const found = problemsOf(context);
  const effects = metricsOf(context);
  if (found.length > 0) return { kind: "wait", message: messageOf(found), effects };
  const cleared: Effect = { kind: "clearMetric", metric: "upgradeoperator_node_drain_timeout" };
  return { kind: "done", effects: [...effects, cleared] };
}

function messageOf(found: ReturnType<typeof problemsOf>): string {
  return found.map(({ message }) => message).join("; ");
}

function problemsOf({ results }: HealthContext): readonly Extract<HealthResult, { kind: "failed" }>[] {
  return results.flatMap((result) => result.kind === "failed" ? [result] : []);
}

function metricsOf({ results, entry, clusterVersion }: HealthContext): readonly Effect[] {
  const version = currentVersionOf(clusterVersion) ?? "unknown";
  return results.flatMap(({ reasons }) =>
    Object.entries(reasons).map(([reason, value]): Effect => ({
      kind: "setMetric",
      metric: "upgradeoperator_healthcheck_failed",
      labels: { state: entry.phase, version, reason },
      value,
    }))
  );
}
