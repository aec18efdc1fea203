// `archway serve --only=upgrades`: upgrades of an OpenShift cluster, without pod placement.
import { openUpgrades } from "../controllers/upgrades/controller.ts";
import { openGauges } from "../lib/metrics.ts";
import { openUpgradeMetrics, SETTINGS_GAUGES, type UpgradeMetrics } from "../lib/upgrades/metrics.ts";
import { PlanWebhook, Upgrades } from "../lib/upgrades/names.ts";
import { collectSamples } from "../lib/upgrades/decide/collector.ts";
import { upgradePage, type UpgradePageView } from "../routes/upgrade_page.tsx";
import type { Capability, OpenCapability, ServeDeps, SharedResources } from "./capability.ts";
import { planReview, type PlanReviewDeps } from "../routes/check_plan.ts";
import type { Clock } from "../lib/clock.ts";
import { withValues } from "../lib/config/parse.ts";
import { webhookEndpoint } from "../lib/operator/decide/webhook_clients.ts";
import type { HttpsListener } from "../lib/server/https_listener.ts";
import { openLoadLimit, OTHER_LOAD } from "../lib/server/load_limit.ts";
import { openServingCertificate } from "../lib/server/certificate/open_certificate.ts";
import type { ServingCertificate } from "../lib/server/certificate/serving_certificate.ts";
import type { Runnable } from "../controllers/controller.ts";
import { openPlanWebhookCa } from "../controllers/plan_webhook_ca/controller.ts";
import { openPublicListener } from "./public_listener.ts";
import { openTrustedBundles } from "../lib/upgrades/outside/http/trusted_bundles.ts";
import { type OpenOutside, openOutside } from "../lib/upgrades/outside/outside.ts";
import { type KubeApi, serverNowMs } from "../lib/k8s/api.ts";
import { openClusterReader } from "../lib/upgrades/cluster/cluster_reader.ts";
import { observe, readInput, type UpgradeInput } from "../lib/upgrades/cluster/plan_input.ts";
import { CachedValue } from "../lib/upgrades/outside/cached_value.ts";
import { adviseOnWorkloads } from "../lib/report/cluster/workload_advice.ts";
import { openImageService, openPodImages } from "../lib/placement/images/image_service.ts";
import { type Logger, silentLogger } from "../lib/log.ts";
import { readGlobalPullSecret } from "../lib/placement/images/global_pull_secret.ts";
import type { UpgradesDeps } from "../controllers/upgrades/deps.ts";

export const UPGRADES: Capability = {
  leaseName: Upgrades.lease,
  eventSource: Upgrades.eventSource,
  open: openCapability,
};

async function openCapability(deps: ServeDeps, shared: SharedResources): Promise<OpenCapability> {
  const { clock, config: { namespace } } = deps;
  const metrics = openUpgradeMetrics(shared.metricsRegistry);
  const outside = makeOutside(deps, shared, metrics);
  const controller = openUpgrades({
    readApi: shared.readApi,
    api: shared.leaderApi,
    outside,
    adviseOnWorkloads: (signal) => readWorkloadAdvice(deps, shared.leaderApi, signal),
    gauges: metrics,
    events: shared.events,
    clock,
    log: deps.log.with({ controller: "upgrades" }),
    namespace,
    queueMetrics: shared.clientMetrics.queue,
  });
  const showSettings = openGauges(shared.metricsRegistry, SETTINGS_GAUGES);
  const webhook = await openPlanWebhook(deps, shared);
  return {
    everywhere: [webhook.certificate],
    leading: [controller, outside.policy, webhook.caController],
    ready: {},
    beforeScrape: () => {
      const seen = controller.seen();
      metrics.setScraped(samplesOf(seen));
      showSettings(seen?.config.kind ?? "unknown");
    },
    webhooks: webhook.listener,
    pages: { "/": upgradePage(openUpgradeView({ readApi: shared.readApi, clock, namespace }, shared.stop)) },
  };
}

/** Samples of the plan as last read or written; none without a plan, or while this replica does not lead. */
function samplesOf(seen: UpgradeInput | undefined): ReturnType<typeof collectSamples> | undefined {
  if (seen === undefined || seen.plan.kind === "absent") return [];
  const { known, clusterVersion } = seen;
  return known === undefined || clusterVersion.kind === "unknown"
    ? undefined
    : collectSamples(known, clusterVersion.value);
}

/** Clients for outside services, and the sync of the plan with its policy source. Sends nothing before a reconcile. */
function makeOutside(
  { clock, config, log, userAgent }: ServeDeps,
  { leaderApi: api, stack }: SharedResources,
  metrics: UpgradeMetrics,
): OpenOutside {
  const { namespace, kubeconfig, registryEnvironment, pullSecrets, globalPullSecret } = config;
  return stack.use(openOutside({
    api,
    namespace,
    metrics,
    userAgent,
    clock,
    log: log.with({ part: "upgrades" }),
    // Outside the cluster, only routes are reachable.
    monitoring: kubeconfig === undefined ? "service" : "route",
    registries: config,
    pullSecret: pullSecrets === "none" ? undefined : globalPullSecret,
    bundles: openTrustedBundles(config.registryCa, log),
    proxies: registryEnvironment.proxies,
  }));
}

type UpgradeViewDeps = Pick<UpgradesDeps, "readApi" | "clock" | "namespace">;

/** How long a view is kept (ms), to limit reads of the API server however often the page is opened. */
const KEEP_MS = 3_000;

export function openUpgradeView(deps: UpgradeViewDeps, stop: AbortSignal): () => Promise<UpgradePageView> {
  const view = new CachedValue({ clock: deps.clock, keepMs: KEEP_MS }, (signal) => readView(deps, signal));
  return () => view.get(stop);
}

async function readView(deps: UpgradeViewDeps, signal: AbortSignal): Promise<UpgradePageView> {
  const nowMs = serverNowMs(deps.clock, deps.readApi);
  const [{ plan, known }, pools] = await Promise.all([
    readInput(deps, { nowMs, signal }),
    observe(openClusterReader(deps.readApi, signal).pools, signal),
  ]);
  return { nowMs, plan: plan.kind === "unknown" ? plan : { kind: "observed", value: known }, pools };
}

type AdviceDeps = Pick<ServeDeps, "clock" | "config" | "settings" | "userAgent"> & Pick<UpgradesDeps, "log">;

export async function readWorkloadAdvice(
  { clock, config, settings, log, userAgent }: AdviceDeps,
  api: KubeApi,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const pullSecret = config.pullSecrets === "none" ? undefined : config.globalPullSecret;
  const { credentials } = await readGlobalPullSecret({ api, pullSecret, log }, signal);
  const options = { config, clock, log, userAgent, clusterCredentials: () => credentials };
  await using service = await openImageService(options);
  // This account may not read pull secrets of namespaces: images that need one are reported as not inspected.
  const images = openPodImages(service, { api, mode: "none", ownNamespace: "", clock, log: silentLogger, signal });
  return await adviseOnWorkloads({ api, images, clock, settings, signal });
}

/** The webhook of UpgradeConfigs: its listener, its certificate, and its CA in the configuration of the manifests. */
async function openPlanWebhook(deps: ServeDeps, shared: SharedResources): Promise<{
  readonly listener: HttpsListener;
  readonly certificate: ServingCertificate;
  readonly caController: Runnable;
}> {
  const { clock, log } = deps;
  const { readApi, unfencedApi, stop } = shared;
  const config = withValues(deps.config, { webhookService: PlanWebhook.service });
  const certificate = await openServingCertificate({ config, api: unfencedApi, clock, log }, stop);
  const listener = await openPlanListener(
    { api: readApi, clock, log, signal: stop },
    { certificate: certificate.current(), config },
  );
  const endpoint = webhookEndpoint(config);
  const caController = openPlanWebhookCa({
    api: shared.leaderApi,
    clock,
    log: log.with({ controller: "plan-webhook" }),
    settings: () => ({ endpoint, caBundle: certificate.current().caBundle, pathOf: (route) => route }),
    queueMetrics: shared.clientMetrics.queue,
  });
  certificate.onChange((next) => {
    listener.setCertificate(next);
    caController.enqueue(PlanWebhook.configuration);
  });
  return { listener, certificate, caController };
}

/** The webhook's path may be public: answers reveal no more than the CRD, and reads do not grow with requests. */
export async function openPlanListener(
  { api, clock, log, signal }: Omit<PlanReviewDeps, "limit" | "clock"> & {
    readonly clock: Clock;
    readonly log: Logger;
  },
  { certificate, config }: Omit<Parameters<typeof openPublicListener>[0], "path" | "handler">,
): Promise<HttpsListener> {
  const app = planReview({ api, clock, signal, limit: openLoadLimit(OTHER_LOAD, { clock, log }) });
  return await openPublicListener({
    path: PlanWebhook.path,
    handler: (request) => app.fetch(request),
    certificate,
    config,
  });
}
