// Inspections of pods' images, beside the queue: a slow registry does not occupy a worker. One at a
// time a pod; equal ones of several pods share their requests further down.
import type { PodImagesRequest } from "../../lib/images/pod_images.ts";
import { errorText } from "../../lib/log.ts";
import type { ImageUse, InspectedImage } from "../../lib/oci/types.ts";
import type { ImageJudgement } from "../../lib/placement/decision_types.ts";
import { judgeImages, partOfImages } from "../../lib/placement/images.ts";
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
  start(
    pod: PodView,
    state: PodState,
    { images, onSettled }: { readonly images: readonly ImageUse[]; readonly onSettled: () => void },
  ): void {
    const running = { kind: "running", stop: new AbortController() } as const;
    state.inspection = running;
    const work = this.#inspect(partOfImages(pod, images), images, running.stop.signal).then(
      (judgement) => {
        if (state.inspection !== running) return;
        state.inspection = { kind: "settled", judgement };
        onSettled();
      },
    ).finally(() => this.#running.delete(work));
    this.#running.add(work);
  }

  /** Resolves when none runs any more. */
  async ended(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** What the images come to, whatever their registries do. Never rejects. */
  async #inspect(pod: PodView, wanted: readonly ImageUse[], signal: AbortSignal): Promise<ImageJudgement> {
    const { clock, metrics, log } = this.#deps;
    const startedMs = clock.monotonicMs();
    try {
      return await this.#inspectAll(pod, wanted, signal);
    } catch (error) {
      const message = "the inspection ended without an answer";
      if (signal.aborted) return judgeUnanswered(this.#deps, pod, { wanted, message });
      log.error("inspection ended without an answer", {
        namespace: pod.namespace,
        pod: pod.name,
        error: errorText(error),
      });
      return judgeUnanswered(this.#deps, pod, { wanted, message });
    } finally {
      if (!signal.aborted) metrics.podImagesInspected(clock.monotonicMs() - startedMs);
    }
  }

  async #inspectAll(pod: PodView, wanted: readonly ImageUse[], signal: AbortSignal): Promise<ImageJudgement> {
    const facts = { pod, settings: this.#deps.settingsOf(pod.namespace), wanted };
    // The pod exists by now, so every look-up from here on is recent enough to place it by.
    const admittedAtMs = this.#deps.clock.nowMs();
    const request: PodImagesRequest = { scope: pullScopeOf(pod), images: wanted, priority: "gated", admittedAtMs };
    const judgement = judgeImages({ ...facts, images: await this.#deps.images.inspect(request, signal) });
    const { configOf } = judgement;
    if (configOf.length === 0) return judgement;
    // An operator bundle narrows nothing, but only its config says that it is one: read it where it would make a difference.
    return judgeImages({ ...facts, images: await this.#deps.images.inspect({ ...request, configOf }, signal) });
  }
}

/** The judgement of images that gave no answer in time. */
export function judgeUnanswered(
  { settingsOf }: Pick<PodPlacementDeps, "settingsOf">,
  pod: PodView,
  { wanted, message }: { readonly wanted: readonly ImageUse[]; readonly message: string },
): ImageJudgement {
  const images = wanted.map((use): InspectedImage => ({
    ...use,
    inspection: { kind: "failed", failure: { kind: "transient", reason: "Timeout", message } },
  }));
  return judgeImages({ pod, settings: settingsOf(pod.namespace), wanted, images });
}
