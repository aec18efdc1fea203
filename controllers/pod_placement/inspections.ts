// Inspections of pods' images, beside the queue: a slow registry occupies no worker. One at a time a pod. Their number is limited,
// as they take memory: a pod beyond it waits for a permit, which namespaces get in turn, and comes back to the queue with it.
import type { PodImagesRequest } from "../../lib/images/pods/pod_images.ts";
import { errorText } from "../../lib/log.ts";
import { callersOf } from "../../lib/oci/callers.ts";
import type { Permit } from "../../lib/oci/limits/fair_limiter.ts";
import type { ImageUse, InspectedImage } from "../../lib/oci/types.ts";
import type { ImageJudgement } from "../../lib/placement/decide/decision_types.ts";
import type { PlacementSettings } from "../../lib/placement/decide/config/types.ts";
import { judgeImages, reduceToImages } from "../../lib/placement/decide/images.ts";
import { pullScopeOf } from "../../lib/placement/decide/pod/pod_refs.ts";
import type { PodView } from "../../lib/placement/decide/types.ts";
import type { PodPlacementDeps } from "./deps.ts";
import { type PodState, stopInspection } from "./pod_states.ts";

type InspectionDeps = Pick<PodPlacementDeps, "clock" | "images" | "log" | "metrics" | "settingsOf">;

export class Inspections {
  readonly #deps: InspectionDeps;
  readonly #wake: (key: string) => void;
  readonly #running = new Set<Promise<void>>();

  /** `wake` is called with the key of a pod whose state has the answer, or whose turn has come; never after a stop. */
  constructor(deps: InspectionDeps, wake: (key: string) => void) {
    this.#deps = deps;
    this.#wake = wake;
  }

  /** Starts the inspection of a pod's images, or lets the pod wait for its turn. What is known of all is judged at once. */
  start(
    key: string,
    pod: PodView,
    { state, images }: { readonly state: PodState; readonly images: readonly ImageUse[] },
  ): void {
    const { inspection } = state;
    const { permits } = this.#deps.images;
    if (inspection.kind === "pending") return;
    const judgement = this.#judgeKnown(pod, images);
    if (judgement !== undefined) {
      stopInspection(state);
      state.inspection = { kind: "settled", judgement };
      return;
    }
    const { namespace } = pod;
    const weight = images.length;
    const permit = inspection.kind === "permitted" ? inspection.permit : permits.tryAcquire(namespace, { weight });
    if (permit === undefined) return this.#waitForTurn(key, state, { namespace, weight });
    const running = { kind: "running", stop: new AbortController() } as const;
    state.inspection = running;
    this.#follow(
      this.#inspect(reduceToImages(pod, images), images, running.stop.signal).then((judgement) => {
        if (state.inspection !== running) return;
        state.inspection = { kind: "settled", judgement };
        this.#wake(key);
      }).finally(() => permit.release()),
    );
  }

  #judgeKnown(pod: PodView, wanted: readonly ImageUse[]): ImageJudgement | undefined {
    const { clock, images, settingsOf } = this.#deps;
    const known = images.recall({ scope: pullScopeOf(pod), images: wanted, lookedUpSinceMs: clock.nowMs() });
    if (known === undefined) return undefined;
    const judgement = judgeImages(pod, settingsOf(pod.namespace), wanted, known.images);
    return judgement.imageConfigs.length === 0 ? judgement : undefined;
  }

  /** Keeps no pod and no image in memory: any number of pods may wait. */
  #waitForTurn(
    key: string,
    state: PodState,
    { namespace, weight }: { readonly namespace: string; readonly weight: number },
  ): void {
    const pending = { kind: "pending", stop: new AbortController() } as const;
    state.inspection = pending;
    const permitted = (permit: Permit): void => {
      if (state.inspection !== pending) return permit.release();
      state.inspection = { kind: "permitted", permit };
      this.#wake(key);
    };
    const callers = callersOf({ namespace, priority: "gated" });
    // Rejects when it is stopped, and only then.
    this.#follow(this.#deps.images.permits.acquire(callers, pending.stop.signal, { weight }).then(permitted, () => {}));
  }

  #follow(work: Promise<void>): void {
    const followed = work.finally(() => this.#running.delete(followed));
    this.#running.add(followed);
  }

  async ended(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** Judges the images, whatever their registries do. Never rejects. */
  async #inspect(pod: PodView, wanted: readonly ImageUse[], signal: AbortSignal): Promise<ImageJudgement> {
    const { clock, metrics, log } = this.#deps;
    const settings = this.#deps.settingsOf(pod.namespace);
    const startedMs = clock.monotonicMs();
    try {
      return await this.#inspectAll(pod, { settings, wanted }, signal);
    } catch (error) {
      const { namespace, name } = pod;
      if (!signal.aborted) {
        log.error("inspection ended without an answer", { namespace, pod: name, error: errorText(error) });
      }
      return judgeUnanswered(pod, settings, { wanted, message: "the inspection ended without an answer" });
    } finally {
      if (!signal.aborted) metrics.podImagesInspected(clock.monotonicMs() - startedMs);
    }
  }

  async #inspectAll(
    pod: PodView,
    { settings, wanted }: { readonly settings: PlacementSettings; readonly wanted: readonly ImageUse[] },
    signal: AbortSignal,
  ): Promise<ImageJudgement> {
    // The pod exists by now, so every look-up from here on is recent enough to place it by.
    const lookedUpSinceMs = this.#deps.clock.nowMs();
    const request: PodImagesRequest = { scope: pullScopeOf(pod), images: wanted, priority: "gated", lookedUpSinceMs };
    const judgement = judgeImages(pod, settings, wanted, await this.#deps.images.inspect(request, signal));
    const { imageConfigs } = judgement;
    if (imageConfigs.length === 0) return judgement;
    // An operator bundle narrows nothing, but only its config says that it is one: read it where it would make a difference.
    return judgeImages(pod, settings, wanted, await this.#deps.images.inspect({ ...request, imageConfigs }, signal));
  }
}

export function judgeUnanswered(
  pod: PodView,
  settings: PlacementSettings,
  { wanted, message }: { readonly wanted: readonly ImageUse[]; readonly message: string },
): ImageJudgement {
  const inspection = { kind: "failed", failure: { kind: "transient", reason: "Timeout", message } } as const;
  return judgeImages(pod, settings, wanted, wanted.map((use): InspectedImage => ({ ...use, inspection })));
}
