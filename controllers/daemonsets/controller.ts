// `--daemonsets=warn`: one event on a DaemonSet whose images miss an architecture that nodes have. Opened by main with
// that switch, run by the leader.
import type { Clock } from "../../lib/clock.ts";
import type { PodImages } from "../../lib/images/pod_images.ts";
import type { ReadApi } from "../../lib/k8s/api.ts";
import type { EventRecorder } from "../../lib/k8s/event_recorder.ts";
import { openReflector } from "../../lib/k8s/reflector.ts";
import { Resource, splitKey } from "../../lib/k8s/types.ts";
import { WorkQueue } from "../../lib/k8s/work_queue.ts";
import type { Logger } from "../../lib/log.ts";
import type { PlacementSettings } from "../../lib/placement/config_types.ts";
import { daemonSetReport } from "../../lib/placement/report/daemonset.ts";
import { imagesToInspect } from "../../lib/placement/images.ts";
import type { PodReport } from "../../lib/placement/report/report_slots.ts";
import { podTemplateOf } from "../../lib/placement/pod_template.ts";
import type { PodView } from "../../lib/placement/types.ts";

/** What it is made with. */
export interface DaemonSetWatchDeps {
  readonly api: ReadApi;
  readonly images: PodImages;
  readonly events: Pick<EventRecorder, "record">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly settings: () => PlacementSettings;
  readonly liveArchitectures: () => readonly string[] | undefined;
}

/** The running controller. */
export interface DaemonSetWatch {
  /** Works until the signal aborts; never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

interface Seen {
  readonly uid: string;
  readonly template: PodView;
}

/** DaemonSets inspected at a time. */
const PARALLEL = 2;
/** Until the nodes are known (ms). */
const NODES_MS = 1_000;

/** Makes the controller. Nothing is asked of the API server before `run`. */
export function openDaemonSetWatch(parts: DaemonSetWatchDeps): DaemonSetWatch {
  const { api, events, clock, log, liveArchitectures } = parts;
  const told = new Map<string, string>();
  const daemonSets = openReflector<Seen>({
    api,
    resource: Resource.daemonSets,
    parse: (object) => {
      const template = podTemplateOf(object);
      return template === undefined ? undefined : { uid: object.metadata.uid ?? "", template };
    },
    onChange: ({ kind, key }) => kind === "apply" ? queue.add(key) : void told.delete(key),
    clock,
    log,
    name: "daemonsets",
  });
  const queue = new WorkQueue({
    name: "daemonsets",
    parallel: PARALLEL,
    clock,
    log,
    reconcile: async (key, signal) => {
      const seen = daemonSets.get(key);
      const live = liveArchitectures();
      if (seen === undefined) return { kind: "done" };
      if (live === undefined) return { kind: "again", afterMs: NODES_MS };
      const report = await judge(parts, { template: seen.template, live }, signal);
      if (report === undefined || told.get(key) === report.message) return { kind: "done" };
      told.set(key, report.message);
      const object = { apiVersion: "apps/v1", kind: "DaemonSet", ...splitKey(key), uid: seen.uid };
      events.record({ ...report, slot: 1, object });
      return { kind: "done" };
    },
  });
  return {
    run: async (signal) => {
      await Promise.all([daemonSets.run(signal), queue.run(signal)]);
    },
  };
}

async function judge(
  { images, settings }: DaemonSetWatchDeps,
  { template, live }: { readonly template: PodView; readonly live: readonly string[] },
  signal: AbortSignal,
): Promise<PodReport | undefined> {
  const scope = { namespace: template.namespace, pullSecrets: template.imagePullSecrets };
  const wanted = imagesToInspect(template, settings());
  const facts = await images.inspect({ scope, images: wanted, priority: "prewarm" }, signal);
  return daemonSetReport({ template, settings: settings(), images: facts, liveArchitectures: live });
}
