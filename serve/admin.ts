// The plain HTTP listener for users and probes: health, metrics, dashboard.
import { dashboard } from "../routes/dashboard.tsx";
import { adminApp } from "../routes/mod.ts";
import type { DashboardView } from "../routes/dashboard/view.ts";
import type { Gauges } from "../lib/metrics.ts";
import type { Clients, ServeDeps } from "./clients.ts";
import type { Components } from "./components.ts";

/** Opens it. */
export function openAdmin(
  deps: ServeDeps,
  { clients, components, stop }: {
    readonly clients: Clients;
    readonly components: Components;
    readonly stop: AbortSignal;
  },
): Deno.HttpServer<Deno.NetAddr> {
  const { election, imageService, metrics } = clients;
  const { audited, configs, podPlacement } = components;
  const app = adminApp({
    metrics,
    gauges: () => gaugesOf(clients, components),
    ready: {
      "not stopping": () => !stop.aborted,
      "configs known": () => configs.hasSynced(),
      "audited namespaces known": () => audited.isSettled(),
      "gated pods known": () => !election.view().isLeader || podPlacement.hasSynced(),
    },
    pages: {
      "/": dashboard(() => viewOf(deps, clients, components)),
      "/registries": (context) => context.json(imageService.publicHostStates()),
    },
  });
  const { host: hostname, port } = deps.config.adminListen;
  return Deno.serve({ hostname, port, onListen: () => {} }, app.fetch);
}

function gaugesOf({ election, imageService }: Clients, { gatingHealth, podPlacement, taints }: Components): Gauges {
  const { isLeader } = election.view();
  return {
    gatedPods: podPlacement.gatedPods(),
    unadmittedPods: isLeader ? podPlacement.unadmittedPods() : 0,
    cachedInspections: imageService.cacheSize(),
    isLeading: isLeader,
    isGating: gatingHealth().kind === "gating",
    taints: taints?.controller.progress(),
    memory: Deno.memoryUsage(),
    registries: imageService.publicHostStates(),
  };
}

function viewOf(
  { clock, config, identity }: ServeDeps,
  { board, election, imageService }: Clients,
  { configs, gatingHealth, podPlacement, reported, taints }: Components,
): DashboardView {
  return {
    nowMs: clock.nowMs(),
    identity,
    lease: election.view(),
    gating: gatingHealth(),
    config: configs.presence(),
    gated: { count: podPlacement.gatedPods(), pods: podPlacement.longestGated() },
    queueDepth: podPlacement.queueDepth(),
    taints: taints?.controller.progress(),
    cachedInspections: imageService.cacheSize(),
    registries: imageService.publicHostStates(),
    board: board.snapshot(),
    execFormat: config.execFormatErrors || configs.cluster()?.monitorsExecFormat === true
      ? reported.recent()
      : undefined,
  };
}
