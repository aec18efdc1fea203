// Everything that upgrades need beside the API server, put together.
import type { Clock } from "../../clock.ts";
import { type KubeApi, serverNowMs } from "../../k8s/api.ts";
import { eventObjectOf } from "../../k8s/event_input.ts";
import { Resource } from "../../k8s/types.ts";
import type { Logger } from "../../log.ts";
import type { ProxySettings } from "../../oci/http/proxy.ts";
import type { UpgradeMetrics } from "../metrics.ts";
import type { Notification, SilenceSpec } from "../decide/types/effects.ts";
import type { UpgradeConfig } from "../decide/types/plan.ts";
import {
  type EndpointSource,
  fixedEndpoint,
  Upstream,
  type UpstreamEndpoint,
  type UpstreamLimits,
} from "./http/upstream.ts";
import { openDeploymentFindings } from "./health/read_health.ts";
import { OcmClients, openOutsideSettings, type OutsideSettings } from "./settings.ts";
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
  Notifier,
  type NotifyOptions,
  openEventSink,
  openLogSink,
  openWebhookSink,
} from "./sinks/sink.ts";
import { openOcmStateSink, openServiceLogSink } from "./sinks/ocm_sinks.ts";
import { type OutsideReaders, outsideReaders, type OutsideScope } from "./outside_readers.ts";

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
  readonly readers: (scope: OutsideScope) => OutsideReaders;
  readonly createSilence: (silence: SilenceSpec, signal: AbortSignal) => Promise<void>;
  readonly endSilence: (id: string, signal: AbortSignal) => Promise<void>;
  /** Sends to every sink that does not have it yet. Rejects when one of them fails. */
  readonly notify: (notification: Notification, options: NotifyOptions) => Promise<void>;
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
  const settings = openOutsideSettings(options);
  const ocm = undo.use(new OcmClients({ ...options, clusterId: settings.clusterId }));
  const policy = openPolicy(options, settings, ocm);
  const findings = openDeploymentFindings({ ...common, api });
  const payloads = undo.use(new ClusterPayloads(options));
  const services = { ...options, policy, prometheus, alertmanager, findings, payloads };
  const opened = undo.move();
  return {
    readers: (scope) => {
      if (scope.base !== undefined) settings.noteConfig(scope.base.config);
      return outsideReaders(services, scope);
    },
    // Its end follows the API server's clock, so its start must as well.
    createSilence: (silence, signal) =>
      createSilence(alertmanager, { ...silence, nowMs: serverNowMs(clock, api) }, signal),
    endSilence: (id, signal) => endSilence(alertmanager, id, signal),
    notify: openNotifications(options, settings, ocm),
    policy,
    [Symbol.dispose]: () => opened.dispose(),
  };
}

function monitoringSources({ monitoring, api, clock }: OutsideOptions): (service: MonitoringService) => EndpointSource {
  if (typeof monitoring !== "string") return (service) => fixedEndpoint(monitoring[service]);
  const token = openMonitoringToken({ api, clock });
  return (service) => openMonitoringEndpoint({ service, by: monitoring, api, token, clock });
}

function openPolicy(
  { api, namespace, clock, log, metrics }: OutsideOptions,
  settings: OutsideSettings,
  ocm: OcmClients,
): PolicySync {
  let watchIntervalMinutes = 60;
  const source = async (signal: AbortSignal): Promise<PolicySource> => {
    const { configManager, upgradeType } = await settings.config(signal);
    watchIntervalMinutes = configManager.watchIntervalMinutes;
    if (configManager.source === "LOCAL") return LOCAL_POLICY_SOURCE;
    const { source, ocmBaseUrl } = configManager;
    if (source === "OCM" && ocmBaseUrl !== undefined) {
      return openOcmPolicySource({ client: ocm.clientAt(ocmBaseUrl), type: upgradeType });
    }
    return { onNone: "keep", fetch: () => Promise.resolve({ kind: "notConfigured" }) };
  };
  const onSynced = (nowMs: number): void => {
    metrics.set("upgradeoperator_upgradeconfig_sync_timestamp", {}, Math.floor(nowMs / 1_000));
    metrics.set("archway_upgrade_policy_interval_seconds", {}, watchIntervalMinutes * 60);
  };
  return new PolicySync({
    api,
    namespace,
    clock,
    log,
    source,
    onSynced,
    watchIntervalMinutes: () => watchIntervalMinutes,
  });
}

function openNotifications(
  { api, clock, log, metrics, bundles, userAgent }: OutsideOptions,
  settings: OutsideSettings,
  ocm: OcmClients,
): Outside["notify"] {
  const { clusterId } = settings;
  const sinks = async (plan: UpgradeConfig, signal: AbortSignal): Promise<readonly NotificationSink[]> => {
    const { configManager, featureGates, notifications: { webhookUrl: url } } = await settings.config(signal);
    const hook = url === undefined
      ? []
      : [openWebhookSink({ url, caCerts: await bundles(signal), clusterId, userAgent, clock })];
    const { namespace, name, uid } = plan;
    const subject = eventObjectOf(Resource.upgradeConfigs, { namespace, name, uid });
    const always = [openEventSink({ api, subject, clock }), ...hook];
    const { source, ocmBaseUrl } = configManager;
    if (source !== "OCM" || ocmBaseUrl === undefined) return [...always, openLogSink(log)];
    const client = ocm.clientAt(ocmBaseUrl);
    const logged = featureGates.has("ServiceLogNotification") ? [openServiceLogSink({ client, clusterId, clock })] : [];
    return [...always, ...logged, openOcmStateSink({ client })];
  };
  const observe = ({ state }: Notification, result: "sent" | "failed"): void =>
    metrics.set("upgrade_notification_failed", { event: state }, Number(result === "failed"));
  const notifier = new Notifier({ sinks, observe });
  return (notification, options) => notifier.send(notification, options);
}
