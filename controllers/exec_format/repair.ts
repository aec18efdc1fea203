// Evicts pods that run a program of another architecture, by the Eviction API, if their owners recreate them.
import type { V1Eviction } from "@kubernetes/client-node";
import { LRUCache } from "lru-cache";
import { decideRepair, type RepairFacts } from "../../lib/exec_format/decide/decide_repair.ts";
import { ApiError, isNotFound } from "../../lib/k8s/api_error.ts";
import { Resource, splitKey, type Wire } from "../../lib/k8s/types.ts";
import { matchesSelector } from "../../lib/vocabulary/label_selector.ts";
import { readOptional } from "../../lib/k8s/api.ts";
import type { ReconcileResult } from "../../lib/k8s/work_queue.ts";
import { errorText } from "../../lib/log.ts";
import { atMost } from "../../lib/oci/cache_limits.ts";
import { EventReason } from "../../lib/names.ts";
import { judgeImages } from "../../lib/placement/decide/judge_images.ts";
import { planInspection } from "../../lib/placement/decide/plan_inspection.ts";
import { podObject, pullIdentityOf } from "../../lib/placement/decide/pod/pod_refs.ts";
import { parsePod, type PodView } from "../../lib/placement/decide/pod/pod_view.ts";
import { inspectInBackground } from "../../lib/placement/images/background.ts";
import { podImagesWithBundles } from "../../lib/placement/cluster/pod_images_with_bundles.ts";
import { DONE, requeueAfter } from "../controller.ts";
import type { ExecFormatDeps } from "./deps.ts";

interface PendingRepair {
  readonly uid: string;
  readonly architecture: string;
  readonly sinceMs: number;
  attempts: number;
}

const PAUSE_MS = 10_000;
/** Pause after a refused eviction (ms): a disruption budget must not delay other pods. */
const REFUSED_PAUSE_MS = 1_000;
/** Retry interval and time limit for a pod whose budget forbids eviction (ms). */
const BUDGET_MS = 30_000;
const GIVE_UP_MS = 3_600_000;
/** Time until placement sees a new record of an image (ms). */
const RECORD_MS = 5_000;
/** Evictions per owner and hour: after three without success, a fourth is useless. */
const MAX_PER_OWNER = 3;
const OWNER_WINDOW_MS = 3_600_000;
const MAX_TRACKED = 10_000;

export class Repairs {
  readonly #deps: ExecFormatDeps;
  readonly #enqueue: (key: string) => void;
  readonly #wanted = new LRUCache<string, PendingRepair>(atMost(MAX_TRACKED));
  readonly #owners = new LRUCache<string, readonly number[]>(atMost(MAX_TRACKED));
  #notBeforeMs = 0;

  constructor(deps: ExecFormatDeps, enqueue: (key: string) => void) {
    this.#deps = deps;
    this.#enqueue = enqueue;
  }

  consider(pod: PodView, architecture: string): void {
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
    if (decision.kind === "evict") return await this.#evict(pod, wanted, signal);
    if (decision.reason === "NowhereElse" && wanted.attempts === 1) return requeueAfter(RECORD_MS);
    log.debug("pod not repaired", { pod: key, reason: decision.reason });
    return DONE;
  }

  async #evict(pod: PodView, wanted: PendingRepair, signal: AbortSignal): Promise<ReconcileResult> {
    const { api, clock, log, metrics: { archway_exec_format_repairs_total: repairs }, events } = this.#deps;
    const { namespace, name, uid } = pod;
    const nowMs = clock.monotonicMs();
    // Another pod may have been evicted since the decision.
    if (nowMs < this.#notBeforeMs) return requeueAfter(this.#notBeforeMs - nowMs);
    if (this.#evictionsOf(pod, nowMs).length >= MAX_PER_OWNER) {
      repairs.inc({ outcome: "refused" });
      log.warn("pod not repaired: three pods of its owner were evicted within an hour", { namespace, pod: name });
      return DONE;
    }
    this.#notBeforeMs = nowMs + PAUSE_MS;
    const eviction = {
      apiVersion: "policy/v1",
      kind: "Eviction",
      metadata: { namespace, name },
      deleteOptions: { preconditions: { uid } },
    } satisfies Wire<V1Eviction>;
    try {
      await api.create(Resource.pods, eviction, { namespace, name, subresource: "eviction", signal });
    } catch (error) {
      this.#notBeforeMs = nowMs + REFUSED_PAUSE_MS;
      if (isNotFound(error)) return DONE;
      if (signal.aborted || !(error instanceof ApiError)) throw error;
      const isBudget = error.status === 429 && nowMs - wanted.sinceMs < GIVE_UP_MS;
      repairs.inc({ outcome: isBudget ? "deferred" : "refused" });
      log[isBudget ? "debug" : "warn"]("pod not evicted", { namespace, pod: name, error: errorText(error) });
      return isBudget ? requeueAfter(BUDGET_MS) : DONE;
    }
    this.#owners.set(ownerOf(pod), [...this.#evictionsOf(pod, nowMs), nowMs]);
    repairs.inc({ outcome: "evicted" });
    log.info("pod evicted: the next one is placed by its images", { namespace, pod: name });
    const message = `Evicted, because it runs a program of another architecture than ${wanted.architecture}: ` +
      "its owner makes another one, which Archway places by its images.";
    events.record({ object: podObject(pod), type: "Normal", reason: EventReason.execFormatRepaired, message, slot: 9 });
    return DONE;
  }

  #evictionsOf(pod: PodView, nowMs: number): readonly number[] {
    return (this.#owners.get(ownerOf(pod)) ?? []).filter((atMs) => nowMs - atMs < OWNER_WINDOW_MS);
  }
}

function ownerOf({ namespace, owners }: PodView): string {
  const owner = owners.find(({ controller }) => controller);
  return `${namespace}/${owner?.kind ?? ""}/${owner?.name ?? ""}`;
}

/** The architectures that Archway would require of the pod's replacement, planned and judged as a new pod. */
async function wouldRequire(
  { imagesToPlace, clock, settingsOf, configsOf }: ExecFormatDeps,
  pod: PodView,
  signal: AbortSignal,
): Promise<RepairFacts["wouldRequire"]> {
  const settings = settingsOf(pod.namespace);
  // The scheduler chose the node. The decision record stays, because it shows Archway's requirement.
  const anew: PodView = { ...pod, nodeName: "", gates: undefined };
  const plan = planInspection(anew, configsOf(pod.namespace), settings);
  if (plan.kind === "decided") return "unconstrained";
  const request = { identity: pullIdentityOf(pod), images: plan.images, priority: "prewarm" } as const;
  const images = podImagesWithBundles(imagesToPlace, anew, settings);
  const inspected = await inspectInBackground(images, request, { signal, clock });
  if (inspected === undefined) return "unknown";
  const judgement = judgeImages(anew, settings, plan.images, inspected);
  // An empty list means that no node runs all of its images: a new pod would wait forever.
  return judgement.kind === "failed" ? "unknown" : judgement.architectures;
}

async function isPlaced(
  { api, isGating, configsOf, settingsOf }: ExecFormatDeps,
  namespace: string,
  signal: AbortSignal,
): Promise<boolean> {
  const { cluster } = configsOf(namespace);
  if (cluster === undefined || cluster.isDeleting || !isGating() || settingsOf(namespace).audit) return false;
  const { metadata } = await api.get(Resource.namespaces, { name: namespace }, signal);
  return matchesSelector(cluster.namespaceSelector, metadata.labels);
}
