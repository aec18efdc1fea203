// Inspections of pods' images, beside the queue: a registry may take as long as it wants without holding a worker. One at a
// time a pod; equal ones of several pods share their requests further down.
import type { PodImagesRequest } from "../../lib/images/pod_images.ts";
import { errorText } from "../../lib/log.ts";
import type { InspectedImage } from "../../lib/oci/types.ts";
import { imagesToInspect, imagesWorthConfigRead } from "../../lib/placement/images.ts";
import { pullScopeOf } from "../../lib/placement/pod_refs.ts";
import type { PodView } from "../../lib/placement/types.ts";
import type { PodPlacementDeps } from "./deps.ts";
import type { PodState } from "./pod_states.ts";

type InspectionDeps = Pick<PodPlacementDeps, "clock" | "images" | "log" | "metrics" | "settingsOf">;

/** Starts inspections and waits for their ends. */
export class Inspections {
  readonly #deps: InspectionDeps;
  readonly #running = new Set<Promise<void>>();

  constructor(deps: InspectionDeps) {
    this.#deps = deps;
  }

  /** Starts the inspection of a pod's images. `onSettled` is called when the state has the answer, not when it was stopped. */
  start(pod: PodView, state: PodState, onSettled: () => void): void {
    const running = { kind: "running", stop: new AbortController() } as const;
    state.inspection = running;
    const work = this.#inspect(pod, running.stop.signal).then((images) => {
      if (state.inspection !== running) return;
      state.inspection = { kind: "settled", images };
      onSettled();
    }).finally(() => this.#running.delete(work));
    this.#running.add(work);
  }

  /** Resolves when none runs any more. */
  async ended(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** One fact an image, whatever the images do. Never rejects. */
  async #inspect(pod: PodView, signal: AbortSignal): Promise<readonly InspectedImage[]> {
    const { clock, metrics, log } = this.#deps;
    const startedMs = clock.monotonicMs();
    try {
      return await this.#inspectAll(pod, signal);
    } catch (error) {
      if (signal.aborted) return [];
      log.error("inspection ended without an answer", {
        namespace: pod.namespace,
        pod: pod.name,
        error: errorText(error),
      });
      return failedFacts(this.#deps, pod, "the inspection ended without an answer");
    } finally {
      if (!signal.aborted) metrics.podImagesInspected(clock.monotonicMs() - startedMs);
    }
  }

  async #inspectAll(pod: PodView, signal: AbortSignal): Promise<readonly InspectedImage[]> {
    const settings = this.#deps.settingsOf(pod.namespace);
    const images = imagesToInspect(pod, settings);
    // The pod is there by now, so whatever is looked up from here on is what it may be placed by.
    const admittedAtMs = this.#deps.clock.nowMs();
    const request: PodImagesRequest = { scope: pullScopeOf(pod), images, priority: "gated", admittedAtMs };
    const inspected = await this.#deps.images.inspect(request, signal);
    const configOf = imagesWorthConfigRead({ pod, settings, images: inspected });
    if (configOf.length === 0) return inspected;
    // An operator bundle narrows nothing, but only its config says that it is one: read it where it would make a difference.
    return await this.#deps.images.inspect({ ...request, configOf }, signal);
  }
}

/** The facts of images that gave no answer in time. */
export function failedFacts(
  { settingsOf }: Pick<PodPlacementDeps, "settingsOf">,
  pod: PodView,
  message: string,
): readonly InspectedImage[] {
  return imagesToInspect(pod, settingsOf(pod.namespace)).map((use) => ({
    ...use,
    inspection: { kind: "failed", failure: { kind: "transient", reason: "Timeout", message } },
  }));
}
