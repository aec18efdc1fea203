// What the results of the health checks mean for an upgrade.
import { notify } from "./notifications/notify.ts";
import { currentVersionOf } from "./release/target.ts";
import type { Effect } from "./types/effects.ts";
import type { Base, HealthCheckId, HealthResult } from "./types/observed.ts";
import type { HistoryEntry } from "./types/plan.ts";

export interface HealthContext extends Base {
  readonly entry: HistoryEntry;
  readonly results: readonly HealthResult[];
}

interface HealthDecision {
  readonly isBlocked: boolean;
  readonly message: string;
  readonly effects: readonly Effect[];
}

/** The checks that may stop an upgrade. The others find what may delay a node, which is no reason to keep an old release. */
const BLOCKING: readonly HealthCheckId[] = ["CriticalAlerts", "ClusterOperators"];

export function checksOf({ plan, config }: Base): readonly HealthCheckId[] {
  if (!config.featureGates.has("PreHealthCheck")) return BLOCKING;
  const capacity: readonly HealthCheckId[] = plan.spec.capacity.enabled ? ["CapacityReservation"] : [];
  return [...BLOCKING, ...capacity, "NodeUnschedulable", "NodeUnschedulableTaint", "PDB"];
}

export function decideHealthBefore(context: HealthContext): HealthDecision {
  const { config, entry } = context;
  const found = problemsOf(context);
  const effects = metricsOf(context);
  if (found.length === 0) return { isBlocked: false, message: "", effects };
  const message = found.map((result) => result.message).join("; ");
  if (!config.featureGates.has("PreHealthCheck")) return { isBlocked: true, message, effects };
  const findings = found.map(({ token }) => token).join(",");
  const isEarly = entry.phase === "New";
  const state = isEarly ? "StatePreHealthCheckSL" : "StateHealthCheckSL";
  const isUpgrading = entry.phase === "Upgrading";
  // No step waits for the early notification, so it is not tried again.
  const onFailure = isEarly ? "log" : "stop";
  const notices = isUpgrading || isEarly ? notify(state, context, { findings, onFailure }) : [];
  const isBlocked = !isUpgrading || found.some(({ check }) => BLOCKING.includes(check));
  return { isBlocked, message, effects: [...effects, ...notices] };
}

export function decideHealthAfter(context: HealthContext): HealthDecision {
  const found = problemsOf(context);
  const cleared: readonly Effect[] = found.length > 0
    ? []
    : [{ kind: "clearMetric", metric: "upgradeoperator_node_drain_timeout" }];
  return {
    isBlocked: found.length > 0,
    message: found.map((result) => result.message).join("; "),
    effects: [...metricsOf(context), ...cleared],
  };
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
