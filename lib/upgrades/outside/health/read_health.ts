// Reads what the health checks need and judges it. A failed read costs its own check alone.
import type { Node } from "../../../cluster/node.ts";
import { canScale } from "../../decide/capacity/plan.ts";
import {
  checkAlerts,
  checkBudgets,
  checkCapacity,
  checkCordons,
  checkOperators,
  checkPressure,
} from "../../decide/health/checks.ts";
import type { HealthCheckId, HealthResult, Observation } from "../../decide/types/observed.ts";
import type { ClusterReader } from "../../cluster/cluster_reader.ts";
import { observe as observeOnce } from "../../cluster/plan_input.ts";
import type { ReadFindings } from "./deployment_findings.ts";

export interface HealthDeps {
  /** Names of the critical alerts that fire and count. */
  readonly alerts: () => Promise<readonly string[]>;
  /** Of the reconcile, so that nothing is read twice in it. */
  readonly reader: Pick<ClusterReader, "nodes" | "operators" | "machineSets" | "budgets">;
  /** The findings of the Deployment Validation Operator; undefined: they are not read. */
  readonly readFindings?: ReadFindings | undefined;
}

export async function readHealth(
  deps: HealthDeps,
  checks: readonly HealthCheckId[],
  signal: AbortSignal,
): Promise<readonly HealthResult[]> {
  const { alerts, reader } = deps;
  const observe = async <T>(what: string, read: () => Promise<T>): Promise<Observation<T>> => {
    const seen = await observeOnce(read, signal);
    return seen.kind === "observed" ? seen : { ...seen, why: `Cannot read ${what}: ${seen.why}` };
  };
  const nodes = (): Promise<Observation<readonly Node[]>> => observe("nodes", reader.nodes);
  const made: Readonly<Record<HealthCheckId, () => Promise<HealthResult>>> = {
    CriticalAlerts: async () => checkAlerts(await observe("critical alerts", alerts)),
    ClusterOperators: async () => checkOperators(await observe("cluster operators", reader.operators)),
    CapacityReservation: async () =>
      checkCapacity(
        await observe("MachineSets", async () => canScale({ machineSets: await reader.machineSets() })),
      ),
    NodeUnschedulable: async () => checkCordons(await nodes()),
    NodeUnschedulableTaint: async () => checkPressure(await nodes()),
    PDB: async () =>
      checkBudgets(
        await observe("PodDisruptionBudgets", async () => (await reader.budgets()).blocking),
        await deps.readFindings?.(signal),
      ),
  };
  return await Promise.all(checks.map((check) => made[check]()));
}
