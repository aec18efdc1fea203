// `archway serve`: pod placement, with the operator and optional parts.
//
//   watches ────▶ configs ─┬─▶ webhook (each replica)   ─▶ patch in the answer
//   registries ─▶ images ──┴─▶ pod controller (leader)  ─▶ one patch a pod
//                              operator (leader)        ─▶ webhook configuration, conditions
import { openGauges } from "../lib/metrics.ts";
import { EVENT_SOURCE, LEASE_NAME } from "../lib/names.ts";
import { PLACEMENT_GAUGES, type PlacementGauges } from "../lib/placement/metrics.ts";
import { TAINT_GAUGES } from "../lib/taints/metrics.ts";
import { dashboard, podPage } from "../routes/dashboard.tsx";
import { POD_PAGE } from "../routes/dashboard/elements.tsx";
import type { DashboardView } from "../routes/dashboard/view.ts";
import type { Capability, OpenCapability, ServeDeps, SharedResources } from "./capability.ts";
import { openPlacementResources, type PlacementResources } from "./placement_resources.ts";
import { hasSynced, openPlacementComponents, type PlacementComponents } from "./placement_components.ts";
import { openLeaderControllers, openReplicaControllers } from "./controllers.ts";
import { openWebhooks } from "./webhooks.ts";

export const PLACEMENT: Capability = { leaseName: LEASE_NAME, eventSource: EVENT_SOURCE, open: openPlacement };

async function openPlacement(deps: ServeDeps, shared: SharedResources): Promise<OpenCapability> {
  const { metricsRegistry } = shared;
  const placement = await openPlacementResources(deps, shared);
  const components = await openPlacementComponents(deps, placement);
  const { audited, configs, podPlacement } = components;
  const webhooks = await openWebhooks(deps, { placement, components });
  const setGauges = openGauges(metricsRegistry, PLACEMENT_GAUGES);
  const setTaints = openGauges(metricsRegistry, TAINT_GAUGES);
  return {
    everywhere: openReplicaControllers(deps, placement, components),
    leading: openLeaderControllers(deps, placement, components),
    ready: {
      "configs known": () => configs.hasSynced(),
      "audited namespaces known": () => audited.hasSynced(),
      "gated pods known": () => !shared.election.view().isLeader || podPlacement.hasSynced(),
    },
    beforeScrape: () => {
      setGauges(gaugesOf(placement, components));
      setTaints(components.taints?.controller.progress());
    },
    webhooks,
    pages: {
      "/": dashboard(() => viewOf(deps, placement, components)),
      [POD_PAGE]: podPage(() => viewOf(deps, placement, components)),
      "/registries": (context) => context.json(placement.imageService.publicHostStates()),
    },
    leaderHealth: () => podPlacement.leaderHealth(),
    hasSynced: () => hasSynced(components, placement),
  };
}

function gaugesOf(
  { imageService, shared }: PlacementResources,
  { gatingHealth, podPlacement }: PlacementComponents,
): PlacementGauges {
  const { isLeader } = shared.election.view();
  return {
    gatedPods: podPlacement.gatedPods(),
    unadmittedPods: isLeader ? podPlacement.unadmittedPods() : 0,
    cachedInspections: imageService.cacheSize(),
    isLeading: isLeader,
    isGating: gatingHealth().kind === "gating",
    memory: Deno.memoryUsage(),
    registries: imageService.publicHostStates(),
  };
}

function viewOf(
  { clock, config, identity, userAgent }: ServeDeps,
  { decisions, imageService, shared }: PlacementResources,
  { configs, gatingHealth, clusterArchitectures, podPlacement, reported, taints }: PlacementComponents,
): DashboardView {
  return {
    nowMs: clock.nowMs(),
    identity,
    version: userAgent.replace(/^.*\//, ""),
    architectures: clusterArchitectures.countNodes(),
    lease: shared.election.view(),
    gating: gatingHealth(),
    config: configs.presence(),
    gated: { count: podPlacement.gatedPods(), pods: podPlacement.longestGated() },
    queueDepth: podPlacement.queueDepth(),
    taints: taints?.controller.progress(),
    cachedInspections: imageService.cacheSize(),
    registries: imageService.publicHostStates(),
    decisions: decisions.snapshot(),
    execFormat: config.execFormatErrors !== "off" || configs.cluster()?.monitorsExecFormat === true
      ? reported.recent()
      : undefined,
  };
}
