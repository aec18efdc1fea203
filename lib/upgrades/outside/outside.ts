// Everything that upgrades need beside the API server, put together.
import type { Clock } from "../../clock.ts";
import { type KubeApi, serverNowMs } from "../../k8s/api.ts";
import { eventObjectOf } from "../../k8s/event_input.ts";
import { Resource } from "../../k8s/types.ts";
import type { Logger } from "../../log.ts";
import type { ProxySettings } from "../../oci/http/proxy.ts";
import type { UpgradeMetrics } from "../metrics.ts";
import type { Notification, SilenceSpec } from "../decide/types/effects.ts";
import type { OperatorConfig } from "../decide/types/operator_config.ts";
import {
  type EndpointSource,
  fixedEndpoint,
  Upstream,
  type UpstreamEndpoint,
  type UpstreamLimits,
} from "./http/upstream.ts";
import { openDeploymentFindings } from "./health/read_health.ts";
import { readClusterVersion, readConfig } from "../cluster/plan_input.ts";
import { Upgrades } from "../names.ts";
import { type OcmClientOptions, OcmClients } from "./ocm/ocm_client.ts";
import type { TrustedBundles } from "./http/trusted_bundles.ts";
import {
  type MonitoringService,
  openMonitoringEndpoint,
  openMonitoringToken,
} from "./monitoring/monitoring_endpoint.ts";
import { createSilence, endSilence } from "./monitoring/alerts.ts";
import { LOCAL_POLICY_SOURCE, openOcmPolicySource, type PolicySource, PolicySync } from "./policy/policy_sync.ts";
import { ClusterPayloads, type ClusterPayloadsOptions } from "./releases/cluster_payloads.ts";
import {
  type NotificationSink,
  type Notify,
  openEventSink,
  openLogSink,
  openNotifier,
  openWebhookSink,
  type SendOptions,
} from "./sinks/sink.ts";
import { openOcmStateSink, openServiceLogSink } from "./sinks/ocm_sinks.ts";
import { type OutsideContext, type OutsideReaders, outsideReaders } from "./outside_readers.ts";

interface OutsideOptions {
  readonly api: KubeApi;
  readonly registries: ClusterPayloadsOptions["registries"];
  readonly pullSecret: ClusterPayloadsOptions["pullSecret"];
  readonly namespace: string;
  readonly monitoring: "service" | "route" | Readonly<Record<MonitoringService, UpstreamEndpoint>>;
  /** CAs that are trusted beside the public ones, for servers outside of the cluster. */
  readonly bundles: TrustedBundles;
  readonly proxies: ProxySettings;
  readonly metrics: Pick<UpgradeMetrics, "set">;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface Outside {
  readonly readers: (context: OutsideContext) => OutsideReaders;
  readonly createSilence: (silence: SilenceSpec, signal: AbortSignal) => Promise<void>;
  readonly endSilence: (id: string, signal: AbortSignal) => Promise<void>;
  readonly notify: Notify;
}

export interface OpenOutside extends Outside, Disposable {
  /** Keeps the UpgradeConfig as the policy source states it. To be run by the leader. */
  readonly policy: PolicySync;
}

const LIMITS: UpstreamLimits = { timeoutMs: 30_000, maxBytes: 4 * 1024 * 1024 };
/** A cluster keeps some thousands of silences for days. */
const SILENCES_LIMITS: UpstreamLimits = { ...LIMITS, maxBytes: 16 * 1024 * 1024 };

export function openOutside(options: OutsideOptions): OpenOutside {
  const { api, clock, userAgent } = options;
  using undo = new DisposableStack();
  const sourceOf = monitoringSources(options);
  const common = { userAgent, clock, limits: LIMITS };
  const prometheus = undo.use(new Upstream({ ...common, server: "Prometheus", source: sourceOf("prometheus-k8s") }));
  const alertmanager = undo.use(
    new Upstream({
      ...common,
      server: "Alertmanager",
      source: sourceOf("alertmanager-main"),
      limits: SILENCES_LIMITS,
      showsReason: true,
    }),
  );
  const clusterId = async (signal: AbortSignal): Promise<string> => (await readClusterVersion(api, signal)).clusterId;
  const ocm = undo.use(new OcmClients({ ...options, clusterId }));
  const policy = openPolicy(options, ocm);
  const findings = openDeploymentFindings({ ...common, api });
  const payloads = undo.use(new ClusterPayloads(options));
  const services = { ...options, policy, prometheus, alertmanager, findings, payloads };
  const opened = undo.move();
  return {
    readers: (context) => outsideReaders(services, context),
    // The silence's end follows the API server's clock, so its start must as well.
    createSilence: (silence, signal) =>
      createSilence(alertmanager, { ...silence, nowMs: serverNowMs(clock, api) }, signal),
    endSilence: (id, signal) => endSilence(alertmanager, id, signal),
    notify: openNotifications(options, { ocm, clusterId }),
    policy,
    [Symbol.dispose]: () => opened.dispose(),
  };
}

function monitoringSources({ monitoring, api, clock }: OutsideOptions): (service: MonitoringService) => EndpointSource {
  if (typeof monitoring !== "string") return (service) => fixedEndpoint(monitoring[service]);
  const token = openMonitoringToken({ api, clock });
  return (service) => openMonitoringEndpoint({ service, by: monitoring, api, token, clock });
}

function openPolicy(options: OutsideOptions, ocm: OcmClients): PolicySync {
  const { metrics } = options;
  let watchIntervalMinutes = 60;
  const source = async (signal: AbortSignal, known?: OperatorConfig): Promise<PolicySource> => {
    const { configManager, upgradeType: type } = known ?? await requireConfig(options, signal);
    watchIntervalMinutes = configManager.watchIntervalMinutes;
    if (configManager.source === "LOCAL") return LOCAL_POLICY_SOURCE;
    const client = ocm.clientOf(configManager);
    if (client !== undefined) return openOcmPolicySource({ client, type });
    return { onNone: "keep", fetch: () => Promise.resolve({ kind: "notConfigured" }) };
  };
  const onSynced = (nowMs: number): void => {
    metrics.set("upgradeoperator_upgradeconfig_sync_timestamp", {}, Math.floor(nowMs / 1_000));
    metrics.set("archway_upgrade_policy_interval_seconds", {}, watchIntervalMinutes * 60);
  };
  return new PolicySync({ ...options, source, onSynced, watchIntervalMinutes: () => watchIntervalMinutes });
}

async function requireConfig({ api, namespace }: OutsideOptions, signal: AbortSignal): Promise<OperatorConfig> {
  const reading = await readConfig({ readApi: api, namespace }, signal);
  if (reading.kind === "parsed") return reading.config;
  const problems = reading.kind === "unparsable" ? reading.problems.join("; ") : reading.why;
  throw new Error(`Cannot use ConfigMap "${namespace}/${Upgrades.configMapName}": ${problems}`);
}

function openNotifications(
  { api, clock, log, metrics, bundles, userAgent }: OutsideOptions,
  { ocm, clusterId }: Pick<OcmClientOptions, "clusterId"> & { readonly ocm: OcmClients },
): Notify {
  const sinks = async ({ plan, config }: SendOptions): Promise<readonly NotificationSink[]> => {
    const { configManager, featureGates, notifications: { webhookUrl: url } } = config;
    const hook = url === undefined
      ? []
      : [openWebhookSink({ url, caCerts: await bundles(), clusterId, userAgent, clock })];
    const { namespace, name, uid } = plan;
    const subject = eventObjectOf(Resource.upgradeConfigs, { namespace, name, uid });
    const always = [openEventSink({ api, subject, clock }), ...hook];
    const client = ocm.clientOf(configManager);
    if (client === undefined) return [...always, openLogSink(log)];
    const logged = featureGates.has("ServiceLogNotification") ? [openServiceLogSink({ client, clusterId, clock })] : [];
    return [...always, ...logged, openOcmStateSink({ client })];
  };
  const observe = ({ state }: Notification, result: "sent" | "failed"): void =>
    metrics.set("upgrade_notification_failed", { event: state }, Number(result === "failed"));
  return openNotifier({ sinks, observe });
}
