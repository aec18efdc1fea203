// Events that the playground's scheduler and kubelet post on pods: one object a reason, with the latest message, counted up.
import { type KubeObject, Resource } from "../lib/k8s/types.ts";
import { type Cluster, parseKubeObject } from "./cluster.ts";
import { numberAt, timestamp } from "./json_value.ts";

export interface PodEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  /** The component: `default-scheduler`, `kubelet`. */
  readonly component: string;
}

/** Stores the event, or counts it up when one for this reason was posted on this pod before. */
export function recordEvent({ store, clock }: Cluster, pod: KubeObject, event: PodEvent): void {
  const { namespace = "", name: podName, uid = "" } = pod.metadata;
  const { component, ...said } = event;
  const name = `${podName}.${uid}.${said.reason.toLowerCase()}`;
  const now = timestamp(clock.nowMs());
  const previous = store.get(Resource.events, `${namespace}/${name}`);
  store.put(
    Resource.events,
    parseKubeObject({
      metadata: previous?.metadata ?? { name, namespace, uid: crypto.randomUUID(), creationTimestamp: now },
      involvedObject: { kind: "Pod", apiVersion: "v1", namespace, name: podName, uid },
      ...said,
      source: { component },
      firstTimestamp: previous?.["firstTimestamp"] ?? now,
      lastTimestamp: now,
      count: (numberAt(previous, "count") ?? 0) + 1,
    }),
  );
}
