// Events that the playground's scheduler and kubelet post on pods: one object a reason and message, counted up.
import { type KubeObject, Resource } from "../k8s/types.ts";
import { type Cluster, parseKubeObject } from "./cluster.ts";
import { numberAt, timestamp } from "./json_value.ts";

/** The message of the event. */
export interface PodEvent {
  /** Severity. */
  readonly type: "Normal" | "Warning";
  /** PascalCase word. */
  readonly reason: string;
  /** For people. */
  readonly message: string;
  /** The component: `default-scheduler`, `kubelet`. */
  readonly component: string;
}

/** Stores the event, or counts it up when the same was posted on this pod before. */
export function recordEvent(cluster: Cluster, pod: KubeObject, event: PodEvent): void {
  const namespace = pod.metadata.namespace ?? "";
  const name = `${pod.metadata.name}.${fingerprint(`${pod.metadata.uid ?? ""} ${event.reason} ${event.message}`)}`;
  const now = timestamp(cluster.clock.nowMs());
  const previous = cluster.store.get(Resource.events, `${namespace}/${name}`);
  const { component, ...rest } = event;
  cluster.store.put(
    Resource.events,
    parseKubeObject({
      metadata: previous?.metadata ?? { name, namespace, uid: crypto.randomUUID(), creationTimestamp: now },
      involvedObject: { kind: "Pod", apiVersion: "v1", namespace, name: pod.metadata.name, uid: pod.metadata.uid },
      ...rest,
      source: { component },
      firstTimestamp: previous?.firstTimestamp ?? now,
      lastTimestamp: now,
      count: (numberAt(previous, "count") ?? 0) + 1,
    }),
  );
}

/** FNV-1a, 32 bits, in hex: short and stable, nothing more. */
function fingerprint(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, "0");
}
