// What is so in the cluster, read once.
import type { ReadApi } from "../../k8s/api.ts";
import { listAll } from "../../k8s/lists.ts";
import { ObjectCache } from "../../k8s/object_cache.ts";
import { Resource } from "../../k8s/types.ts";
import { silentLogger } from "../../log.ts";
import { judge, surveyOf, type TaintSurvey } from "../decide/survey.ts";
import type { TaintDaemonSet, TaintPod, TaintRule } from "../decide/types.ts";
import { parseTaintDaemonSet, parseTaintNode, parseTaintPod } from "../decide/views.ts";
import { ALIVE, KEPT_DAEMON_SETS } from "./watches.ts";

/** Reads it page by page. Throws ApiError when something cannot be listed. */
export async function readSurvey(api: ReadApi, rule: TaintRule, signal: AbortSignal): Promise<TaintSurvey> {
  const nodes = new Map<string, ReturnType<typeof judge>>();
  for await (const node of listAll(api, Resource.nodes, { signal })) {
    nodes.set(node.metadata.name, judge(parseTaintNode(node), rule));
  }
  const daemonSets = new ObjectCache<TaintDaemonSet>({
    parse: (object) => parseTaintDaemonSet(object, rule),
    onChange: () => {},
    keep: KEPT_DAEMON_SETS,
    log: silentLogger,
  });
  for await (const object of listAll(api, Resource.daemonSets, { signal })) daemonSets.apply(object);
  const pods = new Map<string, TaintPod>();
  for await (const object of listAll(api, Resource.pods, { fieldSelector: ALIVE, signal })) {
    const pod = parseTaintPod(object, rule);
    if (pod !== undefined) pods.set(pod.key, pod);
  }
  return surveyOf(rule, nodes, pods.values(), daemonSets.values());
}
