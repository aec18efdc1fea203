// What is so in the cluster, read once.
import type { ReadApi } from "../k8s/api.ts";
import { listAll } from "../k8s/lists.ts";
import { Resource } from "../k8s/types.ts";
import { judge, surveyOf, type TaintSurvey } from "../taints/survey.ts";
import type { TaintDaemonSet, TaintPod, TaintRule } from "../taints/types.ts";
import { parseTaintNode, parseTaintPod } from "../taints/views.ts";
import { ALIVE, openDaemonSetShares } from "./watches.ts";

/** Reads it page by page. Throws ApiError when something cannot be listed. */
export async function readSurvey(api: ReadApi, rule: TaintRule, signal: AbortSignal): Promise<TaintSurvey> {
  const nodes = new Map<string, ReturnType<typeof judge>>();
  for await (const node of listAll(api, Resource.nodes, { signal })) {
    nodes.set(node.metadata.name, judge(parseTaintNode(node), rule));
  }
  const daemonSets = new Map<string, TaintDaemonSet>();
  const shares = openDaemonSetShares(rule);
  for await (const object of listAll(api, Resource.daemonSets, { signal })) {
    const daemonSet = shares.parse(object);
    if (daemonSet === undefined || daemonSets.has(daemonSet.key)) continue;
    daemonSets.set(daemonSet.key, daemonSet);
    shares.note({ kind: "apply", key: daemonSet.key, value: daemonSet });
  }
  const pods = new Map<string, TaintPod>();
  for await (const object of listAll(api, Resource.pods, { fieldSelector: ALIVE, signal })) {
    const pod = parseTaintPod(object, rule);
    if (pod !== undefined) pods.set(pod.key, pod);
  }
  return surveyOf({ rule, nodes, pods: pods.values(), daemonSets: daemonSets.values() });
}
