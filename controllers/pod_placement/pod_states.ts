// The state of a gated pod between two reconciles, in memory only: a restart begins without it, and the deadline of a pod is
// counted from the pod's creation all the same.
import type { Place } from "../../lib/oci/limits/fair_limiter.ts";
import type { ImageJudgement } from "../../lib/placement/decision_types.ts";
import type { GatedPod } from "./gated_pod.ts";

/** The inspection of a pod's images, which runs beside the queue. */
export type InspectionState =
  | { readonly kind: "none" }
  /** Too many images are under way: the pod waits for its turn. */
  | { readonly kind: "pending"; readonly stop: AbortController }
  /** It is the pod's turn. */
  | { readonly kind: "admitted"; readonly place: Place }
  | { readonly kind: "running"; readonly stop: AbortController }
  | { readonly kind: "settled"; readonly judgement: ImageJudgement };

/** The memory of one pod. Times are monotonic ms. */
export interface PodState {
  /** When this process first observed the pod gated. */
  readonly firstSeenMs: number;
  /** Names the images that the members below are about. */
  images: string;
  inspection: InspectionState;
  /** When the round began that ends with the next decision; undefined between rounds. */
  roundBeganMs: number | undefined;
  /** Inspection rounds that failed. */
  failedAttempts: number;
  /** Those among them that failed permanently. */
  permanentFailures: number;
  /** The next round is not due before. */
  notBeforeMs: number;
  /** Writes of the release that failed in a row, all of them and those that the API server left without an answer. */
  failedWrites: number;
  unansweredWrites: number;
  /** The refusal of every way to release the pod that was reported last; empty when there was none. */
  reportedRefusal: string;
  /** The event of its gate was posted. */
  reported: boolean;
  /** Our gate is off by our own patch; the watch has yet to show it. */
  released: boolean;
}

const NOTHING_TRIED = {
  inspection: { kind: "none" },
  roundBeganMs: undefined,
  failedAttempts: 0,
  permanentFailures: 0,
  notBeforeMs: 0,
  failedWrites: 0,
  unansweredWrites: 0,
} as const;

/** The states of all gated pods, by uid. */
export class PodStates {
  readonly #states = new Map<string, PodState>();

  /** The state of a pod, begun if there is none. Other images than before reset everything but the pod's age. */
  open({ uid, images }: Pick<GatedPod, "uid" | "images">, nowMs: number): PodState {
    const known = this.#states.get(uid);
    if (known === undefined) {
      const state = {
        firstSeenMs: nowMs,
        images,
        ...NOTHING_TRIED,
        reportedRefusal: "",
        reported: false,
        released: false,
      };
      this.#states.set(uid, state);
      return state;
    }
    if (known.images !== images) {
      stopInspection(known);
      Object.assign(known, { images, ...NOTHING_TRIED });
    }
    return known;
  }

  /** Drops the state of a pod that is gone or no longer gated. */
  close(uid: string): void {
    const state = this.#states.get(uid);
    if (state !== undefined) stopInspection(state);
    this.#states.delete(uid);
  }

  /** Ends what runs for any pod. */
  stopInspections(): void {
    for (const state of this.#states.values()) stopInspection(state);
  }
}

/** Ends the inspection of a pod and drops what it found. */
export function stopInspection(state: PodState): void {
  const { inspection } = state;
  state.inspection = { kind: "none" };
  if (inspection.kind === "admitted") inspection.place.release();
  else if (inspection.kind === "pending" || inspection.kind === "running") inspection.stop.abort();
}
