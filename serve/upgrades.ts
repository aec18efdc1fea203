// `archway serve --only=upgrades`: the upgrades of an OpenShift cluster, beside no pod placement.
import { openUpgrades, type UpgradesController } from "../controllers/upgrades/controller.ts";
import { openGauges } from "../lib/metrics.ts";
import { openUpgradeMetrics, SETTINGS_GAUGES, type UpgradeMetrics } from "../lib/upgrades/metrics.ts";
import { Upgrades } from "../lib/upgrades/names.ts";
import { collect } from "../lib/upgrades/decide/collector.ts";
import { upgradePage, type UpgradePageView } from "../routes/upgrade_page.tsx";
import type { Capability, CapabilityParts, OpenCapability, ServeDeps } from "./capability.ts";
import { openPlanWebhook } from "./upgrades_webhook.ts";
import { openTrustedBundles } from "../lib/upgrades/outside/http/trusted_bundles.ts";
import { type OpenOutside, openOutside } from "../lib/upgrades/outside/outside.ts";
import { serverNowMs } from "../lib/k8s/api.ts";
import { openClusterReader } from "../lib/upgrades/cluster/cluster_reader.ts";
import { observe, readInput } from "../lib/upgrades/cluster/plan_input.ts";
import { KeptValue } from "../lib/upgrades/outside/kept_value.ts";
import { adviseOnWorkloads } from "../lib/report/cluster/workload_advice.ts";
import { openImageService } from "../lib/images/pods/image_service.ts";
import { openPodImages } from "../lib/images/pods/pod_images.ts";
import { PullSecrets } from "../lib/images/pods/pull_secrets.ts";
import { type Logger, silentLogger } from "../lib/log.ts";
import { readCredentials } from "../lib/upgrades/outside/releases/cluster_payloads.ts";
import type { UpgradesDeps } from "../controllers/upgrades/deps.ts";

export const UPGRADES: Capability = {
  leaseName: Upgrades.lease,
  eventSource: Upgrades.eventSource,
  open: openCapability,
};

async function openCapability(deps: ServeDeps, parts: CapabilityParts): Promise<OpenCapability> {
  const { clock, config: { namespace } } = deps;
  const metrics = openUpgradeMetrics(parts.registry);
  const outside = makeOutside(deps, parts, metrics);
  const controller = openUpgrades({
    readApi: parts.readApi,
    api: parts.leaderApi,
    outside,
    adviseOnWorkloads: (signal) => readWorkloadAdvice(deps, parts, signal),
    gauges: metrics,
    events: parts.events,
    clock,
    log: deps.log.with({ controller: "upgrades" }),
    namespace,
    queueMetrics: parts.clientMetrics.queue,
  });
  const showSettings = openGauges(parts.registry, SETTINGS_GAUGES);
  const webhook = await openPlanWebhook(deps, parts);
  return {
    everywhere: [webhook.certificate],
    leading: [controller, outside.policy, webhook.registration],
    ready: {},
    beforeScrape: () => {
      metrics.setScraped(samplesOf(controller));
      showSettings(areSettingsInvalid(controller));
    },
    webhooks: webhook.listener,
    pages: { "/": upgradePage(openUpgradeView({ readApi: parts.readApi, clock, namespace }, parts.stop)) },
  };
}

/** What follows from the plan as it was read or written last; none where there is no plan, or this replica does not lead. */
function samplesOf(controller: UpgradesController): ReturnType<typeof collect> | undefined {
  const seen = controller.seen();
  if (seen === undefined || seen.plan.kind === "absent") return [];
  const { known, clusterVersion } = seen;
  return known === undefined || clusterVersion.kind === "unknown" ? undefined : collect(known, clusterVersion.value);
}

/** The clients of the outside, and what keeps the plan as a policy source has it. Sends nothing before a reconcile needs it. */
function makeOutside(
  { clock, config, log, userAgent }: ServeDeps,
  { leaderApi: api, stack }: CapabilityParts,
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
    // A process outside of the cluster reaches what the cluster shows to the outside.
    monitoring: kubeconfig === undefined ? "service" : "route",
    registries: config,
    pullSecret: pullSecrets === "none" ? undefined : globalPullSecret,
    bundles: openTrustedBundles(config.registryCa, { clock, log }),
    proxies: registryEnvironment.proxies,
  }));
}

type UpgradeViewDeps = Pick<UpgradesDeps, "readApi" | "clock" | "namespace">;

/** The API server is read at most once in this time (ms), however often the page is opened. */
const KEEP_MS = 3_000;

export function openUpgradeView(deps: UpgradeViewDeps, stop: AbortSignal): () => Promise<UpgradePageView> {
  const kept = new KeptValue(deps.clock, async (signal) => ({ value: await readView(deps, signal), keepMs: KEEP_MS }));
  return () => kept.get(stop);
}

async function readView(deps: UpgradeViewDeps, signal: AbortSignal): Promise<UpgradePageView> {
  const nowMs = serverNowMs(deps.clock, deps.readApi);
  const [{ plan, known }, pools] = await Promise.all([
    readInput(deps, { nowMs, signal }),
    observe(openClusterReader(deps.readApi, signal).pools, signal),
  ]);
  return { nowMs, plan: plan.kind === "unknown" ? plan : { kind: "observed", value: known }, pools };
}

type AdviceDeps = Pick<ServeDeps, "clock" | "config" | "settings" | "userAgent"> & { readonly log: Logger };

export async function readWorkloadAdvice(
  { clock, config, settings, log, userAgent }: AdviceDeps,
  { leaderApi: api }: Pick<CapabilityParts, "leaderApi">,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const pullSecret = config.pullSecrets === "none" ? undefined : config.globalPullSecret;
  const { credentials } = await readCredentials({ api, pullSecret, log }, signal);
  const options = { config, clock, log, userAgent, clusterCredentials: () => credentials };
  await using service = await openImageService(options);
  // This account may not read the pull secrets of namespaces: images that need one are named as not inspected.
  const { inspector, known, limits } = service;
  const pullSecrets = new PullSecrets({ api, mode: "none", ownNamespace: "", limits, clock, log: silentLogger });
  const images = openPodImages({ inspector, pullSecrets, known, limits, clock, log: silentLogger, signal });
  return await adviseOnWorkloads({ api, images, clock, settings, signal });
}

/** Whether the settings that were read last are missing or wrong; undefined where they could not be read. */
function areSettingsInvalid(controller: UpgradesController): boolean | undefined {
  const kind = controller.seen()?.config.kind ?? "unknown";
  return kind === "unknown" ? undefined : kind === "unparsable";
}
