// Ephemeral containers are never gated and never change a pod: the images are inspected in the background, and the pod
// gets an event when one cannot run on its node.
import type { PodImages } from "../lib/images/pods/pod_images.ts";
import type { EventRecorder } from "../lib/k8s/event_recorder.ts";
import { errorText, type Logger } from "../lib/log.ts";
import { FairLimiter } from "../lib/oci/limits/fair_limiter.ts";
import type { ImageUse } from "../lib/oci/types.ts";
import { MAX_IMAGES } from "../lib/placement/decide/images.ts";
import { podRef, pullScopeOf } from "../lib/placement/decide/pod_refs.ts";
import { ephemeralReport } from "../lib/placement/decide/report/mismatches.ts";
import type { ContainerView, PodView } from "../lib/placement/decide/types.ts";

export interface EphemeralDeps {
  readonly images: PodImages;
  readonly events: EventRecorder;
  readonly log: Logger;
  readonly architectureOf: (node: string) => string | undefined;
  readonly signal: AbortSignal;
}

/**
 * Images inspected at a time: users add ephemeral containers by hand. A pod counts as {@link LEAST_IMAGES} at least, so these
 * are 32 pods. A namespace may have as many as are free, so half of them when it is alone.
 */
const MAX_IMAGES_UNDER_WAY = 512;
const LEAST_IMAGES = 16;

/** Gives the function that the webhook calls with each pod that gets ephemeral containers. It never waits or throws. */
export function checkEphemeral(deps: EphemeralDeps): (pod: PodView) => void {
  const places = new FairLimiter({ limit: MAX_IMAGES_UNDER_WAY, share: 1 });
  return (pod) => {
    const nodeArchitecture = deps.architectureOf(pod.nodeName);
    if (nodeArchitecture === undefined || deps.signal.aborted) return;
    const wanted = distinctImages(pod.ephemeralContainers);
    if (wanted.length === 0 || wanted.length > MAX_IMAGES) return;
    const place = places.tryAcquire(pod.namespace, { weight: Math.max(LEAST_IMAGES, wanted.length) });
    if (place === undefined) return;
    check(deps, pod, wanted, nodeArchitecture)
      .catch((error: unknown) => deps.log.debug("ephemeral containers not checked", { reason: errorText(error) }))
      .finally(() => place.release());
  };
}

async function check(
  { images, events, signal }: EphemeralDeps,
  pod: PodView,
  wanted: readonly ImageUse[],
  nodeArchitecture: string,
): Promise<void> {
  const facts = await images.inspect({ scope: pullScopeOf(pod), images: wanted, priority: "admission" }, signal);
  const report = ephemeralReport(pod, nodeArchitecture, new Map(facts.map((fact) => [fact.image, fact])));
  if (report !== undefined) events.record({ ...report, object: podRef(pod) });
}

/** Each image once, whatever it is pulled by: it is not looked up for this pod alone. */
function distinctImages(containers: readonly ContainerView[]): readonly ImageUse[] {
  const wanted = new Map<string, ImageUse>();
  for (const { image, pullPolicy } of containers) {
    if (image !== "" && !wanted.has(image)) wanted.set(image, { image, pullPolicy, always: false });
  }
  return [...wanted.values()];
}
