// Evicts pods that run a program of another architecture, where their owners make them again and Archway places the new ones
// elsewhere. Opt-in. Through the Eviction API, so that budgets hold; once a pod; slowly, and not for ever for one owner.
import type { V1Eviction } from "@kubernetes/client-node";
import { LRUCache } from "lru-cache";
import { ApiError, isNotFound } from "../../lib/k8s/errors.ts";
import { readOptional } from "../../lib/k8s/read_optional.ts";
import { Resource, splitKey } from "../../lib/k8s/types.ts";
import type { Wire } from "../../lib/k8s/wire.ts";
import type { ReconcileResult } from "../../lib/k8s/work_queue.ts";
import { decideRepair } from "../../lib/enoexec/decide_repair.ts";
import { errorText } from "../../lib/log.ts";
import { EventReason } from "../../lib/names.ts";
import { podRef } from "../../lib/placement/pod_refs.ts";
import { parsePod } from "../../lib/placement/pod_view.ts";
import type { PodView } from "../../lib/placement/types.ts";
import { DONE, requeueAfter } from "../controller.ts";
import type { ExecFormatDeps } from "./deps.ts";
import { isPlaced, wouldRequire } from "./would_place.ts";

/** A reported container. */
export interface Repairs {
  /** A pod runs a program of another architecture. Cheap; nothing happens unless repairs are switched on. */
  consider(failure: { readonly pod: PodView; readonly architecture: string }): void;
  /** Checks the pod `namespace/name`, and evicts it where that helps. */
  reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult>;
}

interface Wanted {
  readonly uid: string;
  readonly architecture: string;
  readonly sinceMs: number;
  attempts: number;
}

/** Between two evictions (ms). */
const PAUSE_MS = 10_000;
/** After an eviction that was refused: a budget that forbids evictions must not delay other pods (ms). */
const REFUSED_PAUSE_MS = 1_000;
/** Between two tries at one that a budget forbids, and how long it is tried (ms). */
const BUDGET_MS = 30_000;
const GIVE_UP_MS = 3_600_000;
/** A record of an image reaches the placement a moment after it was written (ms). */
const RECORD_MS = 5_000;
/** Evictions of one owner's pods within an hour: where three did not help, a fourth will not. */
const MAX_PER_OWNER = 3;
const MAX_KEPT = 10_000;

/** Makes it; `enqueue` brings `reconcile` about. */
export function openRepairs(deps: ExecFormatDeps, enqueue: (key: string) => void): Repairs {
  return new Repairer(deps, enqueue);
}

class Repairer implements Repairs {
  readonly #deps: ExecFormatDeps;
  readonly #enqueue: (key: string) => void;
  readonly #wanted = new LRUCache<string, Wanted>({ max: MAX_KEPT });
  /** Times of evictions by owner (monotonic ms). */
  readonly #owners = new LRUCache<string, readonly number[]>({ max: MAX_KEPT });
  #notBeforeMs = 0;

  constructor(deps: ExecFormatDeps, enqueue: (key: string) => void) {
    this.#deps = deps;
    this.#enqueue = enqueue;
  }

  consider({ pod, architecture }: { readonly pod: PodView; readonly architecture: string }): void {
    const key = `${pod.namespace}/${pod.name}`;
    if (!this.#deps.settings.repairs || this.#wanted.get(key)?.uid === pod.uid) return;
    this.#wanted.set(key, { uid: pod.uid, architecture, sinceMs: this.#deps.clock.monotonicMs(), attempts: 0 });
    this.#enqueue(key);
  }

  async reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult> {
    const { api, clock, log, liveArchitectures } = this.#deps;
    const wanted = this.#wanted.get(key);
    if (wanted === undefined) return DONE;
    const waitMs = this.#notBeforeMs - clock.monotonicMs();
    if (waitMs > 0) return requeueAfter(waitMs);
    const pod = parsePod(await readOptional(api, { type: Resource.pods, ...splitKey(key), signal }));
    if (pod === undefined || pod.uid !== wanted.uid) return DONE;
    const decision = decideRepair({
      pod,
      architecture: wanted.architecture,
      wouldRequire: await wouldRequire(this.#deps, pod, signal),
      isPlaced: await isPlaced(this.#deps, pod.namespace, signal),
      liveArchitectures: liveArchitectures(),
    });
    wanted.attempts++;
    if (decision.kind === "evict") return await this.#evict(pod, { wanted, signal });
    if (decision.reason === "NowhereElse" && wanted.attempts === 1) return requeueAfter(RECORD_MS);
    log.debug("pod not repaired", { pod: key, reason: decision.reason });
    return DONE;
  }

  async #evict(
    pod: PodView,
    { wanted, signal }: { readonly wanted: Wanted; readonly signal: AbortSignal },
  ): Promise<ReconcileResult> {
    const { api, clock, log, metrics, events } = this.#deps;
    const { namespace, name, uid } = pod;
    const nowMs = clock.monotonicMs();
    // Others are decided at the same time: the first one takes the next ten seconds.
    if (nowMs < this.#notBeforeMs) return requeueAfter(this.#notBeforeMs - nowMs);
    if (!this.#mayEvict(pod, nowMs)) {
      metrics.execFormatRepair("refused");
      log.warn("pod not repaired: its owner has had enough of that", { namespace, pod: name });
      return DONE;
    }
    this.#notBeforeMs = nowMs + PAUSE_MS;
    const eviction = {
      ...{ apiVersion: "policy/v1", kind: "Eviction", metadata: { namespace, name } },
      deleteOptions: { preconditions: { uid } },
    } satisfies Wire<V1Eviction>;
    try {
      await api.create(Resource.pods, eviction, { namespace, name, subresource: "eviction", signal });
    } catch (error) {
      this.#notBeforeMs = nowMs + REFUSED_PAUSE_MS;
      if (isNotFound(error)) return DONE;
      if (signal.aborted || !(error instanceof ApiError)) throw error;
      const isBudget = error.status === 429 && nowMs - wanted.sinceMs < GIVE_UP_MS;
      metrics.execFormatRepair(isBudget ? "deferred" : "refused");
      log[isBudget ? "debug" : "warn"]("pod not evicted", { namespace, pod: name, error: errorText(error) });
      return isBudget ? requeueAfter(BUDGET_MS) : DONE;
    }
    this.#note(pod, nowMs);
    metrics.execFormatRepair("evicted");
    log.info("pod evicted: the next one is placed by its images", { namespace, pod: name });
    const message = `Evicted, because it runs a program of another architecture than ${wanted.architecture}: ` +
      "its owner makes another one, which Archway places by its images.";
    events.record({ object: podRef(pod), type: "Normal", reason: EventReason.execFormatRepaired, message, slot: 9 });
    return DONE;
  }

  #mayEvict(pod: PodView, nowMs: number): boolean {
    return this.#evictionsOf(pod, nowMs).length < MAX_PER_OWNER;
  }

  #note(pod: PodView, nowMs: number): void {
    this.#owners.set(ownerOf(pod), [...this.#evictionsOf(pod, nowMs), nowMs]);
  }

  #evictionsOf(pod: PodView, nowMs: number): readonly number[] {
    return (this.#owners.get(ownerOf(pod)) ?? []).filter((atMs) => nowMs - atMs < GIVE_UP_MS);
  }
}

function ownerOf({ namespace, owners }: PodView): string {
  const owner = owners.find(({ controller }) => controller);
  return `${namespace}/${owner?.kind ?? ""}/${owner?.name ?? ""}`;
}
