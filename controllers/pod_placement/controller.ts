// The pod controller: watches what is gated, decides, releases. Opened by main on every replica, run by the leader alone.
// Walk: watch or sweep → queue → gather → decide → apply → report.
import { jitter } from "../../lib/clock.ts";
import { listAll } from "../../lib/k8s/lists.ts";
import { readOptional } from "../../lib/k8s/read_optional.ts";
import { openReflector, type Reflector } from "../../lib/k8s/reflector.ts";
import { keyOf, type KubeObject, Resource, splitKey } from "../../lib/k8s/types.ts";
import { type ReconcileOutcome, WorkQueue } from "../../lib/k8s/work_queue.ts";
import { errorText } from "../../lib/log.ts";
import { GateLabel, PodLabel } from "../../lib/names.ts";
import { isGated } from "../../lib/placement/patch/constraints.ts";
import { decide } from "../../lib/placement/decide.ts";
import { parsePod } from "../../lib/placement/pod_view.ts";
import type { PodView } from "../../lib/placement/types.ts";
import { applyDecision, reportGated } from "./apply.ts";
import { type RetryState, RetryStates } from "./retry_state.ts";
import { gateAgeMs, gatherFacts } from "./gather.ts";
import type { PodPlacementDeps } from "./deps.ts";
import { openUnadmitted, type Unadmitted } from "./unadmitted.ts";

/** The running controller. */
export interface PodPlacement {
  /** Works until the signal aborts; never rejects. For the leader only, one run at a time. */
  run(signal: AbortSignal): Promise<void>;
  /** A config changed: gated pods (of one namespace, or all) are decided again. */
  configChanged(namespace?: string): void;
  hasSynced(): boolean;
  /** Gated pods known now. */
  gatedPods(): number;
  /** Pending pods that were admitted without the webhook, as of the last sweep. */
  unadmittedPods(): number;
  /** Those held longest, at most a dozen. */
  longestGated(): readonly HeldPod[];
  queueDepth(): number;
  /** Pods are being decided right now: what is less urgent gives way. */
  isBusy(): boolean;
}

/** A gated pod for people to see. `sinceMs` is epoch ms. */
export interface HeldPod {
  readonly namespace: string;
  readonly pod: string;
  readonly sinceMs: number;
}

/** Between two sweeps for gated pods whose label someone removed (ms), before jitter. */
const SWEEP_EVERY_MS = 5 * 60_000;
/** Reads again at most so often in one turn when others write the same pod; then the queue's backoff spaces it. */
const MAX_REREADS = 3;

const MAX_SHOWN = 12;

/** Makes the controller. Nothing is asked of the API server before `run`. */
export function openPodPlacement(parts: PodPlacementDeps): PodPlacement {
  return new PodPlacementController(parts);
}

class PodPlacementController implements PodPlacement {
  readonly #parts: PodPlacementDeps;
  readonly #files = new RetryStates();
  readonly #unadmitted: Unadmitted;
  /** Gated pods without the gate's label, found by a sweep: the watch does not show them. */
  readonly #strays = new Map<string, PodView>();
  readonly #queue: WorkQueue;
  readonly #gated: Reflector<PodView>;

  constructor(parts: PodPlacementDeps) {
    const { api, clock, log, workers } = parts;
    this.#parts = parts;
    this.#unadmitted = openUnadmitted(parts);
    this.#queue = new WorkQueue({
      name: "pods",
      parallel: workers,
      clock,
      log,
      backoff: { baseMs: 50, capMs: 5_000 },
      reconcile: (key, signal) => this.#reconcile(key, signal),
    });
    this.#gated = openReflector<PodView>({
      api,
      resource: Resource.pods,
      labelSelector: `${PodLabel.gate}=${GateLabel.gated}`,
      parse: parsePod,
      clock,
      log,
      name: "gated pods",
      onChange: (change) => {
        if (change.kind === "apply") {
          this.#strays.delete(change.key);
          this.#queue.add(change.key);
        } else this.#files.close(change.value.uid);
      },
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#gated.run(signal), this.#queue.run(signal), this.#sweepForEver(signal)]);
  }

  configChanged(namespace?: string): void {
    for (const pod of this.#gated.values()) {
      if (namespace === undefined || pod.namespace === namespace) this.#queue.add(`${pod.namespace}/${pod.name}`);
    }
  }

  hasSynced(): boolean {
    return this.#gated.hasSynced();
  }

  gatedPods(): number {
    return this.#gated.size + this.#strays.size;
  }

  unadmittedPods(): number {
    return this.#unadmitted.count;
  }

  longestGated(): readonly HeldPod[] {
    const nowMs = this.#parts.clock.nowMs();
    return [...this.#gated.values(), ...this.#strays.values()]
      .map(({ namespace, name, creationTimestampMs: sinceMs = nowMs }) => ({ namespace, pod: name, sinceMs }))
      .sort((left, right) => left.sinceMs - right.sinceMs)
      .slice(0, MAX_SHOWN);
  }

  queueDepth(): number {
    return this.#queue.depth;
  }

  isBusy(): boolean {
    return this.#queue.isBusy;
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<ReconcileOutcome> {
    const { clock, metrics } = this.#parts;
    const startedMs = clock.monotonicMs();
    const pod = this.#gated.get(key) ?? this.#strays.get(key);
    if (pod === undefined || !isGated(pod)) {
      this.#forget(key, pod);
      metrics.podProcessed({ gated: false, ms: clock.monotonicMs() - startedMs });
      return { kind: "done" };
    }
    const { file, isNew } = this.#files.open(pod, startedMs);
    if (file.released) return { kind: "done" };
    if (file.notBeforeMs > startedMs) return { kind: "again", afterMs: file.notBeforeMs - startedMs };
    if (isNew) reportGated(this.#parts, pod);
    try {
      return await this.#settle(key, pod, { file, signal });
    } finally {
      metrics.podProcessed({ gated: true, ms: clock.monotonicMs() - startedMs });
    }
  }

  /** Decides and applies, on a fresh read whenever the pod turns out to be another than the one decided about. */
  async #settle(
    key: string,
    seen: PodView,
    { file, signal }: { readonly file: RetryState; readonly signal: AbortSignal },
  ): Promise<ReconcileOutcome> {
    let pod = seen;
    for (let reads = 0; reads <= MAX_REREADS; reads++) {
      const facts = await gatherFacts(this.#parts, pod, { file, signal });
      const decision = decide(facts);
      const ageMs = gateAgeMs(this.#parts, pod, file);
      const applied = await applyDecision(this.#parts, pod, { decision, gateAgeMs: ageMs, signal });
      if (applied.kind === "written" && decision.kind === "retry") {
        file.failedAttempts++;
        file.notBeforeMs = this.#parts.clock.monotonicMs() + decision.afterMs;
        return { kind: "again", afterMs: decision.afterMs };
      }
      if (applied.kind === "written") file.released = true;
      const fresh = applied.kind === "stale" ? await this.#readPod(key, signal) : undefined;
      if (fresh === undefined || fresh.uid !== seen.uid || !isGated(fresh)) {
        // The watch closes the file of a pod it shows; a stray's end nobody else would see.
        if (this.#strays.has(key)) this.#forget(key, seen);
        return { kind: "done" };
      }
      pod = fresh;
    }
    throw new Error(`Cannot release pod "${key}": others keep changing it. It is tried again shortly.`);
  }

  async #readPod(key: string, signal: AbortSignal): Promise<PodView | undefined> {
    const object = await readOptional(this.#parts.api, { type: Resource.pods, ...splitKey(key), signal });
    return object === undefined ? undefined : parsePod(object);
  }

  #forget(key: string, pod: PodView | undefined): void {
    this.#strays.delete(key);
    if (pod !== undefined) this.#files.close(pod.uid);
  }

  async #sweepForEver(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#parts;
    await this.#gated.synced(signal).catch(() => undefined);
    while (!signal.aborted) {
      await this.#sweep(signal).catch((error: unknown) => {
        if (!signal.aborted) log.warn("sweep for gated pods failed", { reason: errorText(error) });
      });
      await clock.sleep(jitter(SWEEP_EVERY_MS), signal);
    }
  }

  /**
   * Pending pods that hold our gate but not its label, and those that the webhook never saw. Served from the API
   * server's cache: cheap, a little old.
   */
  async #sweep(signal: AbortSignal): Promise<void> {
    const options = { fieldSelector: "status.phase=Pending", resourceVersion: "0", signal };
    const census = this.#unadmitted.begin();
    for await (const object of listAll(this.#parts.api, Resource.pods, options)) {
      census.look(object);
      const pod = strayOf(object);
      if (pod === undefined) continue;
      const key = keyOf(object);
      if (this.#gated.get(key) !== undefined) continue;
      this.#strays.set(key, pod);
      this.#queue.add(key);
    }
    await census.close(signal);
  }
}

function strayOf(object: KubeObject): PodView | undefined {
  if (object.metadata.labels?.[PodLabel.gate] === GateLabel.gated) return undefined;
  const pod = parsePod(object);
  return pod !== undefined && isGated(pod) ? pod : undefined;
}
