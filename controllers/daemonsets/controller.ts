// `--daemonsets=warn`: one event on a DaemonSet whose images miss an architecture that nodes have.
import type { Clock } from "../../lib/clock.ts";
import type { PodImages } from "../../lib/images/pod_images.ts";
import type { ReadApi } from "../../lib/k8s/api.ts";
import { eventObjectOf } from "../../lib/k8s/event_input.ts";
import type { EventRecorder } from "../../lib/k8s/event_recorder.ts";
import { openReflector } from "../../lib/k8s/reflector.ts";
import { Resource, splitKey } from "../../lib/k8s/types.ts";
import type { Logger } from "../../lib/log.ts";
import type { PlacementSettings } from "../../lib/placement/config/types.ts";
import { imagesToInspect, MAX_IMAGES } from "../../lib/placement/images.ts";
import { pullScopeOf } from "../../lib/placement/pod_refs.ts";
import { podTemplateOf, unlessLarge } from "../../lib/placement/pod_view.ts";
import { daemonSetReport } from "../../lib/placement/report/mismatches.ts";
import type { PodReport } from "../../lib/placement/report/report_slots.ts";
import type { PodView } from "../../lib/placement/types.ts";
import { type Controller, type ControllerOptions, DONE, openController, requeueAfter } from "../controller.ts";

/** Clients, and what is answered at once from memory. */
export interface DaemonSetWatchDeps {
  readonly api: ReadApi;
  readonly images: PodImages;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Logger;
  readonly settings: () => PlacementSettings;
  readonly liveArchitectures: () => readonly string[] | undefined;
  readonly queueMetrics?: ControllerOptions["queueMetrics"];
}

interface WatchedDaemonSet {
  readonly uid: string;
  readonly template: PodView;
}

/** DaemonSets inspected at a time. */
const PARALLEL = 2;
/** Between two tries while the nodes are not known (ms). */
const NODES_MS = 1_000;

/** Makes the controller. No request is sent to the API server before `run`. */
export function openDaemonSetWatch(deps: DaemonSetWatchDeps): Controller {
  const { api, events, clock, log, liveArchitectures, queueMetrics } = deps;
  /** The last message by key: an event is recorded again only when it differs. */
  const reported = new Map<string, string>();
  const daemonSets = openReflector<WatchedDaemonSet>({
    api,
    resource: Resource.daemonSets,
    parse: (object) => {
      const template = unlessLarge(podTemplateOf(object));
      return template === undefined ? undefined : { uid: object.metadata.uid ?? "", template };
    },
    onChange: ({ kind, key }) => kind === "apply" ? controller.enqueue(key) : void reported.delete(key),
    clock,
    log,
    name: "daemonsets",
  });
  const controller = openController({
    name: "daemonsets",
    watches: [daemonSets],
    parallel: PARALLEL,
    clock,
    log,
    queueMetrics,
    reconcile: async (key, signal) => {
      const daemonSet = daemonSets.get(key);
      const live = liveArchitectures();
      if (daemonSet === undefined) return DONE;
      if (live === undefined) return requeueAfter(NODES_MS);
      const report = await judge(deps, { template: daemonSet.template, live }, signal);
      if (report === undefined || reported.get(key) === report.message) return DONE;
      reported.set(key, report.message);
      const object = eventObjectOf(Resource.daemonSets, { ...splitKey(key), uid: daemonSet.uid });
      events.record({ ...report, slot: 1, object });
      return DONE;
    },
  });
  return controller;
}

async function judge(
  { images, settings }: DaemonSetWatchDeps,
  { template, live }: { readonly template: PodView; readonly live: readonly string[] },
  signal: AbortSignal,
): Promise<PodReport | undefined> {
  const wanted = imagesToInspect(template, settings());
  if (wanted.length > MAX_IMAGES) return undefined;
  const scope = pullScopeOf(template);
  const inspected = await images.inspect({ scope, images: wanted, priority: "prewarm" }, signal);
  return daemonSetReport({ template, settings: settings(), wanted, images: inspected, liveArchitectures: live });
}
