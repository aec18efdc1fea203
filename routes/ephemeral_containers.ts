// Ephemeral containers are never gated and never change a pod: the images are inspected in the background, and the pod
// gets an event when one cannot run on its node.
import type { PodImages } from "../lib/images/pod_images.ts";
import type { EventRecorder } from "../lib/k8s/event_recorder.ts";
import { errorText, type Logger } from "../lib/log.ts";
import { podRef, pullScopeOf } from "../lib/placement/pod_refs.ts";
import { ephemeralReport } from "../lib/placement/report/ephemeral.ts";
import type { PodView } from "../lib/placement/types.ts";

/** Clients, and what is answered at once from memory. */
export interface EphemeralDeps {
  readonly images: PodImages;
  readonly events: Pick<EventRecorder, "record">;
  readonly log: Logger;
  readonly architectureOf: (node: string) => string | undefined;
  /** Ends the work under way. */
  readonly signal: AbortSignal;
}

/** Pods looked at in one moment at most: people add ephemeral containers by hand. */
const MAX_UNDER_WAY = 32;

/** Gives the function that the webhook calls with each pod that gets ephemeral containers. It never waits or throws. */
export function checkEphemeral(deps: EphemeralDeps): (pod: PodView) => void {
  let underWay = 0;
  return (pod) => {
    if (underWay >= MAX_UNDER_WAY || deps.signal.aborted) return;
    underWay++;
    check(deps, pod)
      .catch((error: unknown) => deps.log.debug("ephemeral containers not checked", { reason: errorText(error) }))
      .finally(() => underWay--);
  };
}

async function check({ images, events, architectureOf, signal }: EphemeralDeps, pod: PodView): Promise<void> {
  const nodeArchitecture = architectureOf(pod.nodeName);
  if (nodeArchitecture === undefined) return;
  const wanted = pod.ephemeralContainers.map(({ image, pullPolicy }) => ({ image, pullPolicy, always: false }));
  const facts = await images.inspect({ scope: pullScopeOf(pod), images: wanted, priority: "admission" }, signal);
  const report = ephemeralReport(
    pod,
    pod.ephemeralContainers.flatMap((container, index) => {
      const fact = facts[index];
      return fact === undefined ? [] : [{ container, fact, nodeArchitecture }];
    }),
  );
  if (report !== undefined) events.record({ ...report, object: podRef(pod) });
}
