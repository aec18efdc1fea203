// Where plans come from and who is told of them besides people: the cluster manager (OCM), if the settings name it.
import type { KubeApi } from "../lib/k8s/api.ts";
import { Resource } from "../lib/k8s/types.ts";
import { entryOf, textMapAt } from "../lib/json.ts";
import { Upgrades } from "../lib/upgrade_names.ts";
import type { UpgradeMetrics } from "../lib/upgrade_metrics.ts";
import { Upstream } from "../lib/upgrading/http/upstream.ts";
import { OCM_LIMITS, type OcmClient, openOcmClient } from "../lib/upgrading/ocm/ocm_client.ts";
import { ocmModeOf, openOcmEndpoint } from "../lib/upgrading/ocm/ocm_endpoint.ts";
import { openOcmPolicySource } from "../lib/upgrading/ocm/ocm_policy_source.ts";
import { openLocalPolicySource } from "../lib/upgrading/policy/local_policy_source.ts";
import { type PolicySource, PolicySync } from "../lib/upgrading/policy/policy_sync.ts";
import { openOcmStateSink, openServiceLogSink } from "../lib/upgrading/sinks/ocm_sinks.ts";
import type { NotificationSink } from "../lib/upgrading/sinks/sink.ts";
import { parseOperatorConfig } from "../lib/upgrades/parse/operator_config.ts";
import type { PolicyRefresh } from "../lib/upgrades/types/cluster.ts";
import type { OperatorConfig } from "../lib/upgrades/types/operator_config.ts";
import type { ServeDeps } from "./clients.ts";

/** The source of plans, and those of its sinks that the settings name. */
export interface ClusterManager {
  refresh(signal: AbortSignal): Promise<PolicyRefresh>;
  /** Keeps the plan as the source wants it, until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  sinks(signal: AbortSignal): Promise<readonly NotificationSink[]>;
}

interface ManagerDeps {
  readonly api: KubeApi;
  readonly stack: AsyncDisposableStack;
  readonly clusterId: (signal: AbortSignal) => Promise<string>;
  readonly metrics: UpgradeMetrics;
}

/** Until the settings were read for the first time. */
const DEFAULT_INTERVAL_MINUTES = 60;

const NO_SOURCE: PolicySource = { onNone: "keep", fetch: () => Promise.resolve({ kind: "notConfigured" }) };

/** Opens it; nothing is asked yet. */
export function openClusterManager(serving: ServeDeps, deps: ManagerDeps): ClusterManager {
  const { clock, config: { namespace }, log } = serving;
  const { api, clusterId, metrics } = deps;
  const name = Upgrades.config;
  const plan = { api, type: Resource.upgradeConfigs, namespace, name };
  const clientOf = openClients(serving, deps);
  let watchIntervalMinutes = DEFAULT_INTERVAL_MINUTES;
  const settings = async (signal: AbortSignal): Promise<OperatorConfig> => {
    const config = await readSettings(api, { namespace, signal });
    watchIntervalMinutes = config.configManager.watchIntervalMinutes;
    return config;
  };
  const sync = new PolicySync({
    ...plan,
    source: async (signal) => {
      const { configManager: { source, ocmBaseUrl }, upgradeType } = await settings(signal);
      if (source === "LOCAL") return openLocalPolicySource(plan);
      if (source !== "OCM" || ocmBaseUrl === undefined) return NO_SOURCE;
      return openOcmPolicySource({ client: clientOf(ocmBaseUrl), type: upgradeType });
    },
    watchIntervalMinutes: () => watchIntervalMinutes,
    ...{ clock, log: log.with({ part: "policy" }) },
    onSynced: (nowMs) =>
      metrics.set("upgradeoperator_upgradeconfig_sync_timestamp", {
        labels: { upgradeconfig_name: name },
        value: nowMs / 1_000,
      }),
  });
  return {
    refresh: (signal) => sync.refresh(signal),
    run: (signal) => sync.run(signal),
    sinks: async (signal) => {
      const { configManager: { ocmBaseUrl }, gates } = await settings(signal);
      if (ocmBaseUrl === undefined) return [];
      const client = clientOf(ocmBaseUrl);
      const logs = gates.has("ServiceLogNotification") ? [openServiceLogSink({ client, clusterId, clock })] : [];
      return [openOcmStateSink({ client }), ...logs];
    },
  };
}

/** One client for an address, kept while the address stays. */
function openClients(
  { clock, userAgent }: ServeDeps,
  { api, clusterId, stack }: ManagerDeps,
): (baseUrl: string) => OcmClient {
  const clients = new Map<string, OcmClient>();
  return (baseUrl) => {
    const before = clients.get(baseUrl);
    if (before !== undefined) return before;
    const source = openOcmEndpoint({ baseUrl, api, clusterId, caCerts: [], clock });
    const upstream = stack.use(
      new Upstream({ server: "the cluster manager", source, limits: OCM_LIMITS, userAgent, clock }),
    );
    const client = openOcmClient({ upstream, mode: ocmModeOf(baseUrl), clusterId });
    clients.set(baseUrl, client);
    return client;
  };
}

/** The settings as they are now. Throws when they cannot be read, or are invalid. */
async function readSettings(
  api: KubeApi,
  { namespace, signal }: { readonly namespace: string; readonly signal: AbortSignal },
): Promise<OperatorConfig> {
  const object = await api.get(Resource.configMaps, { namespace, name: Upgrades.settings }, signal);
  const read = parseOperatorConfig(entryOf(textMapAt(object, "data"), Upgrades.settingsKey) ?? "");
  if (read.kind === "valid") return read.config;
  const why = read.kind === "invalid" ? read.problems.join("; ") : read.why;
  throw new Error(`Cannot use the ConfigMap "${Upgrades.settings}": ${why}.`);
}
