// What a sweep finds of pods that were admitted without the webhook: counted and reported in one event, left as they are.
import { listAll } from "../../lib/k8s/lists.ts";
import { eventObjectOf } from "../../lib/k8s/event_input.ts";
import { type KubeObject, Resource } from "../../lib/k8s/types.ts";
import { CLUSTER_CONFIG_NAME, PodLabel } from "../../lib/names.ts";
import { parsePod } from "../../lib/placement/decide/pod_view.ts";
import {
  inSelectedNamespaces,
  isUnadmitted,
  type UnadmittedPod,
  unadmittedReport,
} from "../../lib/placement/decide/report/unadmitted.ts";
import type { PodPlacementDeps } from "./deps.ts";

export type UnadmittedDeps = Pick<PodPlacementDeps, "api" | "events" | "log" | "configsOf" | "settingsOf">;

export class Unadmitted {
  readonly #deps: UnadmittedDeps;
  #found: ReadonlySet<string> = new Set();

  constructor(deps: UnadmittedDeps) {
    this.#deps = deps;
  }

  /** Pods that the last whole sweep found. */
  get count(): number {
    return this.#found.size;
  }

  /** A pending pod, if it is one of them as far as it shows by itself. */
  candidateOf(object: KubeObject): UnadmittedPod | undefined {
    const { configsOf, settingsOf } = this.#deps;
    const pod = object.metadata.labels?.[PodLabel.gate] === undefined ? parsePod(object) : undefined;
    if (pod === undefined) return undefined;
    const { namespace, name, uid } = pod;
    return isUnadmitted(pod, configsOf(namespace), settingsOf(namespace)) ? { namespace, name, uid } : undefined;
  }

  /** A sweep has seen all pods: reports those found, unless the last sweep found the same. */
  async conclude(candidates: readonly UnadmittedPod[], signal: AbortSignal): Promise<void> {
    const pods = await readSelected(this.#deps, candidates, signal);
    const uids = new Set(pods.map(({ uid }) => uid));
    const isNews = !uids.isSubsetOf(this.#found);
    this.#found = uids;
    if (isNews) report(this.#deps, pods);
  }
}

/** Those of the pods whose namespace the webhook is called for. */
async function readSelected(
  { api, configsOf }: UnadmittedDeps,
  pods: readonly UnadmittedPod[],
  signal: AbortSignal,
): Promise<readonly UnadmittedPod[]> {
  const configs = configsOf("");
  // Most sweeps find none, and most configs select every namespace: then nothing is read.
  if (pods.length === 0 || configs.cluster?.namespaceSelector.kind === "everything") return pods;
  const labels = new Map<string, KubeObject["metadata"]["labels"]>();
  for await (const { metadata } of listAll(api, Resource.namespaces, { resourceVersion: "0", signal })) {
    labels.set(metadata.name, metadata.labels);
  }
  return inSelectedNamespaces(pods, configs, (namespace) => labels.get(namespace));
}

function report({ events, log, settingsOf }: UnadmittedDeps, pods: readonly UnadmittedPod[]): void {
  const { type, reason, message } = unadmittedReport(pods);
  const namespace = settingsOf("").operatorNamespace;
  const object = eventObjectOf(Resource.clusterConfigs, { name: CLUSTER_CONFIG_NAME, namespace });
  events.record({ object, type, reason, message });
  log.warn("pods admitted without the webhook", { count: pods.length, reason: message });
}
