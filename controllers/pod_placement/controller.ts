// The pod controller: watches what is gated, decides, releases. Opened by main on every replica, run by the leader alone.
// Walk: watch or sweep → queue → gather → decide → apply → report.
import { jitter } from "../../lib/clock.ts";
import { isNotFound } from "../../lib/k8s/errors.ts";
import { listAll } from "../../lib/k8s/lists.ts";
import { openReflector, type Reflector } from "../../lib/k8s/reflector.ts";
import { keyOf, type KubeObject, Resource, splitKey } from "../../lib/k8s/types.ts";
import { type ReconcileOutcome, WorkQueue } from "../../lib/k8s/work_queue.ts";
import { errorText } from "../../lib/log.ts";
import { GateLabel, PodLabel } from "../../lib/names.ts";
import { isGated } from "../../lib/placement/constraints.ts";
import { decide } from "../../lib/placement/decide.ts";
import { parsePod } from "../../lib/placement/pod_view.ts";
import type { PodView } from "../../lib/placement/types.ts";
import { applyDecision, reportGated } from "./apply.ts";
import { type CaseFile, CaseFiles } from "./case_file.ts";
import { gatherFacts } from "./gather.ts";
import type { PodPlacementParts } from "./parts.ts";
import { openUnadmitted } from "./unadmitted.ts";

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
export function openPodPlacement(parts: PodPlacementParts): PodPlacement {
  const { api, clock, log } = parts;
  const files = new CaseFiles();
  const unadmitted = openUnadmitted(parts);
  /** Gated pods without the gate's label, found by a sweep: the watch does not show them. */
  const strays = new Map<string, PodView>();
  const queue = new WorkQueue({
    name: "pods",
    parallel: parts.workers,
    clock,
    log,
    backoff: { baseMs: 50, capMs: 5_000 },
    reconcile: (key, signal) => reconcile(key, signal),
  });
  const gated: Reflector<PodView> = openReflector<PodView>({
    api,
    resource: Resource.pods,
    labelSelector: `${PodLabel.gate}=${GateLabel.gated}`,
    parse: parsePod,
    clock,
    log,
    name: "gated pods",
    onChange: (change) => {
      if (change.kind === "apply") {
        strays.delete(change.key);
        queue.add(change.key);
      } else files.close(change.value.uid);
    },
  });

  async function reconcile(key: string, signal: AbortSignal): Promise<ReconcileOutcome> {
    const startedMs = clock.monotonicMs();
    const pod = gated.get(key) ?? strays.get(key);
    if (pod === undefined || !isGated(pod)) {
      forget(key, pod);
      parts.metrics.podProcessed({ gated: false, ms: clock.monotonicMs() - startedMs });
      return { kind: "done" };
    }
    const { file, isNew } = files.open(pod, startedMs);
    if (file.released) return { kind: "done" };
    if (file.notBeforeMs > startedMs) return { kind: "again", afterMs: file.notBeforeMs - startedMs };
    if (isNew) reportGated(parts, pod);
    try {
      return await settle(key, pod, { file, signal });
    } finally {
      parts.metrics.podProcessed({ gated: true, ms: clock.monotonicMs() - startedMs });
    }
  }

  /** Decides and applies, on a fresh read whenever the pod turns out to be another than the one decided about. */
  async function settle(
    key: string,
    seen: PodView,
    { file, signal }: { readonly file: CaseFile; readonly signal: AbortSignal },
  ): Promise<ReconcileOutcome> {
    let pod = seen;
    for (let reads = 0; reads <= MAX_REREADS; reads++) {
      const facts = await gatherFacts(parts, pod, { file, signal });
      const decision = decide(facts);
      const applied = await applyDecision(parts, pod, { decision, gateAgeMs: facts.gateAgeMs, signal });
      if (applied.kind === "written" && decision.kind === "retry") {
        file.failedAttempts++;
        file.notBeforeMs = clock.monotonicMs() + decision.afterMs;
        return { kind: "again", afterMs: decision.afterMs };
      }
      if (applied.kind === "written") file.released = true;
      const fresh = applied.kind === "stale" ? await readPod(key, signal) : undefined;
      if (fresh === undefined || fresh.uid !== seen.uid || !isGated(fresh)) {
        // The watch closes the file of a pod it shows; a stray's end nobody else would see.
        if (strays.has(key)) forget(key, seen);
        return { kind: "done" };
      }
      pod = fresh;
    }
    throw new Error(`Cannot release pod "${key}": others keep changing it. It is tried again shortly.`);
  }

  async function readPod(key: string, signal: AbortSignal): Promise<PodView | undefined> {
    try {
      return parsePod(await api.get(Resource.pods, splitKey(key), signal));
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  function forget(key: string, pod: PodView | undefined): void {
    strays.delete(key);
    if (pod !== undefined) files.close(pod.uid);
  }

  /** Pending pods that hold our gate but not its label, and those that the webhook never saw. Served from the API server's cache: cheap, a little old. */
  async function sweep(signal: AbortSignal): Promise<void> {
    const options = { fieldSelector: "status.phase=Pending", resourceVersion: "0", signal };
    const census = unadmitted.begin();
    for await (const object of listAll(api, Resource.pods, options)) {
      census.look(object);
      const pod = strayOf(object);
      if (pod === undefined) continue;
      const key = keyOf(object);
      if (gated.get(key) !== undefined) continue;
      strays.set(key, pod);
      queue.add(key);
    }
    await census.close(signal);
  }

  async function sweepForEver(signal: AbortSignal): Promise<void> {
    await gated.synced(signal).catch(() => undefined);
    while (!signal.aborted) {
      await sweep(signal).catch((error: unknown) => {
        if (!signal.aborted) log.warn("sweep for gated pods failed", { reason: errorText(error) });
      });
      await clock.sleep(jitter(SWEEP_EVERY_MS), signal);
    }
  }

  return {
    run: async (signal) => {
      await Promise.all([gated.run(signal), queue.run(signal), sweepForEver(signal)]);
    },
    configChanged: (namespace) => {
      for (const pod of gated.values()) {
        if (namespace === undefined || pod.namespace === namespace) queue.add(`${pod.namespace}/${pod.name}`);
      }
    },
    hasSynced: () => gated.hasSynced(),
    gatedPods: () => gated.size + strays.size,
    unadmittedPods: () => unadmitted.count,
    longestGated: () =>
      [...gated.values(), ...strays.values()]
        .map(({ namespace, name, creationTimestampMs = clock.nowMs() }) => ({
          namespace,
          pod: name,
          sinceMs: creationTimestampMs,
        }))
        .sort((left, right) => left.sinceMs - right.sinceMs).slice(0, MAX_SHOWN),
    queueDepth: () => queue.depth,
    isBusy: () => queue.isBusy,
  };
}

function strayOf(object: KubeObject): PodView | undefined {
  if (object.metadata.labels?.[PodLabel.gate] === GateLabel.gated) return undefined;
  const pod = parsePod(object);
  return pod !== undefined && isGated(pod) ? pod : undefined;
}
