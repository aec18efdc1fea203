// `--daemonsets=warn`: one event on a DaemonSet whose images lack an architecture of the nodes.
import { BackgroundRetries, inspectInBackground, isTransientFailure } from "../../lib/placement/images/background.ts";
import { podImagesWithBundles } from "../../lib/placement/cluster/pod_images_with_bundles.ts";
import type { ReadApi } from "../../lib/k8s/api.ts";
import { eventObjectOf } from "../../lib/k8s/event_input.ts";
import type { EventRecorder } from "../../lib/k8s/event_recorder.ts";
import { RETENTION } from "../../lib/k8s/retention.ts";
import type { Change } from "../../lib/k8s/object_cache.ts";
import { Reflector } from "../../lib/k8s/reflector.ts";
import { Resource, splitKey } from "../../lib/k8s/types.ts";
import type { PlacementSettings } from "../../lib/placement/decide/config/settings.ts";
import { judgeImages } from "../../lib/placement/decide/judge_images.ts";
import { imagesToInspect, MAX_IMAGES } from "../../lib/placement/decide/images_to_inspect.ts";
import { pullIdentityOf } from "../../lib/placement/decide/pod/pod_refs.ts";
import { bytesOfView, podTemplateOf, type PodView, unlessLarge } from "../../lib/placement/decide/pod/pod_view.ts";
import { daemonSetEvent } from "../../lib/placement/decide/events/mismatches.ts";
import type { PodEvent } from "../../lib/placement/decide/events/event_slots.ts";
import { type Controller, DONE, openController, type PlacementControllerDeps, requeueAfter } from "../controller.ts";

interface DaemonSetWatchDeps
  extends Pick<PlacementControllerDeps, "clock" | "log" | "queueMetrics" | "images" | "liveArchitectures"> {
  readonly api: ReadApi;
  readonly events: EventRecorder;
  readonly settings: PlacementSettings;
}

interface WatchedDaemonSet {
  readonly uid: string;
  readonly template: PodView;
  readonly weight: number;
}

const PARALLEL = 2;
/** Bytes of a DaemonSet besides its template: its key in the queue and its last message. */
const DAEMON_SET_BYTES = 2_000;
/** More keys than DaemonSets fit into a namespace's memory share, since deleted ones have keys, too. */
const MAX_KEYS_OF_NAMESPACE = 1_000;
/** Retry interval while nodes are unknown (ms). */
const NODES_MS = 1_000;

export function openDaemonSetWatch(deps: DaemonSetWatchDeps): Controller {
  const { events, liveArchitectures } = deps;
  /** The last message by key. Repeats the event when it differs, or when the DaemonSet was not kept meanwhile. */
  const reported = new Map<string, string>();
  const retries = new BackgroundRetries();
  const daemonSets = openDaemonSets(
    deps,
    ({ kind, key }) => {
      if (kind === "apply") return controller.enqueue(key);
      reported.delete(key);
      retries.clear(key);
    },
  );
  const controller = openController({
    ...deps,
    name: "daemonsets",
    watches: [daemonSets],
    parallel: PARALLEL,
    queue: { flowOf: (key) => splitKey(key).namespace ?? "", maxOfFlow: () => MAX_KEYS_OF_NAMESPACE },
    reconcile: async (key, signal) => {
      const daemonSet = daemonSets.get(key);
      const live = liveArchitectures();
      if (daemonSet === undefined) return DONE;
      if (live === undefined) return requeueAfter(NODES_MS);
      const event = await judge({ ...deps, signal }, daemonSet.template, live);
      if (event === "unfinished") return requeueAfter(retries.afterMs(key));
      retries.clear(key);
      if (event === undefined || reported.get(key) === event.message) return DONE;
      // If the DaemonSet is gone or was evicted meanwhile, nothing would remove its message.
      if (daemonSets.get(key)?.uid !== daemonSet.uid) return DONE;
      reported.set(key, event.message);
      const object = eventObjectOf(Resource.daemonSets, { ...splitKey(key), uid: daemonSet.uid });
      events.record({ ...event, slot: 1, object });
      return DONE;
    },
  });
  return controller;
}

function openDaemonSets(
  deps: DaemonSetWatchDeps,
  onChange: (change: Change<WatchedDaemonSet>) => void,
): Reflector<WatchedDaemonSet> {
  return new Reflector<WatchedDaemonSet>({
    ...deps,
    resource: Resource.daemonSets,
    name: "daemonsets",
    onChange,
    parse: (object) => {
      const template = unlessLarge(podTemplateOf(object));
      if (template === undefined) return undefined;
      const weight = DAEMON_SET_BYTES + bytesOfView(template);
      return { uid: object.metadata.uid ?? "", template, weight };
    },
    retain: { ...RETENTION.daemonSets, weightOf: ({ weight }) => weight },
  });
}

/** The event to post, if any; `unfinished` if some images were not read yet. */
async function judge(
  { images, clock, settings, signal }: DaemonSetWatchDeps & { readonly signal: AbortSignal },
  template: PodView,
  live: readonly string[],
): Promise<PodEvent | undefined | "unfinished"> {
  const wanted = imagesToInspect(template, settings);
  if (wanted.length > MAX_IMAGES) return undefined;
  const request = { identity: pullIdentityOf(template), images: wanted, priority: "prewarm" } as const;
  const inspecting = podImagesWithBundles(images, template, settings);
  const inspected = await inspectInBackground(inspecting, request, { signal, clock });
  if (inspected === undefined || inspected.some(isTransientFailure)) return "unfinished";
  return daemonSetEvent(template, judgeImages(template, settings, wanted, inspected), live);
}
