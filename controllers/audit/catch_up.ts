// Pods that the watch of pending ones did not show in time: they ran before their namespace was known to be audited, or
// while there was no leader.
import type { Clock } from "../../lib/clock.ts";
import { type ReadApi, serverNowMs } from "../../lib/k8s/api.ts";
import { listAll } from "../../lib/k8s/lists.ts";
import { keyOf, Resource } from "../../lib/k8s/types.ts";
import { PodLabel } from "../../lib/names.ts";
import { isLarge, parsePod } from "../../lib/placement/decide/pod_view.ts";
import type { PodView } from "../../lib/placement/decide/types.ts";

/** Stands for every namespace. */
export const ALL_NAMESPACES = "";

/** Pods created less than this before may have started before they were watched: while a leader took over, or a label was read (ms). */
const CATCH_UP_MS = 60_000;

/** Recent pods of a namespace, in any phase, that the webhook passed: those that it handled carry its label. Large ones are left out. */
export async function* youngPods(
  { api, clock }: { readonly api: ReadApi; readonly clock: Clock },
  namespace: string,
  signal: AbortSignal,
): AsyncGenerator<readonly [key: string, pod: PodView], void> {
  const scope = namespace === ALL_NAMESPACES ? {} : { namespace };
  for await (const object of listAll(api, Resource.pods, { ...scope, signal })) {
    const pod = parsePod(object);
    const createdMs = pod?.creationTimestampMs ?? 0;
    const ageMs = serverNowMs(clock, api) - createdMs;
    if (pod === undefined || ageMs > CATCH_UP_MS || pod.labels?.[PodLabel.gate] !== undefined || isLarge(pod)) continue;
    yield [keyOf(object), pod];
  }
}
