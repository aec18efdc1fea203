// Inspects pods' images outside the queue, so that a slow registry occupies no worker. Each pod has one inspection.
// Their number is limited, because they take memory. Further pods wait for a permit, which namespaces get in turn, and
// then return to the queue.
import { podImagesWithBundles } from "../../lib/placement/cluster/pod_images_with_bundles.ts";
import { errorText } from "../../lib/log.ts";
import { callersOf } from "../../lib/oci/callers.ts";
import type { Permit } from "../../lib/oci/limits/fair_limiter.ts";
import type { ImageUse } from "../../lib/oci/inspection.ts";
import type { ImageJudgement } from "../../lib/placement/decide/decision_types.ts";
import type { PlacementSettings } from "../../lib/placement/decide/config/settings.ts";
import { judgeImages, notInspected } from "../../lib/placement/decide/judge_images.ts";
import { reduceToImages } from "../../lib/placement/decide/images_to_inspect.ts";
import { pullIdentityOf } from "../../lib/placement/decide/pod/pod_refs.ts";
import type { PodView } from "../../lib/placement/decide/pod/pod_view.ts";
import type { PodPlacementDeps } from "./deps.ts";
import type { PodState } from "./pod_states.ts";

type InspectionDeps = Pick<PodPlacementDeps, "clock" | "images" | "log" | "metrics" | "settingsOf">;

export class Inspections {
  readonly #deps: InspectionDeps;
  readonly #wake: (key: string) => void;
  readonly #running = new Set<Promise<void>>();

  /** Calls `wake` with a pod's key when its images are judged or its turn has come; never for a stopped inspection. */
  constructor(deps: InspectionDeps, wake: (key: string) => void) {
    this.#deps = deps;
    this.#wake = wake;
  }

  /** Starts the inspection of a pod's images, or lets it wait for its turn. If all are known, judges at once. */
  start(
    key: string,
    pod: PodView,
    { state, images }: { readonly state: PodState; readonly images: readonly ImageUse[] },
  ): void {
    const { stage } = state;
    const { permits } = this.#deps.images;
    if (stage.kind === "pending") return;
    const judgement = this.#judgeKnown(pod, images);
    if (judgement !== undefined) {
      state.setJudgement(judgement);
      return;
    }
    const { namespace } = pod;
    const weight = images.length;
    const permit = stage.kind === "permitted" ? stage.permit : permits.tryAcquire(namespace, { weight });
    if (permit === undefined) return this.#waitForTurn(key, state, { namespace, weight });
    const running = { kind: "running", stop: new AbortController() } as const;
    state.setStage(running);
    this.#follow(
      this.#inspect(reduceToImages(pod, images), images, running.stop.signal).then((judgement) => {
        if (state.stage !== running) return;
        state.setJudgement(judgement);
        this.#wake(key);
      }).finally(() => permit.release()),
    );
  }

  #judgeKnown(pod: PodView, wanted: readonly ImageUse[]): ImageJudgement | undefined {
    const { clock, images, settingsOf } = this.#deps;
    const known = images.recall({ identity: pullIdentityOf(pod), images: wanted, lookupSinceMs: clock.monotonicMs() });
    if (known === undefined) return undefined;
    const judgement = judgeImages(pod, settingsOf(pod.namespace), wanted, known.images);
    return judgement.possibleBundles.length === 0 ? judgement : undefined;
  }

  /** Keeps no pod or image in memory, since any number of pods may wait. */
  #waitForTurn(
    key: string,
    state: PodState,
    { namespace, weight }: { readonly namespace: string; readonly weight: number },
  ): void {
    const pending = { kind: "pending", stop: new AbortController() } as const;
    state.setStage(pending);
    const permitted = (permit: Permit): void => {
      if (state.stage !== pending) return permit.release();
      state.setStage({ kind: "permitted", permit });
      this.#wake(key);
    };
    const callers = callersOf({ namespace, priority: "gated" });
    // Rejects only when stopped.
    this.#follow(this.#deps.images.permits.acquire(callers, pending.stop.signal, { weight }).then(permitted, () => {}));
  }

  #follow(work: Promise<void>): void {
    const followed = work.finally(() => this.#running.delete(followed));
    this.#running.add(followed);
  }

  async ended(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** Judges the images, even if registries fail. Never rejects. */
  async #inspect(pod: PodView, wanted: readonly ImageUse[], signal: AbortSignal): Promise<ImageJudgement> {
    const { clock, metrics, log } = this.#deps;
    const settings = this.#deps.settingsOf(pod.namespace);
    const startedMs = clock.monotonicMs();
    // The pod exists by now, so any later look-up is recent enough to place it.
    const request = {
      identity: pullIdentityOf(pod),
      images: wanted,
      priority: "gated",
      lookupSinceMs: startedMs,
    } as const;
    try {
      const images = podImagesWithBundles(this.#deps.images, pod, settings);
      return judgeImages(pod, settings, wanted, await images.inspect(request, signal));
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
}

export function judgeUnanswered(
  pod: PodView,
  settings: PlacementSettings,
  { wanted, message }: { readonly wanted: readonly ImageUse[]; readonly message: string },
): ImageJudgement {
  return judgeImages(pod, settings, wanted, wanted.map((use) => notInspected(use, message)));
}
