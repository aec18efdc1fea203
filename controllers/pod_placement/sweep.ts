// The safety sweep: finds gated pods whose label was removed, and pods admitted without the webhook.
import { jitter } from "../../lib/clock.ts";
import { listAll } from "../../lib/k8s/lists.ts";
import { keyOf, type KubeObject, Resource, splitKey } from "../../lib/k8s/types.ts";
import { readOptional } from "../../lib/k8s/api.ts";
import { errorText } from "../../lib/log.ts";
import { inSelectedNamespaces, isUnadmitted, unadmittedEvent } from "../../lib/placement/decide/events/unadmitted.ts";
import type { PodRef } from "../../lib/placement/decide/pod/pod_refs.ts";
import { parsePod, type PodView } from "../../lib/placement/decide/pod/pod_view.ts";
import type { PodPlacementDeps } from "./deps.ts";
import { parseGatedView } from "./gated_pod.ts";
import { eventObjectOf } from "../../lib/k8s/event_input.ts";
import { CLUSTER_CONFIG_NAME, PodLabel } from "../../lib/names.ts";

/** Interval of sweeps (ms), before jitter. */
const SWEEP_EVERY_MS = 5 * 60_000;

interface SweepOptions {
  readonly unadmitted: Pick<UnadmittedPods, "candidateOf" | "conclude">;
  readonly isWatched: (key: string, pod: PodView) => boolean;
  readonly onUnlabelled: (key: string, pod: PodView) => void;
}

/** Sweeps at jittered intervals until the signal aborts. Never rejects. */
export async function sweepRepeatedly(
  deps: Pick<PodPlacementDeps, "api" | "clock" | "log">,
  options: SweepOptions,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await sweep(deps, options, signal).catch((error: unknown) => {
      if (!signal.aborted) deps.log.warn("sweep for gated pods failed", { reason: errorText(error) });
    });
    await deps.clock.sleep(jitter(SWEEP_EVERY_MS), signal);
  }
}

/** Lists without a resourceVersion: with "0" the API server may ignore the page size and send all pods at once. */
async function sweep(
  { api }: Pick<PodPlacementDeps, "api">,
  { unadmitted, isWatched, onUnlabelled }: SweepOptions,
  signal: AbortSignal,
): Promise<void> {
  const candidates: PodRef[] = [];
  for await (const object of listAll(api, Resource.pods, { fieldSelector: "status.phase=Pending", signal })) {
    const candidate = unadmitted.candidateOf(object);
    if (candidate !== undefined) candidates.push(candidate);
    const listed = parseGatedView(object);
    const key = keyOf(object);
    if (listed === undefined || isWatched(key, listed)) continue;
    // Pages are older than the watch: a pod that the watch lacks may have been released since.
    const pod = parseGatedView(await readOptional(api, { type: Resource.pods, ...splitKey(key), signal }));
    if (pod !== undefined && !isWatched(key, pod)) onUnlabelled(key, pod);
  }
  await unadmitted.conclude(candidates, signal);
}

type UnadmittedDeps = Pick<PodPlacementDeps, "api" | "events" | "log" | "configsOf" | "settingsOf">;

export class UnadmittedPods {
  readonly #deps: UnadmittedDeps;
  #found: ReadonlySet<string> = new Set();

  constructor(deps: UnadmittedDeps) {
    this.#deps = deps;
  }

  get count(): number {
    return this.#found.size;
  }

  /** A possibly unadmitted pending pod; its namespace's labels are checked later. */
  candidateOf(object: KubeObject): PodRef | undefined {
    const { configsOf, settingsOf } = this.#deps;
    const pod = object.metadata.labels?.[PodLabel.gate] === undefined ? parsePod(object) : undefined;
    if (pod === undefined) return undefined;
    const { namespace, name, uid } = pod;
    return isUnadmitted(pod, configsOf(namespace), settingsOf(namespace)) ? { namespace, name, uid } : undefined;
  }

  /** Call after a sweep has seen all pods. Reports its candidates, unless the last sweep found all of them. */
  async conclude(candidates: readonly PodRef[], signal: AbortSignal): Promise<void> {
    const pods = await readSelected(this.#deps, candidates, signal);
    const uids = new Set(pods.map(({ uid }) => uid));
    const isNews = !uids.isSubsetOf(this.#found);
    this.#found = uids;
    if (isNews) report(this.#deps, pods);
  }
}

async function readSelected(
  { api, configsOf }: UnadmittedDeps,
  pods: readonly PodRef[],
  signal: AbortSignal,
): Promise<readonly PodRef[]> {
  const configs = configsOf("");
  // Most sweeps find none, and most configs select every namespace: skip the read.
  if (pods.length === 0 || configs.cluster?.namespaceSelector.kind === "everything") return pods;
  const labels = new Map<string, KubeObject["metadata"]["labels"]>();
  for await (const { metadata } of listAll(api, Resource.namespaces, { resourceVersion: "0", signal })) {
    labels.set(metadata.name, metadata.labels);
  }
  return inSelectedNamespaces(pods, configs, (namespace) => labels.get(namespace));
}

function report({ events, log, settingsOf }: UnadmittedDeps, pods: readonly PodRef[]): void {
  const { type, reason, message } = unadmittedEvent(pods);
  const namespace = settingsOf("").operatorNamespace;
  const object = eventObjectOf(Resource.clusterConfigs, { name: CLUSTER_CONFIG_NAME, namespace });
  events.record({ object, type, reason, message });
  log.warn("pods admitted without the webhook", { count: pods.length, reason: message });
}
