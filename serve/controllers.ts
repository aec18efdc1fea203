// What runs on every replica, and what on the leader alone: whatever writes and can wait for a leader.
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
import type { PlacementParts } from "./placement_parts.ts";
import { execFormatSettings } from "./exec_format.ts";
import { type Components, followsNodes } from "./components.ts";

export function everywhere(deps: ServeDeps, placement: PlacementParts, components: Components): readonly Runnable[] {
  const { config, settings, clock, log } = deps;
  const { capability: { readApi, replicaApi, clientMetrics }, images, metrics, globalPullSecret, pathSecret } =
    placement;
  const { gatingHealth, webhookPaths } = components;
  return [
    components.configs,
    components.audited,
    placement.certificate,
    webhookPaths,
    placement.imageService,
    ...globalPullSecret === undefined ? [] : [globalPullSecret],
    ...placement.failedImages === undefined ? [] : [placement.failedImages],
    ...followsNodes(deps) ? [components.live] : [],
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
    openGatingStatus({ api: replicaApi, clock, log, gatingHealth }),
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

export function leading(deps: ServeDeps, placement: PlacementParts, components: Components): readonly Runnable[] {
  const { config, settings, clock, log } = deps;
  const { capability: { readApi, events, clientMetrics }, images, metrics } = placement;
  const { audited, configs, live, liveArchitectures, settingsOf } = components;
  const audit = openAudit({
    api: readApi,
    images,
    events,
    metrics: metrics.placement,
    clock,
    log,
    settingsOf,
    configsOf: configs.of,
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
    liveArchitectures: () => live.current(),
    queueMetrics: clientMetrics.queue,
  })];
  const kueue = config.kueue ? [openQueues(deps, placement, components)] : [];
  const execFormat = execFormatMonitor(deps, placement, components);
  const taints = components.taints === undefined ? [] : [components.taints.controller];
  return [components.podPlacement, components.operator, audit, ...daemonSets, ...kueue, execFormat, ...taints];
}

/** Loads the controller only where `kueue` is set. */
function openQueues(
  { clock, log }: ServeDeps,
  { capability: { leaderApi: api, clientMetrics: { queue: queueMetrics } }, images }: PlacementParts,
  { configs, liveArchitectures, settingsOf }: Components,
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
        configsOf: configs.of,
        liveArchitectures,
        queueMetrics,
      });
      await controller.run(signal);
    },
  };
}

/** Costs nothing while neither the plugin nor the flag is on. */
function execFormatMonitor(
  { config, clock, log }: ServeDeps,
  { capability: { leaderApi: api, events, clientMetrics }, claimedImages, images, metrics }: PlacementParts,
  { configs, gatingHealth, liveArchitectures, reported, settingsOf }: Components,
): Runnable {
  const monitor: ExecFormatDeps = {
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
    configsOf: configs.of,
    isGating: () => gatingHealth().kind === "gating",
    liveArchitectures,
    reported,
    queueMetrics: clientMetrics.queue,
  };
  // Loaded when there is something for it to do: the plugin may be switched on at any time, and mostly never is.
  const load = async (signal: AbortSignal): Promise<void> => {
    const { openExecFormatMonitor } = await import("../controllers/exec_format/controller.ts");
    await openExecFormatMonitor(monitor).run(signal);
  };
  const isWanted = (): boolean => monitor.settings.watchesPods || monitor.isMonitored();
  return whileWanted({ run: load }, { isMonitored: isWanted, onChange: monitor.onChange });
}
