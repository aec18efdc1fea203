// The playground's scheduler: binds every pod that no gate holds to a fitting node, or sets the condition that explains why there is none.
import { keyOf, type KubeObject, Resource } from "../k8s/types.ts";
import type { Logger } from "../log.ts";
import type { Cluster } from "./cluster.ts";
import { recordEvent } from "./cluster_events.ts";
import { isEqualJson, isObject, type JsonObject, listAt, objectAt, textAt, timestamp, without } from "./json_value.ts";
import { chooseNode } from "./node_fit.ts";
import type { StoreChange } from "./store.ts";

/** Runs until the signal aborts. Works in the same turn as the write that calls for it, so nothing has to wait. */
export function openScheduler(cluster: Cluster, options: { readonly log: Logger }): Disposable {
  const podCounts = new Map<string, number>();
  const scheduleAll = (): void => {
    for (const pod of cluster.store.list(Resource.pods)) schedulePod(cluster, pod, { ...options, podCounts });
  };
  for (const pod of cluster.store.list(Resource.pods)) count(podCounts, pod, 1);
  const unsubscribe = cluster.store.subscribe((change) => {
    if (change.type.plural === Resource.nodes.plural) scheduleAll();
    if (change.type.plural === Resource.pods.plural) followPod(cluster, change, { ...options, podCounts });
  });
  scheduleAll();
  return { [Symbol.dispose]: unsubscribe };
}

interface ScheduleOptions {
  readonly log: Logger;
  /** Pods bound to each node. */
  readonly podCounts: Map<string, number>;
}

function followPod(cluster: Cluster, change: StoreChange, options: ScheduleOptions): void {
  if (change.previous !== undefined) count(options.podCounts, change.previous, -1);
  if (change.kind === "DELETED") return;
  count(options.podCounts, change.object, 1);
  const current = cluster.store.get(Resource.pods, keyOf(change.object));
  if (current !== undefined) schedulePod(cluster, current, options);
}

function count(counts: Map<string, number>, pod: KubeObject, by: number): void {
  const node = textAt(pod, "spec", "nodeName") ?? "";
  if (node !== "") counts.set(node, (counts.get(node) ?? 0) + by);
}

function schedulePod(cluster: Cluster, pod: KubeObject, options: ScheduleOptions): void {
  const bound = (textAt(pod, "spec", "nodeName") ?? "") !== "";
  if (bound || pod.metadata.deletionTimestamp !== undefined) return;
  if (listAt(pod, "spec", "schedulingGates").length > 0) return;
  if (textAt(pod, "spec", "schedulerName") !== "default-scheduler") return;
  const verdict = chooseNode(pod, cluster.store.list(Resource.nodes), options);
  const nowMs = cluster.clock.nowMs();
  switch (verdict.kind) {
    case "bind": {
      const status = withCondition(pod, { type: "PodScheduled", status: "True" }, nowMs);
      const { nodeName } = verdict;
      const spec = { ...objectAt(pod, "spec"), nodeName };
      cluster.store.put(Resource.pods, { ...pod, spec, status });
      const message = `Successfully assigned ${keyOf(pod)} to ${nodeName}`;
      recordEvent(cluster, pod, { type: "Normal", reason: "Scheduled", message, component: "default-scheduler" });
      options.log.debug("playground bound a pod", { pod: keyOf(pod), node: nodeName });
      return;
    }
    case "unschedulable": {
      const { message } = verdict;
      const condition = { type: "PodScheduled", status: "False", reason: "Unschedulable", message };
      const status = withCondition(pod, condition, nowMs);
      if (isEqualJson(status, pod.status)) return;
      cluster.store.put(Resource.pods, { ...pod, status });
      recordEvent(cluster, pod, {
        type: "Warning",
        reason: "FailedScheduling",
        message,
        component: "default-scheduler",
      });
      return;
    }
  }
}

/** The pod's status with one condition set; unchanged, transition time included, when it says so already. */
export function withCondition(
  pod: KubeObject,
  condition: JsonObject & { readonly type: string },
  nowMs: number,
): JsonObject {
  const conditions = listAt(pod, "status", "conditions").filter(isObject);
  const previous = conditions.find((each) => each.type === condition.type);
  const timeless = previous === undefined ? undefined : without(previous, "lastTransitionTime", "lastProbeTime");
  if (timeless !== undefined && isEqualJson(timeless, condition)) return objectAt(pod, "status");
  const stamped = { ...condition, lastProbeTime: null, lastTransitionTime: timestamp(nowMs) };
  const others = conditions.filter((each) => each.type !== condition.type);
  return { ...objectAt(pod, "status"), conditions: [...others, stamped] };
}
