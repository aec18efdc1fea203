// Pods that nobody saw in time: they ran before audit mode was known to the leader, or while there was none. Called by
// controller.ts.
import type { Clock } from "../../lib/clock.ts";
import type { ReadApi } from "../../lib/k8s/api.ts";
import { listAll } from "../../lib/k8s/lists.ts";
import { keyOf, Resource } from "../../lib/k8s/types.ts";
import { WorkQueue } from "../../lib/k8s/work_queue.ts";
import type { Logger } from "../../lib/log.ts";
import { PodLabel } from "../../lib/names.ts";
import type { PlacementSettings } from "../../lib/placement/config_types.ts";
import { parsePod } from "../../lib/placement/pod_view.ts";
import type { PodView } from "../../lib/placement/types.ts";

/** What is asked of the rest of the process; answered at once. */
export interface CatchUpDeps {
  readonly api: ReadApi;
  readonly clock: Clock;
  readonly log: Logger;
  /** Settings for a namespace: `audit` tells whether its pods are audited. */
  readonly settingsOf: (namespace: string) => PlacementSettings;
  /** The namespaces under audit; `ALL_NAMESPACES` among them stands for all. */
  readonly audited: () => Iterable<string>;
}

/** How often it is looked whether there is something new to audit (ms). */
export const LOOK_MS = 500;
/** Pods so young may have come to run before anybody watched: while a leader took over, or a label became known (ms). */
const CATCH_UP_MS = 60_000;
/** Stands for every namespace. */
export const ALL_NAMESPACES = "";

/** Makes the part that gives `notice` each young pod of every scope that comes under audit, those of the start included. */
export function openCatchUp(
  parts: CatchUpDeps,
  notice: (key: string, pod: PodView) => void,
): { run(signal: AbortSignal): Promise<void> } {
  const { audited, clock, log } = parts;
  const queue = new WorkQueue({
    name: "audited namespaces",
    parallel: 1,
    clock,
    log,
    reconcile: async (namespace, signal) => {
      for await (const [key, pod] of youngPods(parts, namespace, signal)) notice(key, pod);
      return { kind: "done" };
    },
  });
  const follow = async (signal: AbortSignal): Promise<void> => {
    let known: ReadonlySet<string> = new Set();
    while (!signal.aborted) {
      const now = new Set(audited());
      for (const namespace of now) if (!known.has(namespace)) queue.add(namespace);
      known = now;
      await clock.sleep(LOOK_MS, signal);
    }
  };
  return {
    run: async (signal) => {
      await Promise.all([queue.run(signal), follow(signal)]);
    },
  };
}

/** Audited pods in whatever phase that are young and that the webhook passed: those it handled bear its label. */
async function* youngPods(
  { api, clock, settingsOf }: CatchUpDeps,
  namespace: string,
  signal: AbortSignal,
): AsyncGenerator<readonly [string, PodView], void> {
  const scope = namespace === ALL_NAMESPACES ? {} : { namespace };
  for await (const object of listAll(api, Resource.pods, { ...scope, signal })) {
    const pod = parsePod(object);
    const bornMs = pod?.creationTimestampMs ?? 0;
    const ageMs = clock.nowMs() + api.serverClockOffsetMs() - bornMs;
    if (pod === undefined || ageMs > CATCH_UP_MS || pod.labels?.[PodLabel.gate] !== undefined) continue;
    if (settingsOf(pod.namespace).audit) yield [keyOf(object), pod];
  }
}
