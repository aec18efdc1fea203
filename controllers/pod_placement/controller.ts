// The pod placement controller: watches gated pods, decides, releases. Runs on the leader.
//
//   watch, sweep, config change ─▶ queue ─▶ read ─▶ gather ─▶ decide ─▶ apply ─▶ report
//
// The inspection of a pod (`InspectionStage`). A worker only decides and writes: it never waits for a registry.
//
//           no permit is free         its turn               queue
//   none ────────────────────▶ pending ──────▶ permitted ───────────▶ running
//    ├──────────────────────────────────────────────────────────────────▲ │ answered
//    │      a permit is free                                              ▼
//    └────────────────────────────────────────────────────────────────▶ judged
//           all images are known
//
// Once the images are judged, and at the pod's deadline in any stage, a worker decides and writes. What follows:
//
//   the gate is removed   released, until the watch shows the pod without its gate
//   an inspection failed  none, until its retry is due
//   the write failed      judged, until the write is retried
//
// From its deadline on, a key is urgent: it goes first and may use reserved workers. Namespaces take turns.
import { backoffMs, jitter } from "../../lib/clock.ts";
import type { LeaderHealth } from "../../lib/k8s/lease_lock.ts";
import { Reflector } from "../../lib/k8s/reflector.ts";
import { Resource, splitKey } from "../../lib/k8s/types.ts";
import type { ReconcileResult } from "../../lib/k8s/work_queue.ts";
import { GateLabel, PodLabel } from "../../lib/names.ts";
import { decide } from "../../lib/placement/decide/decide.ts";
import type { ImageUse } from "../../lib/oci/inspection.ts";
import type { PlacementDecision } from "../../lib/placement/decide/decision_types.ts";
import type { PodView } from "../../lib/placement/decide/pod/pod_view.ts";
import { assertNever } from "../../lib/parsed.ts";
import type { GatedSince } from "../../lib/placement/decide/history/recent_decisions.ts";
import { DONE, openController, type QueuedController } from "../controller.ts";
import { applyDecision, type ApplyOutcome } from "./apply.ts";
import type { PodPlacementDeps } from "./deps.ts";
import { GATED_POD_RETENTION, type GatedPod, gatedPodOf, hashOfImages, parseGatedPod, PodReader } from "./gated_pod.ts";
import { gatherFacts } from "./gather.ts";
import { Inspections } from "./inspections.ts";
import { type PodState, PodStates } from "./pod_states.ts";
import { reportGated } from "./report.ts";
import { sweepRepeatedly, UnadmittedPods } from "./sweep.ts";
import { WriteHealth } from "./write_health.ts";

/** Additional workers for pods at their deadline. */
const RESERVED_FOR_DEADLINES = 16;

/** A leader whose watch of gated pods is refused for this long (ms) is impaired. */
const IMPAIRED_AFTER_MS = 10_000;

/** Wait before reading a pod that is not in memory, while other pods being read fill the memory (ms). */
const READ_BUSY_RETRY_MS = 250;

/** Backoff after a failed write. The pod's deadline ends the wait. */
const WRITE_BACKOFF = { baseMs: 50, capMs: 5_000 } as const;

/** Most pods that longestGated() names. */
const MAX_SHOWN = 12;

export class PodPlacement {
  readonly #deps: PodPlacementDeps;
  readonly #writes: WriteHealth;
  readonly #states: PodStates;
  readonly #inspections: Inspections;
  readonly #unadmitted: UnadmittedPods;
  readonly #reader = new PodReader();
  readonly #unlabelled = new Map<string, GatedPod>();
  readonly #controller: QueuedController;
  readonly #gated: Reflector<GatedPod>;

  constructor(deps: PodPlacementDeps) {
    this.#writes = new WriteHealth(deps.clock);
    this.#deps = { ...deps, api: this.#writes.watch(deps.api) };
    this.#states = new PodStates(this.#deps);
    this.#inspections = new Inspections(deps, (key) => this.#controller.enqueue(key));
    this.#unadmitted = new UnadmittedPods(deps);
    this.#gated = new Reflector<GatedPod>({
      ...deps,
      resource: Resource.pods,
      labelSelector: `${PodLabel.gate}=${GateLabel.gated}`,
      parse: parseGatedPod,
      retain: GATED_POD_RETENTION,
      name: "gated pods",
      onChange: (change) => {
        if (change.kind === "delete") return this.#states.close(change.value.uid);
        this.#forgetUnlabelled(change.key, change.value.uid);
        this.#enqueue(change.key, change.value);
      },
    });
    this.#controller = openController({
      ...deps,
      name: "pod-placement",
      watches: [this.#gated, { run: (signal) => this.#sweep(signal) }],
      reconcile: (key, signal) => this.#reconcile(key, signal),
      parallel: deps.workers,
      queue: {
        flowOf: (key) => splitKey(key).namespace ?? "",
        reservedForUrgent: RESERVED_FOR_DEADLINES,
        backoff: WRITE_BACKOFF,
      },
    });
  }

  /** Works until the signal aborts; never rejects. For the leader only, one run at a time. */
  async run(signal: AbortSignal): Promise<void> {
    this.#writes.begin();
    // The previous term's end stopped the inspections of these pods, and the next list only reports changed pods.
    this.configChanged();
    for (const [key, pod] of this.#unlabelled) this.#enqueue(key, pod);
    await this.#controller.run(signal);
    this.#states.stopInspections();
    await this.#inspections.ended();
    this.#writes.end();
  }

  /** Decides the watched pods of one namespace, or all, again after a config change. */
  configChanged(namespace?: string): void {
    for (const pod of this.#gated.values()) {
      if (namespace === undefined || pod.namespace === namespace) this.#enqueue(`${pod.namespace}/${pod.name}`, pod);
    }
  }

  hasSynced(): boolean {
    return this.#gated.hasSynced();
  }

  gatedPods(): number {
    return this.#gated.size + this.#unlabelled.size;
  }

  unadmittedPods(): number {
    return this.#unadmitted.count;
  }

  longestGated(): readonly GatedSince[] {
    const nowMs = this.#deps.clock.nowMs();
    return [...this.#gated.values(), ...this.#unlabelled.values()]
      .map(({ namespace, name, createdMs: sinceMs = nowMs }) => ({ namespace, pod: name, sinceMs }))
      .sort((left, right) => left.sinceMs - right.sinceMs)
      .slice(0, MAX_SHOWN);
  }

  queueDepth(): number {
    return this.#controller.depth;
  }

  leaderHealth(): LeaderHealth {
    const isForbidden = this.#gated.state() === "forbidden";
    if (isForbidden || this.#gated.refusedForMs() >= IMPAIRED_AFTER_MS) {
      return { kind: "impaired", impairment: "CannotWatchPods" };
    }
    return this.#gated.hasSynced() ? this.#writes.health() : { kind: "unproven" };
  }

  async #sweep(signal: AbortSignal): Promise<void> {
    await this.#gated.synced(signal).catch(() => undefined);
    await sweepRepeatedly(this.#deps, {
      unadmitted: this.#unadmitted,
      isWatched: (key, pod) => this.#gated.get(key)?.uid === pod.uid,
      onUnlabelled: (key, pod) => {
        const kept = GATED_POD_RETENTION.reduce(gatedPodOf(pod));
        this.#forgetUnlabelled(key, kept.uid);
        this.#unlabelled.set(key, kept);
        this.#enqueue(key, kept);
      },
    }, signal);
  }

  #enqueue(key: string, pod: GatedPod): void {
    this.#controller.enqueue(key, { urgentAfterMs: this.#states.getOrCreate(pod, pod.imagesHash).leftMs() });
  }

  #podOf(key: string): GatedPod | undefined {
    return this.#gated.get(key) ?? this.#unlabelled.get(key);
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult> {
    const pod = this.#podOf(key);
    if (pod === undefined) return DONE;
    const state = this.#states.getOrCreate(pod, pod.imagesHash);
    if (state.isReleased) return DONE;
    if (state.markSeen() === "first") reportGated(this.#deps, pod);
    if (pod.whole !== undefined) return await this.#decideAndApply(key, pod.whole, signal);
    const decideWhole = (whole: PodView): Promise<ReconcileResult> => this.#decideAndApply(key, whole, signal);
    const used = await this.#reader.use(pod, { api: this.#deps.api, signal }, decideWhole);
    if (used.kind === "used") return used.result;
    if (used.kind === "busy") return requeueUntilDeadline(state, jitter(READ_BUSY_RETRY_MS));
    this.#forgetUnlabelled(key);
    return DONE;
  }

  /** Decides and applies. Repeats with a fresh read if the pod has changed since the decision. */
  async #decideAndApply(key: string, seen: PodView, signal: AbortSignal): Promise<ReconcileResult> {
    let pod = seen;
    for (let rereads = 0;; rereads++) {
      // A deleted pod gets no state, because nothing would remove it.
      if (this.#podOf(key)?.uid !== pod.uid) return DONE;
      const state = this.#states.getOrCreate(pod, hashOfImages(pod));
      const inspect = (images: readonly ImageUse[]): void => this.#inspections.start(key, pod, { state, images });
      const gathered = gatherFacts(this.#deps, pod, { state, inspect });
      if (gathered.kind === "waiting") return requeueUntilDeadline(state, gathered.forMs);
      state.beginRound();
      const decision = decide(gathered.facts);
      const applied = await applyDecision(this.#deps, pod, { decision, state, rereads, signal });
      this.#deps.metrics.podProcessed(state.endRound());
      if (applied.kind !== "changed") return this.#settle(key, pod, { applied, decision, state });
      pod = applied.pod;
    }
  }

  #settle(
    key: string,
    pod: PodView,
    { applied, decision, state }: {
      readonly applied: Exclude<ApplyOutcome, { kind: "changed" }>;
      readonly decision: PlacementDecision;
      readonly state: PodState;
    },
  ): ReconcileResult {
    switch (applied.kind) {
      case "gone":
        this.#forgetUnlabelled(key);
        return DONE;
      case "written":
        state.noteWritten(decision);
        if (decision.kind === "retry") return requeueUntilDeadline(state, decision.afterMs);
        this.#forgetUnlabelled(key);
        return DONE;
      case "failed": {
        const failures = state.countFailedWrite();
        const pauseMs = backoffMs(failures, WRITE_BACKOFF);
        const { namespace, name } = pod;
        const fields = { namespace, pod: name, failures, retryMs: Math.round(pauseMs) };
        this.#deps.log.warn("cannot release a pod, will try again", { ...fields, reason: applied.why });
        return requeueUntilDeadline(state, pauseMs);
      }
      default:
        return assertNever(applied);
    }
  }

  /** Forgets a pod without the label, since no watch shows its end. Closes its state unless its uid is `uid`. */
  #forgetUnlabelled(key: string, uid?: string): void {
    const pod = this.#unlabelled.get(key);
    if (pod !== undefined && pod.uid !== uid) this.#states.close(pod.uid);
    this.#unlabelled.delete(key);
  }
}

function requeueUntilDeadline(state: PodState, afterMs: number): ReconcileResult {
  const urgentAfterMs = state.leftMs();
  return { kind: "requeue", afterMs: urgentAfterMs > 0 ? Math.min(afterMs, urgentAfterMs) : afterMs, urgentAfterMs };
}
