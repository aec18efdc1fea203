// The plain door, for people and probes: health, metrics, dashboard. Called by serve.
import { dashboard } from "../routes/dashboard.tsx";
import { adminApp } from "../routes/mod.ts";
import type { ServeDeps } from "./clients.ts";
import type { Components } from "./components.ts";

/** Opens it. */
export function openAdmin(parts: ServeDeps, components: Components, stop: AbortSignal): Deno.HttpServer<Deno.NetAddr> {
  const { config, clock, identity } = parts;
  const { configs, imageService, lease, metrics, podPlacement, verdict, board } = components;
  const app = adminApp({
    metrics,
    gauges: () => ({
      gatedPods: podPlacement.gatedPods(),
      unadmittedPods: lease.view.isLeader ? podPlacement.unadmittedPods() : 0,
      cachedInspections: imageService.cacheSize(),
      queueDepth: podPlacement.queueDepth(),
      isLeading: lease.view.isLeader,
      isGating: verdict().kind === "gating",
      memory: Deno.memoryUsage(),
      registries: imageService.hostStates(),
    }),
    ready: {
      "not stopping": () => !stop.aborted,
      "configs known": () => configs.hasSynced(),
      "gated pods known": () => !lease.view.isLeader || podPlacement.hasSynced(),
    },
    pages: {
      "/": dashboard(() => ({
        nowMs: clock.nowMs(),
        identity,
        lease: lease.view,
        gating: verdict(),
        config: configs.presence(),
        gated: { count: podPlacement.gatedPods(), pods: podPlacement.longestGated() },
        queueDepth: podPlacement.queueDepth(),
        cachedInspections: imageService.cacheSize(),
        registries: imageService.hostStates(),
        board: board.snapshot(),
      })),
      "/registries": (context) => context.json(imageService.hostStates()),
    },
  });
  const { host: hostname, port } = config.adminListen;
  return Deno.serve({ hostname, port, onListen: () => {} }, app.fetch);
}
