// The state of a gated pod between reconciles. In memory only, lost at a restart.
import { type ReadApi, serverNowMs } from "../../lib/k8s/api.ts";
import type { Permit } from "../../lib/oci/limits/fair_limiter.ts";
import type { ImageJudgement } from "../../lib/placement/decide/decision_types.ts";
import type { PodPlacementDeps } from "./deps.ts";
import type { GatedPodRef } from "./gated_pod.ts";

type InspectionState =
  | { readonly kind: "none" }
  /** Waits for its turn, because too many images are being inspected. */
  | { readonly kind: "pending"; readonly stop: AbortController }
  | { readonly kind: "permitted"; readonly permit: Permit }
  | { readonly kind: "running"; readonly stop: AbortController }
  | { readonly kind: "judged"; readonly judgement: ImageJudgement };

/** A pod that a leader first sees near or after its deadline still gets this long (ms). */
const MIN_LEFT_MS = 5_000;

type AgeDeps = Pick<PodPlacementDeps, "clock" | "settingsOf"> & { readonly api: Pick<ReadApi, "serverClockOffsetMs"> };

/** What was tried with the pod's present images. Times are monotonic ms. */
class RetryState {
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

export class PodState {
  readonly #deps: AgeDeps;
  readonly #pod: Pick<GatedPodRef, "namespace" | "createdMs">;
  /** When this process first observed the pod gated (monotonic ms). */
  readonly #firstSeenMs: number;
  #imagesHash: string;
  inspection: InspectionState = { kind: "none" };
  retries = new RetryState();
  /** The last reported reason why the API server refused every release step. */
  reportedRefusal: string | undefined;
  /** The event that its gate was added is recorded. */
  reported = false;
  /** Our patch removed the gate, but the watch does not show it yet. */
  released = false;

  constructor(deps: AgeDeps, { namespace, createdMs }: GatedPodRef, imagesHash: string) {
    this.#deps = deps;
    this.#pod = { namespace, createdMs };
    this.#firstSeenMs = deps.clock.monotonicMs();
    this.#imagesHash = imagesHash;
  }

  /** Starts over when the images have changed. */
  useImages(imagesHash: string): void {
    if (this.#imagesHash === imagesHash) return;
    this.stopInspection();
    this.#imagesHash = imagesHash;
    this.retries = new RetryState();
  }

  stopInspection(): void {
    const { inspection } = this;
    this.inspection = { kind: "none" };
    if (inspection.kind === "permitted") inspection.permit.release();
    else if (inspection.kind === "pending" || inspection.kind === "running") inspection.stop.abort();
  }

  /** Age by the API server's clock or, if longer, since this process first saw it (ms): clocks may jump. */
  gateAgeMs(): number {
    const { api, clock } = this.#deps;
    const nowMs = serverNowMs(clock, api);
    return Math.max(0, nowMs - (this.#pod.createdMs ?? nowMs), this.#seenForMs());
  }

  /** The gate age (ms), capped so that a newly seen pod has at least MIN_LEFT_MS left. */
  countedAgeMs(): number {
    const { maxGateAgeMs } = this.#deps.settingsOf(this.#pod.namespace);
    return Math.min(this.gateAgeMs(), Math.max(0, maxGateAgeMs - MIN_LEFT_MS) + this.#seenForMs());
  }

  /** Time until the pod's deadline (ms); zero or less afterwards. */
  leftMs(): number {
    return this.#deps.settingsOf(this.#pod.namespace).maxGateAgeMs - this.countedAgeMs();
  }

  #seenForMs(): number {
    return this.#deps.clock.monotonicMs() - this.#firstSeenMs;
  }
}

export class PodStates {
  readonly #deps: AgeDeps;
  readonly #states = new Map<string, PodState>();

  constructor(deps: AgeDeps) {
    this.#deps = deps;
  }

  /** The state of a pod with these images, created if missing. */
  open(pod: GatedPodRef, imagesHash: string): PodState {
    const state = this.#states.get(pod.uid) ?? new PodState(this.#deps, pod, imagesHash);
    state.useImages(imagesHash);
    this.#states.set(pod.uid, state);
    return state;
  }

  close(uid: string): void {
    this.#states.get(uid)?.stopInspection();
    this.#states.delete(uid);
  }

  stopInspections(): void {
    for (const state of this.#states.values()) state.stopInspection();
  }
}
