// `archway serve --only=upgrades`: the upgrades of an OpenShift cluster, beside no pod placement.
import { openUpgrades, type UpgradesController } from "../controllers/upgrades/controller.ts";
import type { UpgradeGauges } from "../controllers/upgrades/deps.ts";
import { labelsOfPlan, openUpgradeMetrics, type UpgradeMetrics } from "../lib/upgrades/metrics.ts";
import { Upgrades } from "../lib/upgrades/names.ts";
import { collect } from "../lib/upgrades/decide/collector.ts";
import { upgradePage } from "../routes/upgrade_page.tsx";
import type { Capability, CapabilityParts, OpenCapability, ServeDeps } from "./capability.ts";
import { openWorkloadAdvice } from "./upgrades_advice.ts";
import { openOutside } from "./upgrades_outside.ts";
import { openUpgradeView } from "./upgrades_page.ts";
import { openPlanWebhook } from "./upgrades_webhook.ts";

export const UPGRADES: Capability = {
  leaseName: Upgrades.lease,
  eventSource: Upgrades.eventSource,
  open: openCapability,
};

async function openCapability(deps: ServeDeps, parts: CapabilityParts): Promise<OpenCapability> {
  const { clock, config: { namespace } } = deps;
  const metrics = openUpgradeMetrics(parts.registry);
  const { outside, manager } = openOutside(deps, parts, metrics);
  const controller = openUpgrades({
    readApi: parts.readApi,
    api: parts.leaderApi,
    outside,
    adviseOnWorkloads: openWorkloadAdvice(deps, parts),
    gauges: gaugesOf(metrics),
    events: parts.events,
    clock,
    log: deps.log.with({ controller: "upgrades" }),
    namespace,
    queueMetrics: parts.clientMetrics.queue,
  });
  const webhook = await openPlanWebhook(deps, parts);
  return {
    everywhere: [webhook.certificate],
    leading: [controller, manager, webhook.registration],
    ready: {},
    beforeScrape: () => metrics.setScraped(samplesOf(controller)),
    webhooks: webhook.listener,
    pages: { "/": upgradePage(openUpgradeView({ readApi: parts.readApi, clock, namespace }, parts.stop)) },
  };
}

/** Every gauge of a plan names it, but the one about nodes, which leaves the label out. */
export function gaugesOf(metrics: UpgradeMetrics): UpgradeGauges {
  return {
    set: (metric, labels, value) => metrics.set(metric, { labels: labelsOfPlan(labels), value }),
    clear: metrics.clear,
    clearGroup: metrics.clearGroup,
  };
}

/** What follows from the plan that was read last; none where there is no plan, or this replica does not lead. */
function samplesOf(controller: UpgradesController): ReturnType<typeof collect> | undefined {
  const seen = controller.seen();
  if (seen === undefined || seen.plan.kind === "absent") return [];
  const { known, clusterVersion } = seen;
  return known === undefined || clusterVersion.kind === "unknown" ? undefined : collect(known, clusterVersion.value);
}
