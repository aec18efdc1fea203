// The state of a gated pod between reconciles. In memory only, lost at a restart.
import { type ReadApi, serverNowMs } from "../../lib/k8s/api.ts";
import type { Permit } from "../../lib/oci/limits/fair_limiter.ts";
import { isHeldBack } from "../../lib/oci/errors.ts";
import type { ImageJudgement, PlacementDecision } from "../../lib/placement/decide/decision_types.ts";
import { failureText } from "../../lib/placement/decide/failures.ts";
import type { PodPlacementDeps } from "./deps.ts";
import type { GatedPodRef } from "./gated_pod.ts";

type InspectionStage =
  | { readonly kind: "none" }
  /** Waits for its turn, because too many images are being inspected. */
  | { readonly kind: "pending"; readonly stop: AbortController }
  | { readonly kind: "permitted"; readonly permit: Permit }
  | { readonly kind: "running"; readonly stop: AbortController }
  | { readonly kind: "judged"; readonly judgement: ImageJudgement };

/** A pod that a leader first sees near or after its deadline still gets this long (ms). */
const MIN_LEFT_MS = 5_000;

type AgeDeps = Pick<PodPlacementDeps, "clock" | "settingsOf"> & { readonly api: Pick<ReadApi, "serverClockOffsetMs"> };

/** What was tried with the pod's present images. */
interface Retries {
  readonly failedAttempts: number;
  readonly permanentFailures: number;
  /** The last failure that describes a registry's problem. */
  readonly lastFailure: string | undefined;
  /** When the next attempt is due (monotonic ms). */
  readonly notBeforeMs: number;
}

const NO_RETRIES: Retries = { failedAttempts: 0, permanentFailures: 0, lastFailure: undefined, notBeforeMs: 0 };

export class PodState {
  readonly #deps: AgeDeps;
  readonly #pod: Pick<GatedPodRef, "namespace" | "createdMs">;
  /** When this process first observed the pod gated (monotonic ms). */
  readonly #firstSeenMs: number;
  #imagesHash: string;
  #stage: InspectionStage = { kind: "none" };
  /** When the current round began, which ends with a decision (monotonic ms); undefined between rounds. */
  #roundBeganMs: number | undefined;
  #retries = NO_RETRIES;
  #failedWrites = 0;
  #unansweredWrites = 0;
  #lastRefusal: string | undefined;
  #isReleased = false;
  #isSeen = false;

  constructor(deps: AgeDeps, { namespace, createdMs }: GatedPodRef, imagesHash: string) {
    this.#deps = deps;
    this.#pod = { namespace, createdMs };
    this.#firstSeenMs = deps.clock.monotonicMs();
    this.#imagesHash = imagesHash;
  }

  get stage(): InspectionStage {
    return this.#stage;
  }

  get retries(): Retries {
    return this.#retries;
  }

  /** Our patch removed the gate, but the watch may not show it yet. */
  get isReleased(): boolean {
    return this.#isReleased;
  }

  /** Starts over when the images have changed. */
  useImages(imagesHash: string): void {
    if (this.#imagesHash === imagesHash) return;
    this.stopInspection();
    this.#imagesHash = imagesHash;
    this.#retries = NO_RETRIES;
  }

  /** Whether the pod is seen for the first time. */
  markSeen(): "first" | "again" {
    const seen = this.#isSeen ? "again" : "first";
    this.#isSeen = true;
    return seen;
  }

  setStage(stage: InspectionStage): void {
    this.beginRound();
    this.#stage = stage;
  }

  setJudgement(judgement: ImageJudgement): void {
    this.stopInspection();
    this.setStage({ kind: "judged", judgement });
  }

  stopInspection(): void {
    const stage = this.#stage;
    this.#stage = { kind: "none" };
    if (stage.kind === "permitted") stage.permit.release();
    else if (stage.kind === "pending" || stage.kind === "running") stage.stop.abort();
  }

  beginRound(): void {
    this.#roundBeganMs ??= this.#deps.clock.monotonicMs();
  }

  /** How long the round took (ms). */
  endRound(): number {
    const nowMs = this.#deps.clock.monotonicMs();
    const beganMs = this.#roundBeganMs ?? nowMs;
    this.#roundBeganMs = undefined;
    return nowMs - beganMs;
  }

  /** The decision is written: the pod is released, or its inspection will be retried. */
  noteWritten(decision: PlacementDecision): void {
    this.stopInspection();
    if (decision.kind !== "retry") {
      this.#isReleased = true;
      return;
    }
    const { failedAttempts, permanentFailures, lastFailure } = this.#retries;
    const { failure } = decision.failed;
    this.#retries = {
      failedAttempts: failedAttempts + 1,
      permanentFailures: permanentFailures + (failure.kind === "permanent" ? 1 : 0),
      lastFailure: isHeldBack(failure) ? lastFailure : failureText(decision.failed),
      notBeforeMs: this.#deps.clock.monotonicMs() + decision.afterMs,
    };
  }

  /** How many writes of the release have failed. */
  countFailedWrite(): number {
    return ++this.#failedWrites;
  }

  /** How many writes the API server did not answer, though it answers reads. */
  countUnansweredWrite(): number {
    return ++this.#unansweredWrites;
  }

  /** Whether this refusal of the whole release differs from the last one. */
  noteRefusal(why: string): boolean {
    const isNew = this.#lastRefusal !== why;
    this.#lastRefusal = why;
    return isNew;
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

  /** The state of a pod with these images. */
  getOrCreate(pod: GatedPodRef, imagesHash: string): PodState {
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
