// Audit mode: reports what Archway would do and changes no pod. Idle while nothing is audited.
import { LRUCache } from "lru-cache";
import { type Clock, orAborted } from "../../lib/clock.ts";
import { BACKGROUND_RETRY_MS, inspectInBackground } from "../../lib/placement/images/background.ts";
import { podImagesWithBundles } from "../../lib/placement/cluster/pod_images_with_bundles.ts";
import type { AuditedNamespaces } from "../../lib/placement/cluster/audited_namespaces.ts";
import { type ReadApi, serverNowMs } from "../../lib/k8s/api.ts";
import type { EventRecorder } from "../../lib/k8s/event_recorder.ts";
import { RETENTION } from "../../lib/k8s/retention.ts";
import { Reflector } from "../../lib/k8s/reflector.ts";
import { Shares } from "../../lib/k8s/shares.ts";
import { keyOf, Resource, splitKey } from "../../lib/k8s/types.ts";
import type { Logger } from "../../lib/log.ts";
import type { PlacementMetrics } from "../../lib/placement/metrics.ts";
import { evidenceOf, notInspected } from "../../lib/placement/decide/judge_images.ts";
import { decisionRecordOf } from "../../lib/placement/decide/pod/record.ts";
import { planInspection } from "../../lib/placement/decide/plan_inspection.ts";
import { podObject, pullIdentityOf } from "../../lib/placement/decide/pod/pod_refs.ts";
import { bytesOfView, isLarge, parsePod, type PodView, unlessLarge } from "../../lib/placement/decide/pod/pod_view.ts";
import { auditDecision, auditEvents } from "../../lib/placement/decide/events/audit.ts";
import { decisionReason } from "../../lib/placement/decide/history/reason.ts";
import { DONE, openController, type PlacementControllerDeps, requeueAfter, type Runnable } from "../controller.ts";
import { listAll } from "../../lib/k8s/lists.ts";
import { PodLabel } from "../../lib/names.ts";

export interface AuditDeps extends PlacementControllerDeps {
  readonly api: ReadApi;
  readonly events: EventRecorder;
  readonly metrics: PlacementMetrics;
  /** The namespaces under audit; `ALL_NAMESPACES` among them stands for all. */
  readonly audited: Pick<AuditedNamespaces, "names" | "onAdded">;
}

const PARALLEL = 4;
/** How many audited pods are remembered, so that none is reported twice. */
const MAX_REPORTED_PODS = 4_096;
/** Attempts for a pod with slow images; each continues where the previous one ended. */
const MAX_ATTEMPTS = 5;
/** The keys `namespace NAME` and `pod NAMESPACE/NAME`. */
const NAMESPACE_KEY = "namespace ";
const POD_KEY = "pod ";

export function openAudit(deps: AuditDeps): Runnable {
  const first = Promise.withResolvers<void>();
  const due = new DuePods((key) => controller.enqueue(`${POD_KEY}${key}`), deps.log);
  const enqueue = (key: string, pod: PodView): void => {
    if (deps.settingsOf(pod.namespace).audit) due.add(key, pod);
  };
  const pending = openPending(deps, enqueue);
  const controller = openController({
    ...deps,
    name: "audit",
    watches: [{ run: (signal) => runAfter(first.promise, pending, signal) }],
    parallel: PARALLEL,
    queue: { flowOf },
    reconcile: async (key, signal) => {
      const name = key.slice(key.indexOf(" ") + 1);
      if (key.startsWith(NAMESPACE_KEY)) {
        for await (const [podKey, pod] of youngPods(deps, name, signal)) enqueue(podKey, pod);
        return DONE;
      }
      const entry = due.get(name);
      if (entry === undefined) return DONE;
      entry.attempts += 1;
      const isLast = entry.attempts === MAX_ATTEMPTS;
      if (await audit(deps, entry.pod, { isLast, signal }) === "unfinished") return requeueAfter(BACKGROUND_RETRY_MS);
      due.finish(name, entry);
      return DONE;
    },
  });
  const startOn = (namespace: string): void => {
    first.resolve();
    controller.enqueue(`${NAMESPACE_KEY}${namespace}`);
  };
  deps.audited.onAdded(startOn);
  return {
    run: async (signal) => {
      for (const namespace of deps.audited.names()) startOn(namespace);
      await controller.run(signal);
    },
  };
}

/** Namespaces take turns, so that a slow registry of one does not delay the others. */
function flowOf(key: string): string {
  const [kind, name = ""] = key.split(" ");
  return kind === "pod" ? splitKey(name).namespace ?? "" : name;
}

interface DuePod {
  readonly pod: PodView;
  readonly bytes: number;
  attempts: number;
}

/** Pods to report, each once. They are kept, because a pod that starts before its turn leaves the watch. */
class DuePods {
  readonly #seen = new LRUCache<string, true>({ max: MAX_REPORTED_PODS });
  readonly #pods = new Map<string, DuePod>();
  readonly #shares: Shares<DuePod>;
  readonly #enqueue: (key: string) => void;

  constructor(enqueue: (key: string) => void, log: Logger) {
    this.#enqueue = enqueue;
    this.#shares = new Shares({ ...RETENTION.auditedPods, weightOf: ({ bytes }) => bytes }, log);
  }

  add(key: string, pod: PodView): void {
    if (this.#seen.has(pod.uid)) return;
    const entry = { pod, bytes: bytesOfView(pod), attempts: 0 };
    const evictions = this.#shares.evictionsFor(key, entry);
    if (evictions === undefined) return;
    for (const other of evictions) this.#leaveOut(other);
    this.#seen.set(pod.uid, true);
    this.#pods.set(key, entry);
    this.#shares.note(key, entry);
    this.#enqueue(key);
  }

  get(key: string): DuePod | undefined {
    return this.#pods.get(key);
  }

  /** Drops the pod, unless a new pod of the same name was added in between. */
  finish(key: string, entry: DuePod): void {
    if (this.#pods.get(key) !== entry) return;
    this.#pods.delete(key);
    this.#shares.forget(key);
  }

  #leaveOut(key: string): void {
    const entry = this.#pods.get(key);
    if (entry === undefined) return;
    this.#seen.delete(entry.pod.uid);
    this.finish(key, entry);
  }
}

/** Watches pending pods of audited namespaces, and keeps none. {@link DuePods} prevents repeated reports. */
function openPending(
  { settingsOf, ...deps }: AuditDeps,
  enqueue: (key: string, pod: PodView) => void,
): Reflector<PodView> {
  return new Reflector<PodView>({
    ...deps,
    resource: Resource.pods,
    fieldSelector: "status.phase=Pending",
    // Skips large pods: many of them would fill the memory.
    parse: (object) => settingsOf(object.metadata.namespace ?? "").audit ? unlessLarge(parsePod(object)) : undefined,
    onChange: ({ kind, key, value }) => kind === "apply" ? enqueue(key, value) : undefined,
    retain: RETENTION.unkept,
    name: "audited pods",
  });
}

async function runAfter(ready: Promise<void>, watch: Runnable, signal: AbortSignal): Promise<void> {
  await orAborted(ready, signal).catch(() => undefined);
  if (!signal.aborted) await watch.run(signal);
}

/** `isLast`: images not read in time count as failed, so that the pod is reported anyway. */
async function audit(
  deps: AuditDeps,
  pod: PodView,
  { isLast, signal }: { readonly isLast: boolean; readonly signal: AbortSignal },
): Promise<"reported" | "unfinished"> {
  const settings = deps.settingsOf(pod.namespace);
  const plan = planInspection(pod, deps.configsOf(pod.namespace), settings);
  const wanted = plan.kind === "inspect" ? plan.images : [];
  const request = { identity: pullIdentityOf(pod), images: wanted, priority: "admission" } as const;
  const inspecting = podImagesWithBundles(deps.images, pod, settings);
  const inspected = await inspectInBackground(inspecting, request, { signal, clock: deps.clock });
  if (inspected === undefined && !isLast) return "unfinished";
  const images = inspected ?? wanted.map((use) => notInspected(use, "The images of the pod were not read in time."));
  const evidence = evidenceOf({ pod, settings, plan }, images);
  const decision = auditDecision({ pod, settings, evidence, liveArchitectures: deps.liveArchitectures() });
  for (const event of auditEvents(decision)) deps.events.record({ object: podObject(pod), slot: 1, ...event });
  deps.metrics.decision("audited");
  const { namespace, name } = pod;
  const fields = { namespace, pod: name, reason: decisionReason(decision), record: decisionRecordOf(decision) };
  deps.log.info("pod audited", fields);
  return "reported";
}

export const ALL_NAMESPACES = "";

/** A pod younger than this (ms) may have started before a new leader or label, when nothing watched it. */
const CATCH_UP_MS = 60_000;

/** A namespace's recent pods in any phase that lack the webhook's label. Skips large ones. */
async function* youngPods(
  { api, clock }: { readonly api: ReadApi; readonly clock: Clock },
  namespace: string,
  signal: AbortSignal,
): AsyncGenerator<readonly [key: string, pod: PodView], void> {
  const within = namespace === ALL_NAMESPACES ? {} : { namespace };
  for await (const object of listAll(api, Resource.pods, { ...within, signal })) {
    const pod = parsePod(object);
    const createdMs = pod?.createdMs ?? 0;
    const ageMs = serverNowMs(clock, api) - createdMs;
    if (pod === undefined || ageMs > CATCH_UP_MS || pod.labels?.[PodLabel.gate] !== undefined || isLarge(pod)) continue;
    yield [keyOf(object), pod];
  }
}
