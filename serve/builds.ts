// `archway serve --only=image-builds`: one node image for all architectures of a pool, without pod placement.
import { ImageBuilds } from "../controllers/builds/controller.ts";
import { IMAGE_BUILD_NAMES } from "../lib/builds/decide/names.ts";
import { BuildMetrics } from "../lib/builds/metrics.ts";
import { findBuilder } from "../lib/builds/cluster/read_facts.ts";
import { openRegistryAccess } from "../lib/oci/registry_access.ts";
import { buildsPage } from "../routes/builds_page.tsx";
import { builderHold } from "./builds_webhook.ts";
import type { Capability, OpenCapability, ServeDeps, SharedResources } from "./capability.ts";

export const IMAGE_BUILDS: Capability = {
  leaseName: IMAGE_BUILD_NAMES.lease,
  eventSource: IMAGE_BUILD_NAMES.eventSource,
  open: (deps, shared) => Promise.resolve(openBuilds(deps, shared)),
};

function openBuilds(
  { config, clock, log, userAgent }: ServeDeps,
  { leaderApi: api, election, events, metricsRegistry, clientMetrics, stack }: SharedResources,
): OpenCapability {
  const settings = config.imageBuilds;
  const access = stack.use(openRegistryAccess({ config, clock, log, userAgent, clusterCredentials: () => [] }));
  const metrics = new BuildMetrics(metricsRegistry);
  const controller = new ImageBuilds({
    api,
    access,
    events,
    metrics,
    clock,
    log: log.with({ controller: "image-builds" }),
    settings,
    findBuilder: (signal) => findBuilder(api, settings.namespace, signal),
    queueMetrics: clientMetrics.queue,
  });
  return {
    everywhere: [builderHold({ config, clock, log })],
    leading: [controller],
    ready: { "builds known": () => !election.view().isLeader || controller.hasSynced() },
    beforeScrape: () => metrics.show(controller.views()),
    pages: {
      "/": buildsPage(() => ({
        nowMs: clock.nowMs(),
        isLeader: election.view().isLeader,
        pools: controller.views(),
      })),
      "/builds": (context) => context.json(controller.views()),
    },
  };
}
