// Pods that nobody saw in time: they ran before audit mode was known to the leader, or while there was none. Called by
// controller.ts.
import type { Clock } from "../../lib/clock.ts";
import type { KubeApi } from "../../lib/k8s/api.ts";
import { listAll } from "../../lib/k8s/lists.ts";
import { keyOf, Resource } from "../../lib/k8s/types.ts";
import { PodLabel } from "../../lib/names.ts";
import { parsePod } from "../../lib/placement/pod_view.ts";
import type { PlacementSettings, PodView } from "../../lib/placement/types.ts";

/** What is asked of the rest of the process; answered at once. */
export interface CatchUpParts {
  readonly api: KubeApi;
  readonly clock: Clock;
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

/** Tells of each scope that comes under audit, those of the beginning included. */
export async function watchScopes(
  { audited, clock }: CatchUpParts,
  { onAdd, signal }: { readonly onAdd: (namespace: string) => void; readonly signal: AbortSignal },
): Promise<void> {
  let known: ReadonlySet<string> = new Set();
  while (!signal.aborted) {
    const now = new Set(audited());
    for (const namespace of now) if (!known.has(namespace)) onAdd(namespace);
    known = now;
    await clock.sleep(LOOK_MS, signal);
  }
}

/** Audited pods in whatever phase that are young and that the webhook passed: those it handled bear its label. */
export async function* youngPods(
  { api, clock, settingsOf }: CatchUpParts,
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
