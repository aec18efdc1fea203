// What scheduler and kubelet report of a pod: its status, and one event for each reason, with the latest message and a
// count.
import { isDeepStrictEqual } from "node:util";
import { isObject, type JsonObject } from "../lib/json.ts";
import { type KubeObject, Resource } from "../lib/k8s/types.ts";
import { listAtPath, numberAtPath, objectAtPath } from "./json_path.ts";
import { type Cluster, requireKubeObject } from "./cluster.ts";
import { renderTime } from "../lib/vocabulary/time.ts";

interface PodCondition extends JsonObject {
  readonly type: string;
  readonly status: "True" | "False";
}

/** The status of a new pod: Pending, and held when it has scheduling gates. */
export function newPodStatus(pod: KubeObject, nowMs: number): JsonObject {
  const status = { phase: "Pending", qosClass: "BestEffort" };
  if (listAtPath(pod, "spec", "schedulingGates").length === 0) return status;
  const message = "Scheduling is blocked due to non-empty scheduling gates";
  return withCondition(status, { type: "PodScheduled", status: "False", reason: "SchedulingGated", message }, nowMs);
}

/** The status with one condition set; unchanged, transition time included, when it says so already. */
export function withCondition(status: unknown, condition: PodCondition, nowMs: number): JsonObject {
  const conditions = listAtPath(status, "conditions").filter(isObject);
  const others = conditions.filter(({ type }) => type !== condition.type);
  const [said] = conditions.filter(({ type }) => type === condition.type);
  const times = { lastProbeTime: null, lastTransitionTime: said?.["lastTransitionTime"] };
  if (isDeepStrictEqual(said, { ...condition, ...times })) return objectAtPath(status);
  return {
    ...objectAtPath(status),
    conditions: [...others, { ...condition, ...times, lastTransitionTime: renderTime(nowMs) }],
  };
}

interface PodEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  readonly component: string;
}

/** Stores the event, or counts it up when one for this reason was posted on this pod before. */
export function recordEvent({ store, clock }: Cluster, pod: KubeObject, event: PodEvent): void {
  const { namespace = "", name: podName, uid = "" } = pod.metadata;
  const { component, ...said } = event;
  const name = `${podName}.${uid}.${said.reason.toLowerCase()}`;
  const now = renderTime(clock.nowMs());
  const previous = store.get(Resource.events, `${namespace}/${name}`);
  store.put(
    Resource.events,
    requireKubeObject({
      metadata: previous?.metadata ?? { name, namespace, uid: crypto.randomUUID(), creationTimestamp: now },
      involvedObject: { kind: "Pod", apiVersion: "v1", namespace, name: podName, uid },
      ...said,
      source: { component },
      firstTimestamp: previous?.["firstTimestamp"] ?? now,
      lastTimestamp: now,
      count: (numberAtPath(previous, "count") ?? 0) + 1,
    }),
  );
}
