// What runs on every replica, and what runs only on the leader: writers that can wait until there is a leader.
import { ALL_NAMESPACES, openAudit } from "../controllers/audit/controller.ts";
import { openDaemonSetWatch } from "../controllers/daemonsets/controller.ts";
import { openGatingStatus } from "../controllers/gating_status/controller.ts";
import type { ExecFormatDeps } from "../controllers/exec_format/deps.ts";
import { whileWanted } from "../controllers/exec_format/controller.ts";
import type { Runnable } from "../controllers/controller.ts";
import { openPrewarm } from "../controllers/prewarm/controller.ts";
import { watchEventLoop } from "../lib/server/metrics.ts";
import { Finalizer } from "../lib/names.ts";
import type { ServeDeps } from "./capability.ts";
import type { PlacementResources } from "./placement_resources.ts";
import { execFormatSettings } from "./exec_format.ts";
import { followsNodes, type PlacementComponents } from "./placement_components.ts";

export function openReplicaControllers(
  deps: ServeDeps,
  placement: PlacementResources,
  components: PlacementComponents,
): readonly Runnable[] {
  const { config, settings, clock, log } = deps;
  const { shared: { readApi, unfencedApi, clientMetrics }, images, metrics, globalPullSecret, pathSecret } = placement;
  const { gatingHealth, webhookPaths } = components;
  return [
    components.configs,
    components.audited,
    placement.certificate,
    webhookPaths,
    ...globalPullSecret === undefined ? [] : [globalPullSecret],
    ...placement.failedImages === undefined ? [] : [placement.failedImages],
    ...followsNodes(deps) ? [components.clusterArchitectures] : [],
    ...config.prewarm
      ? [openPrewarm({
        api: readApi,
        images,
        clock,
        log,
        settings,
        tagTtlMs: config.tagTtl,
        queueMetrics: clientMetrics.queue,
      })]
      : [],
    ...pathSecret === undefined ? [] : [pathSecret],
    openGatingStatus({ api: unfencedApi, clock, log, gatingHealth }),
    components.gateFailOpen,
    ...components.taints === undefined ? [] : [components.taints.failOpen],
    {
      run: (signal) =>
        watchEventLoop({
          clock,
          observe: (ms) => metrics.server.archway_event_loop_delay_seconds.observe(ms / 1_000),
        }, signal),
    },
  ];
}

export function openLeaderControllers(
  deps: ServeDeps,
  placement: PlacementResources,
  components: PlacementComponents,
): readonly Runnable[] {
  const { config, settings, clock, log } = deps;
  const { shared: { readApi, events, clientMetrics }, images, metrics } = placement;
  const { audited, configs, clusterArchitectures, liveArchitectures, settingsOf } = components;
  const audit = openAudit({
    api: readApi,
    images,
    events,
    metrics: metrics.placement,
    clock,
    log,
    settingsOf,
    configsOf: configs.forNamespace,
    liveArchitectures,
    audited: config.audit ? { names: () => [ALL_NAMESPACES], onAdded: () => {} } : audited,
    queueMetrics: clientMetrics.queue,
  });
  const daemonSets = config.daemonsets !== "warn" ? [] : [openDaemonSetWatch({
    api: readApi,
    images,
    events,
    clock,
    log,
    settings,
    liveArchitectures: () => clusterArchitectures.current(),
    queueMetrics: clientMetrics.queue,
  })];
  const kueue = config.kueue ? [openQueues(deps, placement, components)] : [];
  const execFormat = execFormatController(deps, placement, components);
  const taints = components.taints === undefined ? [] : [components.taints.controller];
  return [components.podPlacement, components.operator, audit, ...daemonSets, ...kueue, execFormat, ...taints];
}

/** Loads the controller only where `kueue` is set. */
function openQueues(
  { clock, log }: ServeDeps,
  { shared: { leaderApi: api, clientMetrics: { queue: queueMetrics } }, images }: PlacementResources,
  { configs, liveArchitectures, settingsOf }: PlacementComponents,
): Runnable {
  return {
    run: async (signal) => {
      const { openKueue } = await import("../controllers/kueue/controller.ts");
      const controller = openKueue({
        api,
        images,
        clock,
        log: log.with({ controller: "kueue" }),
        settingsOf,
        configsOf: configs.forNamespace,
        liveArchitectures,
        queueMetrics,
      });
      await controller.run(signal);
    },
  };
}

/** Makes a controller that is idle while both plugin and flag are off. */
function execFormatController(
  { config, clock, log }: ServeDeps,
  { shared: { leaderApi: api, events, clientMetrics }, claimedImages, images, metrics }: PlacementResources,
  { configs, gatingHealth, liveArchitectures, reported, settingsOf }: PlacementComponents,
): Runnable {
  const deps: ExecFormatDeps = {
    api,
    images: claimedImages,
    imagesToPlace: images,
    events,
    metrics: metrics.execFormat,
    clock,
    log: log.with({ controller: "exec-format-errors" }),
    settings: execFormatSettings(config),
    isMonitored: () => {
      const cluster = configs.cluster();
      return cluster?.monitorsExecFormat === true || cluster?.finalizers.includes(Finalizer.enoexecEvents) === true;
    },
    onChange: (listener) => configs.onChange((namespace) => namespace === undefined ? listener() : undefined),
    settingsOf,
    configsOf: configs.forNamespace,
    isGating: () => gatingHealth().kind === "gating",
    liveArchitectures,
    reported,
    queueMetrics: clientMetrics.queue,
  };
  // Loaded on demand: the plugin can be enabled at any time, but rarely is.
  const load = async (signal: AbortSignal): Promise<void> => {
    const { openExecFormatController } = await import("../controllers/exec_format/controller.ts");
    await openExecFormatController(deps).run(signal);
  };
  const isWanted = (): boolean => deps.settings.watchesPods || deps.isMonitored();
  return whileWanted({ run: load }, { isWanted, onChange: deps.onChange });
}
