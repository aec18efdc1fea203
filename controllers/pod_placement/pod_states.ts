// The state of a gated pod between reconciles. In memory only, lost at a restart.
import { serverNowMs } from "../../lib/k8s/api.ts";
import type { Permit } from "../../lib/oci/limits/fair_limiter.ts";
import type { ImageJudgement } from "../../lib/placement/decide/decision_types.ts";
import type { PodPlacementDeps } from "./deps.ts";
import type { GatedPod, GatedPodRef } from "./gated_pod.ts";

type InspectionState =
  | { readonly kind: "none" }
  /** Waits for its turn, because too many images are being inspected. */
  | { readonly kind: "pending"; readonly stop: AbortController }
  | { readonly kind: "permitted"; readonly permit: Permit }
  | { readonly kind: "running"; readonly stop: AbortController }
  | { readonly kind: "judged"; readonly judgement: ImageJudgement };

/** A pod that a leader first sees near or after its deadline still gets this long (ms). */
const MIN_LEFT_MS = 5_000;

type AgeDeps = Pick<PodPlacementDeps, "api" | "clock" | "settingsOf">;

/** The progress of a pod with its present images. Times are monotonic ms. */
class RoundState {
  inspection: InspectionState = { kind: "none" };
  /** When the current inspection round began, which ends with a decision; undefined between rounds. */
  roundBeganMs: number | undefined;
  failedAttempts = 0;
  permanentFailures = 0;
  /** The last failure that describes a registry's problem. */
  lastFailure: string | undefined;
  notBeforeMs = 0;
  /** Consecutive failed release writes: all of them, and those without an answer. */
  failedWrites = 0;
  unansweredWrites = 0;
}

export interface PodState extends RoundState {
  /** When this process first observed the pod gated (monotonic ms). */
  readonly firstSeenMs: number;
  imagesHash: string;
  /** The last reported reason why the API server refused every release step. */
  reportedRefusal: string | undefined;
  reported: boolean;
  /** Our patch removed the gate, but the watch does not show it yet. */
  released: boolean;
}

export class PodStates {
  readonly #states = new Map<string, PodState>();

  /** The state of a pod, created if missing. Changed images reset its progress. */
  open({ uid, imagesHash }: Pick<GatedPod, "uid" | "imagesHash">, nowMs: number): PodState {
    const known = this.#states.get(uid);
    if (known === undefined) {
      const fresh = { imagesHash, reportedRefusal: undefined, reported: false, released: false };
      const state = { firstSeenMs: nowMs, ...fresh, ...new RoundState() };
      this.#states.set(uid, state);
      return state;
    }
    if (known.imagesHash !== imagesHash) {
      stopInspection(known);
      Object.assign(known, { imagesHash }, new RoundState());
    }
    return known;
  }

  close(uid: string): void {
    const state = this.#states.get(uid);
    if (state !== undefined) stopInspection(state);
    this.#states.delete(uid);
  }

  stopInspections(): void {
    for (const state of this.#states.values()) stopInspection(state);
  }
}

export function stopInspection(state: PodState): void {
  const { inspection } = state;
  state.inspection = { kind: "none" };
  if (inspection.kind === "permitted") inspection.permit.release();
  else if (inspection.kind === "pending" || inspection.kind === "running") inspection.stop.abort();
}

/** Age by the API server's clock or, if longer, since this process first saw it (ms): clocks may jump. */
export function gateAgeMs({ api, clock }: AgeDeps, pod: GatedPodRef, { firstSeenMs }: PodState): number {
  const nowMs = serverNowMs(clock, api);
  const byCreation = pod.createdMs === undefined ? 0 : nowMs - pod.createdMs;
  return Math.max(0, byCreation, clock.monotonicMs() - firstSeenMs);
}

/** The gate age (ms), capped so that a newly seen pod has at least MIN_LEFT_MS left. */
export function countedAgeMs(deps: AgeDeps, pod: GatedPodRef, state: PodState): number {
  const { maxGateAgeMs } = deps.settingsOf(pod.namespace);
  const seenForMs = deps.clock.monotonicMs() - state.firstSeenMs;
  return Math.min(gateAgeMs(deps, pod, state), Math.max(0, maxGateAgeMs - MIN_LEFT_MS) + seenForMs);
}

/** Time until a pod's deadline (ms); zero or less afterwards. */
export function leftMs(deps: AgeDeps, pod: GatedPodRef, state: PodState): number {
  return deps.settingsOf(pod.namespace).maxGateAgeMs - countedAgeMs(deps, pod, state);
}
