// Looks at an upgrade of a large cluster on a real API server: how many requests each makes, and how long it takes.
import { drive } from "../../../controllers/upgrades/drive.ts";
import type { UpgradesDeps } from "../../../controllers/upgrades/deps.ts";
import { systemClock } from "../../../lib/clock.ts";
import type { KubeApi } from "../../../lib/k8s/api.ts";
import { readKubeconfigAccess } from "../../../lib/k8s/kubeconfig_access.ts";
import { silentLogger } from "../../../lib/log.ts";
import { readInput } from "../../../lib/upgrading/cluster/plan_input.ts";
import { readHealth } from "../../../lib/upgrading/health/read_health.ts";
import { reconcile } from "../../../lib/upgrades/reconcile.ts";
import { checksOf } from "../../../lib/upgrades/health_decision.ts";
import { openTestApi } from "../../support/cluster_api.ts";
import { type ClusterAccess, expectStatus, read } from "./cluster_access.ts";
import { CLUSTER_VERSION } from "./openshift_world.ts";
import { openUpgradeBed, type OutsideDouble } from "./upgrade_bed.ts";
import { pause } from "./wait.ts";

const NAMESPACE = "openshift-managed-upgrade-operator";
const SETTINGS = `/api/v1/namespaces/${NAMESPACE}/configmaps/managed-upgrade-operator-config`;

/** One look. */
export interface Look {
  readonly reads: number;
  /** Reads and writes. */
  readonly requests: number;
  readonly tookMs: number;
}

/** What was seen. */
export interface ManyNodesLooks {
  /** From the first to the one that asked the ClusterVersion. */
  readonly looks: readonly Look[];
  /** What the API server says of itself at `/version`. */
  readonly version: unknown;
}

/** Looks with spare capacity and every health check until the ClusterVersion is asked. `nodes` counts those of all pools. */
export async function lookAtManyNodes(
  { nodes, pools }: { readonly nodes: number; readonly pools: number },
): Promise<ManyNodesLooks> {
  await using bed = await openUpgradeBed({ pools: poolsOf(nodes, pools), stepMs: 1_000 });
  bed.world.hold();
  const gated = {
    data: { "config.yaml": "configManager: { source: LOCAL }\nfeatureGate: { enabled: [PreHealthCheck] }\n" },
  };
  expectStatus("gate health checks", await bed.controlPlane.request("PATCH", SETTINGS, gated), [200]);
  const counts = { reads: 0, requests: 0 };
  const access = await readKubeconfigAccess(bed.controlPlane.kubeconfigFile, { clock: systemClock });
  await using api = openTestApi(access, {
    observe: ({ method }) => {
      counts.requests++;
      if (method === "GET") counts.reads++;
    },
  });
  const deps = depsOf(api, bed.outside);
  await bed.createPlan({ capacityReservation: true });
  const looks: Look[] = [];
  while (!await isAsked(bed.controlPlane)) {
    if (looks.length > 60) throw new Error("Cannot see the ClusterVersion asked: 60 looks were not enough.");
    Object.assign(counts, { reads: 0, requests: 0 });
    const startedMs = performance.now();
    await look(deps);
    looks.push({ ...counts, tookMs: performance.now() - startedMs });
    await pause(500);
  }
  return { looks, version: (await bed.controlPlane.request("GET", "/version")).body };
}

/** The control plane and pools of about the same size. */
function poolsOf(nodes: number, pools: number): Readonly<Record<string, number>> {
  const size = Math.floor(nodes / pools);
  const names = Array.from({ length: pools - 1 }, (_, at) => `pool-${at}`);
  return { master: nodes - size * (pools - 1), ...Object.fromEntries(names.map((name) => [name, size])) };
}

/** Health is read of the cluster; only alerts come from a double. */
function depsOf(api: KubeApi, outside: OutsideDouble): UpgradesDeps {
  const nothing = (): void => {};
  return {
    ...{ readApi: api, api, clock: systemClock, log: silentLogger, namespace: NAMESPACE },
    ...{ gauges: { set: nothing, clear: nothing, clearGroup: nothing }, events: { record: nothing } },
    outside: {
      ...outside,
      readers: (scope) => ({
        ...outside.readers(scope),
        health: async () => {
          const { base, reader, signal } = scope;
          if (base === undefined) throw new Error("Cannot read the health: there is no plan.");
          const alerts = { firingCriticals: () => Promise.resolve([]) };
          return await readHealth(
            { api, alerts, reader },
            { checks: checksOf(base), ignored: base.config.healthCheck },
            signal,
          );
        },
      }),
    },
  };
}

async function look(deps: UpgradesDeps): Promise<void> {
  const [nowMs, { signal }] = [systemClock.nowMs(), new AbortController()];
  const input = await readInput(deps, { nowMs, signal });
  await drive(reconcile(input), deps, { plan: input.known, base: input.base, nowMs, signal });
}

async function isAsked(cluster: ClusterAccess): Promise<boolean> {
  const { body } = await cluster.request("GET", CLUSTER_VERSION);
  return read(body, "spec", "desiredUpdate") !== undefined;
}
