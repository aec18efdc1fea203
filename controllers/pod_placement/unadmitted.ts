// What a sweep finds of pods that were admitted without the webhook: counted and reported in one event, left as they are.
import { listAll } from "../../lib/k8s/lists.ts";
import { eventObjectOf } from "../../lib/k8s/event_input.ts";
import { type KubeObject, Resource } from "../../lib/k8s/types.ts";
import { CLUSTER_CONFIG_NAME, PodLabel } from "../../lib/names.ts";
import { parsePod } from "../../lib/placement/pod_view.ts";
import {
  inSelectedNamespaces,
  isUnadmitted,
  type UnadmittedPod,
  unadmittedReport,
} from "../../lib/placement/report/unadmitted.ts";
import type { PodPlacementDeps } from "./deps.ts";

/** Clients, and what is known of configs and settings. */
export type UnadmittedDeps = Pick<PodPlacementDeps, "api" | "events" | "log" | "configsOf" | "settingsOf">;

/** The pods of one sweep. */
export interface UnadmittedSweep {
  /** Takes a pending pod into account. */
  observe(object: KubeObject): void;
  /** All pods were observed: reports those found, unless the last sweep found the same. */
  close(signal: AbortSignal): Promise<void>;
}

/** What the sweeps found. */
export interface Unadmitted {
  /** Begins a sweep. */
  begin(): UnadmittedSweep;
  /** Pods that the last whole sweep found. */
  readonly count: number;
}

/** Makes the counter of the sweeps. */
export function openUnadmitted(deps: UnadmittedDeps): Unadmitted {
  const { configsOf, settingsOf } = deps;
  let found: ReadonlySet<string> = new Set();
  return {
    begin: () => {
      const candidates: UnadmittedPod[] = [];
      return {
        observe: (object) => {
          if (object.metadata.labels?.[PodLabel.gate] !== undefined) return;
          const pod = parsePod(object);
          if (pod === undefined) return;
          const scope = { configs: configsOf(pod.namespace), settings: settingsOf(pod.namespace) };
          const { namespace, name, uid } = pod;
          if (isUnadmitted(pod, scope)) candidates.push({ namespace, name, uid });
        },
        close: async (signal) => {
          const pods = await readSelected(deps, candidates, signal);
          const uids = new Set(pods.map(({ uid }) => uid));
          const isNews = !uids.isSubsetOf(found);
          found = uids;
          if (isNews) report(deps, pods);
        },
      };
    },
    get count() {
      return found.size;
    },
  };
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
  return inSelectedNamespaces(pods, { configs, labelsOf: (namespace) => labels.get(namespace) });
}

function report({ events, log, settingsOf }: UnadmittedDeps, pods: readonly UnadmittedPod[]): void {
  const { type, reason, message } = unadmittedReport(pods);
  const namespace = settingsOf("").operatorNamespace;
  const object = eventObjectOf(Resource.clusterConfigs, { name: CLUSTER_CONFIG_NAME, namespace });
  events.record({ object, type, reason, message });
  log.warn("pods admitted without the webhook", { count: pods.length, reason: message });
}
