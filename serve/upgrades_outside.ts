// What upgrades need that is not the API server: Alertmanager, Prometheus, the update graph, registries, the cluster manager.
import type { Outside, ReadScope } from "../controllers/upgrades/deps.ts";
import { openRegistryAccess } from "../lib/images/registry_access.ts";
import type { KubeApi } from "../lib/k8s/api.ts";
import { Resource } from "../lib/k8s/types.ts";
import { apiVersionOf } from "../lib/k8s/types.ts";
import { CLUSTER_VERSION_NAME } from "../lib/upgrade_names.ts";
import type { UpgradeMetrics } from "../lib/upgrade_metrics.ts";
import { checkDependencies } from "../lib/upgrading/health/dependencies.ts";
import { readDeploymentFindings } from "../lib/upgrading/health/deployment_findings.ts";
import { readHealth } from "../lib/upgrading/health/read_health.ts";
import { Upstream, type UpstreamLimits } from "../lib/upgrading/http/upstream.ts";
import { openMonitoringToken } from "../lib/upgrading/monitoring/access_token.ts";
import { type AlertReader, openAlertReader } from "../lib/upgrading/monitoring/alerts.ts";
import { openMonitoringEndpoint } from "../lib/upgrading/monitoring/monitoring_endpoint.ts";
import { openSilenceStore, type SilenceStore } from "../lib/upgrading/monitoring/silences.ts";
import { openPayloadReader, type PayloadReader } from "../lib/upgrading/releases/payload.ts";
import { openUpdateGraph, type UpdateGraph } from "../lib/upgrading/releases/update_graph.ts";
import { openEventSink } from "../lib/upgrading/sinks/event_sink.ts";
import { openLogSink } from "../lib/upgrading/sinks/log_sink.ts";
import { Teller } from "../lib/upgrading/sinks/teller.ts";
import { canScale } from "../lib/upgrades/capacity/plan.ts";
import { parseClusterVersion } from "../lib/upgrades/parse/cluster.ts";
import { graphQueryOf } from "../lib/upgrades/release/graph_query.ts";
import type { Base, Readings } from "../lib/upgrades/types/observed.ts";
import type { UpgradeConfig } from "../lib/upgrades/types/plan.ts";
import type { CapabilityParts } from "./capability.ts";
import type { ServeDeps } from "./clients.ts";
import { type ClusterManager, openClusterManager } from "./upgrades_policy.ts";

const LIMITS: UpstreamLimits = { timeoutMs: 30_000, maxBytes: 8 * 1024 * 1024 };

interface Parts {
  readonly deps: ServeDeps;
  readonly api: KubeApi;
  readonly alerts: AlertReader;
  readonly silences: SilenceStore;
  readonly graph: UpdateGraph;
  readonly payload: PayloadReader;
  readonly manager: ClusterManager;
}

/** Opens it, with what keeps the plan as a policy source wants it. Nothing is asked before a reconcile asks for it. */
export function openOutside(
  deps: ServeDeps,
  { leaderApi: api, readApi, stack }: CapabilityParts,
  metrics: UpgradeMetrics,
): { readonly outside: Outside; readonly manager: ClusterManager } {
  const { clock, config, log, userAgent } = deps;
  const token = openMonitoringToken({ api, clock });
  // A process outside of the cluster reaches what the cluster shows to the outside.
  const by = config.kubeconfig === undefined ? "service" : "route";
  const monitoring = (server: string, service: "alertmanager-main" | "prometheus-k8s"): Upstream =>
    stack.use(
      new Upstream({
        ...{ server, limits: LIMITS, userAgent, clock },
        source: openMonitoringEndpoint({ service, by, api: readApi, token, clock }),
      }),
    );
  const access = stack.use(openRegistryAccess({ config, clock, log, userAgent, clusterCredentials: () => [] }));
  const clusterId = async (signal: AbortSignal): Promise<string> =>
    parseClusterVersion(await api.get(Resource.clusterVersions, { name: CLUSTER_VERSION_NAME }, signal)).clusterId;
  const manager = openClusterManager(deps, { api, stack, clusterId, metrics });
  const parts: Parts = {
    ...{ deps, api, manager },
    alerts: openAlertReader({ upstream: monitoring("Prometheus", "prometheus-k8s"), clock }),
    silences: openSilenceStore({ upstream: monitoring("Alertmanager", "alertmanager-main"), clock }),
    graph: openUpdateGraph({ caCerts: [], userAgent, clock }),
    payload: openPayloadReader({ access, clock }),
  };
  return { outside: outsideOf(parts, metrics), manager };
}

function outsideOf(parts: Parts, metrics: UpgradeMetrics): Outside {
  const { silences } = parts;
  return {
    readers: (scope) => readersOf(parts, scope),
    createSilence: async (silence, signal) => void await silences.create(silence, signal),
    endSilence: (id, signal) => silences.end(id, signal),
    tell: openTelling(parts, metrics),
  };
}

function readersOf(parts: Parts, scope: ReadScope): ReturnType<Outside["readers"]> {
  const { deps: { clock, userAgent }, alerts, graph, manager, payload, silences } = parts;
  const { base, signal } = scope;
  return {
    silences: () => silences.list(signal),
    health: () => healthOf(parts, scope, "before"),
    healthAfter: () => healthOf(parts, scope, "after"),
    dependencies: () => {
      const { urls, timeoutSeconds } = known(base).config.dependencies;
      return checkDependencies({ clock, userAgent }, { urls, timeoutSeconds }, signal);
    },
    graph: async () => (await graph.releases(await queryOf(scope), signal)).offered,
    payload: async () =>
      await payload.read(await imageOf(parts, scope), {
        ...{ architecture: (await architecturesOf(scope))[0], signal },
      }),
    policy: () => manager.refresh(signal),
    alertsDuring: () => {
      const [history] = known(base).plan.status.history;
      const { startMs, completeMs: endMs = scope.nowMs } = history ?? {};
      return startMs === undefined ? Promise.resolve([]) : alerts.pagingBetween({ startMs, endMs }, signal);
    },
  };
}

function healthOf(
  { deps: { clock, userAgent }, api, alerts }: Parts,
  { base, reader, signal }: ReadScope,
  which: "before" | "after",
): Promise<Readings["health"]> {
  const { config, plan: { spec } } = known(base);
  const readFindings = (ask: AbortSignal): ReturnType<typeof readDeploymentFindings> =>
    readDeploymentFindings({ api, limits: LIMITS, userAgent, clock }, ask);
  return readHealth(
    {
      ...{ api, alerts, readOperators: reader.operators },
      canReserve: async () => canScale({ machineSets: await reader.machineSets() }),
      // The validation operator is part of managed clusters of this type alone.
      ...spec.type === "OSD" ? { readFindings } : {},
    },
    { which, ignored: config.healthCheck, reservesCapacity: spec.capacity.enabled },
    signal,
  );
}

/** The payload that the plan leads to: as named, else as the graph has it. */
async function imageOf({ graph }: Parts, scope: ReadScope): Promise<string> {
  const { desired } = known(scope.base).plan.spec;
  if (desired.image !== "") return desired.image;
  const { offered, own } = await graph.releases(await queryOf(scope), scope.signal);
  const release = own?.version === desired.version ? own : offered.find(({ version }) => version === desired.version);
  if (release !== undefined) return release.image;
  throw new Error(`Cannot find the payload of ${desired.version}: the update graph does not have it.`);
}

async function queryOf(scope: ReadScope): Promise<ReturnType<typeof graphQueryOf>> {
  const { clusterVersion, plan: { spec: { desired } } } = known(scope.base);
  const [controlPlane = "amd64"] = await architecturesOf(scope);
  return graphQueryOf(clusterVersion, { desired, controlPlane });
}

async function architecturesOf({ reader }: ReadScope): Promise<readonly string[]> {
  const masters = (await reader.nodes()).filter(({ isMaster }) => isMaster);
  return [...new Set(masters.map(({ architecture }) => architecture).filter((one) => one !== ""))].toSorted();
}

/** Tells of a plan: by an event, in the log, and the cluster manager where it orders the upgrades. */
function openTelling({ deps: { clock, log }, api, manager }: Parts, metrics: UpgradeMetrics): Outside["tell"] {
  let subject: Pick<UpgradeConfig, "namespace" | "name" | "uid"> = { namespace: "", name: "", uid: "" };
  const { kind } = Resource.upgradeConfigs;
  const apiVersion = apiVersionOf(Resource.upgradeConfigs);
  const event = openEventSink({ api, clock, subject: () => ({ apiVersion, kind, ...subject }) });
  const teller = new Teller({
    sinks: async (signal) => [event, openLogSink(log), ...await manager.sinks(signal)],
    observe: ({ state }, result) =>
      metrics.set("upgrade_notification_failed", {
        labels: { upgradeconfig_name: subject.name, event: state },
        value: Number(result === "failed"),
      }),
  });
  return async (notification, { namespace, name, uid }, signal) => {
    subject = { namespace, name, uid };
    await teller.tell(notification, signal);
  };
}

function known(base: Base | undefined): Base {
  if (base === undefined) throw new Error("Cannot read: there is no UpgradeConfig.");
  return base;
}
