// `archway serve --only=image-builds`: one node image for every architecture of a pool, beside no pod placement.
import { openImageBuilds } from "../controllers/image_builds/controller.ts";
import { openBuildMetrics } from "../lib/build_metrics.ts";
import { buildSettings } from "../lib/building/build_settings.ts";
import { findBuilder } from "../lib/building/find_builder.ts";
import { openRegistryAccess } from "../lib/images/registry_access.ts";
import { IMAGE_BUILDS } from "../lib/names.ts";
import { buildsPage } from "../routes/builds_page.tsx";
import { type CapabilityParts, type OpenCapability, serveCapability } from "./capability.ts";
import type { ServeDeps } from "./clients.ts";

/** Serves image builds until `stop` aborts. Rejects when something cannot be opened. */
export async function serveImageBuilds(deps: ServeDeps, stop: AbortSignal): Promise<void> {
  const open = (parts: CapabilityParts): Promise<OpenCapability> => Promise.resolve(openBuilds(deps, parts));
  await serveCapability(deps, { leaseName: IMAGE_BUILDS.lease, eventSource: IMAGE_BUILDS.eventSource, open }, stop);
}

function openBuilds(
  { config, clock, log, userAgent }: ServeDeps,
  { leaderApi: api, election, events, registry, clientMetrics, stack }: CapabilityParts,
): OpenCapability {
  const settings = buildSettings(config);
  const access = stack.use(openRegistryAccess({ config, clock, log, userAgent, clusterCredentials: () => [] }));
  const controller = openImageBuilds({
    api,
    access,
    events,
    metrics: openBuildMetrics(registry),
    clock,
    log: log.with({ controller: "image-builds" }),
    settings,
    findBuilder: (signal) => findBuilder(api, settings.namespace, signal),
    queueMetrics: clientMetrics.queue,
  });
  return {
    everywhere: [{ run: (signal) => access.planner.watch(signal) }],
    leading: [controller],
    ready: { "builds known": () => !election.view().isLeader || controller.hasSynced() },
    addPages: (app) => {
      const view = () => ({ nowMs: clock.nowMs(), isLeader: election.view().isLeader, pools: controller.views() });
      app.get("/builds", (context) => context.json(controller.views()));
      app.get("/", buildsPage(view));
    },
  };
}
