// The playground's scheduler: binds every pod without a gate to a fitting node, or says in a condition why none fits.
import { isDeepStrictEqual } from "node:util";
import { keyOf, type KubeObject, Resource } from "../lib/k8s/types.ts";
import type { Logger } from "../lib/log.ts";
import type { Cluster } from "./cluster.ts";
import { listAtPath, objectAtPath, textAtPath } from "./json_path.ts";
import { chooseNode } from "./node_fit.ts";
import { recordEvent, withCondition } from "./pod_status.ts";

const component = "default-scheduler";

/**
 * Runs until disposed. It acts in the same turn of the event loop as the write that causes it, so nothing has to wait.
 */
export function openScheduler(cluster: Cluster, { log }: { readonly log: Logger }): Disposable {
  const { store } = cluster;
  const scheduleAll = (): void => store.list(Resource.pods).forEach((pod) => schedulePod(cluster, pod, log));
  const unsubscribe = store.subscribe(({ type, object }) => {
    if (type.plural === Resource.nodes.plural) scheduleAll();
    if (type.plural !== Resource.pods.plural) return;
    const pod = store.get(Resource.pods, keyOf(object));
    if (pod !== undefined) schedulePod(cluster, pod, log);
  });
  scheduleAll();
  return { [Symbol.dispose]: unsubscribe };
}

function schedulePod(cluster: Cluster, pod: KubeObject, log: Logger): void {
  const { store, clock } = cluster;
  const isWaiting = !isBound(pod) && pod.metadata.deletionTimestamp === undefined &&
    listAtPath(pod, "spec", "schedulingGates").length === 0 && textAtPath(pod, "spec", "schedulerName") === component;
  if (!isWaiting) return;
  const result = chooseNode(pod, store.list(Resource.nodes), podCounts(cluster));
  if (result.kind === "bind") {
    const { nodeName } = result;
    const spec = { ...objectAtPath(pod, "spec"), nodeName };
    const status = withCondition(pod.status, { type: "PodScheduled", status: "True" }, clock.nowMs());
    store.put(Resource.pods, { ...pod, spec, status });
    const message = `Successfully assigned ${keyOf(pod)} to ${nodeName}`;
    recordEvent(cluster, pod, { type: "Normal", reason: "Scheduled", message, component });
    log.debug("playground bound a pod", { pod: keyOf(pod), node: nodeName });
    return;
  }
  const { message } = result;
  const condition = { type: "PodScheduled", status: "False", reason: "Unschedulable", message } as const;
  const status = withCondition(pod.status, condition, clock.nowMs());
  if (isDeepStrictEqual(status, pod.status)) return;
  store.put(Resource.pods, { ...pod, status });
  recordEvent(cluster, pod, { type: "Warning", reason: "FailedScheduling", message, component });
}

function isBound(pod: KubeObject): boolean {
  return (textAtPath(pod, "spec", "nodeName") ?? "") !== "";
}

function podCounts({ store }: Cluster): ReadonlyMap<string, number> {
  const bound = store.list(Resource.pods).filter(isBound);
  const byNode = Map.groupBy(bound, (pod) => textAtPath(pod, "spec", "nodeName") ?? "");
  return new Map([...byNode].map(([node, pods]) => [node, pods.length]));
}
