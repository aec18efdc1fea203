// Reads what the health checks need and judges it. Every check is made whatever the others find; a failed read costs its own
// check alone.
import type { ReadApi } from "../../k8s/api.ts";
import { listAll } from "../../k8s/lists.ts";
import { type KubeObject, Resource, type ResourceType } from "../../k8s/types.ts";
import { errorText } from "../../log.ts";
import type { IgnoredAlerts } from "../../upgrades/health/alert_queries.ts";
import {
  checkAlerts,
  checkBudgets,
  checkCapacity,
  checkCordons,
  checkOperators,
  checkPressure,
  type DeploymentFindings,
} from "../../upgrades/health/checks.ts";
import { disruptionBudgetOf } from "../../upgrades/health/budgets.ts";
import { parseNode } from "../../upgrades/nodes.ts";
import type { ClusterOperator } from "../../upgrades/types/cluster.ts";
import type { HealthResult } from "../../upgrades/types/health.ts";
import type { Observation } from "../../upgrades/types/observed.ts";
import type { AlertReader } from "../monitoring/alerts.ts";

/** What reading takes. */
export interface HealthDeps {
  readonly api: ReadApi;
  readonly alerts: Pick<AlertReader, "firingCriticals">;
  readonly readOperators: (signal: AbortSignal) => Promise<readonly ClusterOperator[]>;
  /** Whether there is a MachineSet to clone. */
  readonly canReserve: (signal: AbortSignal) => Promise<boolean>;
  /** What the Deployment Validation Operator says; undefined: it is not asked. */
  readonly readFindings?: ((signal: AbortSignal) => Promise<DeploymentFindings>) | undefined;
}

/** Which checks, and what does not count. */
export interface HealthOptions {
  /** `after`: alerts and operators alone. */
  readonly which: "before" | "after";
  readonly ignored: IgnoredAlerts;
  /** Whether temporary workers are wanted, so that they must be possible. */
  readonly reservesCapacity: boolean;
}

/** The results in the order of the checks. Rejects only with the signal's reason. */
export async function readHealth(
  deps: HealthDeps,
  { which, ignored, reservesCapacity }: HealthOptions,
  signal: AbortSignal,
): Promise<readonly HealthResult[]> {
  const observe = <T>(what: string, read: () => Promise<T>): Promise<Observation<T>> =>
    observed(what, { read, signal });
  const [firing, operators] = await Promise.all([
    observe("critical alerts", () => deps.alerts.firingCriticals(ignored, signal)),
    observe("cluster operators", () => deps.readOperators(signal)),
  ]);
  const always = [checkAlerts(firing), checkOperators(operators)];
  if (which === "after") return always;
  const nodes = await observe("nodes", () => viewsOf(deps, { type: Resource.nodes, view: parseNode, signal }));
  const budgets = await observe(
    "PodDisruptionBudgets",
    () => viewsOf(deps, { type: Resource.podDisruptionBudgets, view: disruptionBudgetOf, signal }),
  );
  const capacity = reservesCapacity ? [checkCapacity(await observe("MachineSets", () => deps.canReserve(signal)))] : [];
  const findings = await deps.readFindings?.(signal);
  return [...always, ...capacity, checkCordons(nodes), checkPressure(nodes), checkBudgets(budgets, findings)];
}

async function viewsOf<T>(
  { api }: HealthDeps,
  { type, view, signal }: {
    readonly type: ResourceType;
    readonly view: (object: KubeObject) => T;
    readonly signal: AbortSignal;
  },
): Promise<readonly T[]> {
  const views: T[] = [];
  for await (const object of listAll(api, type, { signal })) views.push(view(object));
  return views;
}

async function observed<T>(
  what: string,
  { read, signal }: { readonly read: () => Promise<T>; readonly signal: AbortSignal },
): Promise<Observation<T>> {
  try {
    return { kind: "observed", value: await read() };
  } catch (error) {
    signal.throwIfAborted();
    return { kind: "unknown", why: `Cannot read ${what}: ${errorText(error)}` };
  }
}
