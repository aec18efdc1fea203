// Reads what the health checks need and judges it. A failed read fails only its own check.
import type { Node } from "../../../vocabulary/node.ts";
import { canScale } from "../../decide/capacity/reservation.ts";
import {
  checkAlerts,
  checkBudgets,
  checkCapacity,
  checkCordons,
  checkOperators,
  checkPressure,
  type DeploymentFindings,
  hasBudgetFindings,
} from "../../decide/health/checks.ts";
import type { HealthCheckId, HealthResult, Observation } from "../../decide/types/observed.ts";
import type { ClusterReader } from "../../cluster/cluster_reader.ts";
import { observe } from "../../cluster/plan_input.ts";
import type { ReadApi } from "../../../k8s/api.ts";
import { isForbidden } from "../../../k8s/api_error.ts";
import { errorText } from "../../../log.ts";
import { fixedEndpoint, Upstream, type UpstreamOptions } from "../http/upstream.ts";
import { readServicePort } from "../monitoring/monitoring_endpoint.ts";

export interface HealthDeps {
  readonly alerts: () => Promise<readonly string[]>;
  readonly reader: Pick<ClusterReader, "nodes" | "operators" | "machineSets" | "budgets">;
  /** The findings of the Deployment Validation Operator; undefined: they are not read. */
  readonly readFindings: ReadFindings | undefined;
}

export async function readHealth(
  deps: HealthDeps,
  checks: readonly HealthCheckId[],
  signal: AbortSignal,
): Promise<readonly HealthResult[]> {
  const { alerts, reader } = deps;
  const observeAs = async <T>(what: string, read: () => Promise<T>): Promise<Observation<T>> => {
    const seen = await observe(read, signal);
    return seen.kind === "observed" ? seen : { ...seen, why: `Cannot read ${what}: ${seen.why}` };
  };
  const nodes = (): Promise<Observation<readonly Node[]>> => observeAs("nodes", reader.nodes);
  const made: Readonly<Record<HealthCheckId, () => Promise<HealthResult>>> = {
    CriticalAlerts: async () => checkAlerts(await observeAs("critical alerts", alerts)),
    ClusterOperators: async () => checkOperators(await observeAs("cluster operators", reader.operators)),
    CapacityReservation: async () =>
      checkCapacity(await observeAs("MachineSets", async () => canScale({ machineSets: await reader.machineSets() }))),
    NodeUnschedulable: async () => checkCordons(await nodes()),
    NodeUnschedulableTaint: async () => checkPressure(await nodes()),
    PDB: async () =>
      checkBudgets(
        await observeAs("PodDisruptionBudgets", async () => (await reader.budgets()).blocking),
        await deps.readFindings?.(signal),
      ),
  };
  return await Promise.all(checks.map((check) => made[check]()));
}

type FindingsDeps = Omit<UpstreamOptions, "server" | "source"> & {
  readonly api: ReadApi;
  /** URL of the Service; absent: by its name in the cluster. */
  readonly urlOf?: ((port: number) => string) | undefined;
};

const SERVICE = {
  namespace: "openshift-deployment-validation-operator",
  name: "deployment-validation-operator-metrics",
  portName: "http-metrics",
} as const;

/** Undefined where the right to read the operator's objects is missing. Rejects only with the signal's reason. */
export type ReadFindings = (signal: AbortSignal) => Promise<DeploymentFindings | undefined>;

export function openDeploymentFindings(deps: FindingsDeps): ReadFindings {
  const { urlOf = (port) => `http://${SERVICE.name}.${SERVICE.namespace}.svc:${port}`, ...options } = deps;
  return async (signal) => {
    try {
      const port = await readServicePort(deps.api, SERVICE, signal);
      if (port === undefined) return { kind: "absent" };
      const source = fixedEndpoint({ baseUrl: urlOf(port), caCerts: [] });
      using upstream = new Upstream({ ...options, server: "the Deployment Validation Operator", source });
      const { text } = await upstream.send(
        { method: "GET", path: "/metrics", headers: { accept: "text/plain" } },
        signal,
      );
      return { kind: "observed", value: hasBudgetFindings(text) };
    } catch (error) {
      signal.throwIfAborted();
      if (isForbidden(error)) return undefined;
      return { kind: "unknown", why: errorText(error) };
    }
  };
}
