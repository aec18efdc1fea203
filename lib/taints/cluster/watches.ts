// Watches what the taints depend on. Pods are trimmed, and kept only if they lack a toleration or may come to lack it.
import { isKnownArchitecture, KNOWN_ARCHITECTURES } from "../../arch.ts";
import type { ReadApi } from "../../k8s/api.ts";
import { RETENTION } from "../../k8s/retention.ts";
import { Reflector, type ReflectorDeps } from "../../k8s/reflector.ts";
import { ObjectCache, type Retention } from "../../k8s/object_cache.ts";
import { type KubeObject, Resource } from "../../k8s/types.ts";
import { silentLogger } from "../../log.ts";
import { isManaged, type JudgedNode, surveyOf, type TaintSurvey, withJudgement } from "../decide/survey.ts";
import { covers, needOf } from "../decide/tolerations.ts";
import type { TaintDaemonSet, TaintPod } from "../decide/types.ts";
import type { ArchTaint } from "../../vocabulary/taint.ts";
import { parseTaintDaemonSet, parseTaintNode, parseTaintPod } from "../decide/parse.ts";
import { listAll } from "../../k8s/lists.ts";

interface TaintWatchesDeps extends ReflectorDeps {
  readonly rule: ArchTaint;
  readonly onChange: () => void;
}

export interface TaintWatches {
  run(signal: AbortSignal): Promise<void>;
  /** The current survey; undefined until nodes, DaemonSets and pods were all listed once. */
  survey(): TaintSurvey | undefined;
}

export const UNFINISHED_PODS = "status.phase!=Succeeded,status.phase!=Failed";

/** Only the key is kept of a DaemonSet beyond the limits: it delays no taint, and is reported. */
export const DAEMON_SET_RETENTION: Retention<TaintDaemonSet> = {
  ...RETENTION.taintDaemonSets,
  weightOf: (daemonSet) => daemonSet.kind === "judged" ? daemonSet.weight : 0,
  reduce: ({ key }) => ({ kind: "oversized", key }),
};

export function openTaintWatches(deps: TaintWatchesDeps): TaintWatches {
  const { rule } = deps;
  const { nodes, daemonSets, pods } = reflect(deps);
  const all = [nodes, daemonSets, pods];
  return {
    run: async (signal) => {
      // Nodes come first: without them it is not known which pods lack a toleration, and all pods would be kept.
      const following = [nodes, daemonSets].map((watch) => watch.run(signal));
      await nodes.synced(signal).catch(() => undefined);
      await Promise.all([...following, ...signal.aborted ? [] : [pods.run(signal)]]);
    },
    survey: () => {
      if (!all.every((watch) => watch.hasSynced())) return undefined;
      const byName = new Map([...nodes.values()].map((judged) => [judged.node.name, judged]));
      return surveyOf(rule, { nodes: byName, pods: pods.values(), daemonSets: daemonSets.values() });
    },
  };
}

interface Reflected {
  readonly nodes: Reflector<JudgedNode>;
  readonly daemonSets: Reflector<TaintDaemonSet>;
  readonly pods: Reflector<TaintPod>;
}

function reflect({ api, clock, log, rule, onChange }: TaintWatchesDeps): Reflected {
  const follow = { api, clock, log, onChange };
  const nodes = new Reflector<JudgedNode>({
    ...follow,
    resource: Resource.nodes,
    parse: (object) => withJudgement(parseTaintNode(object), rule),
    retain: RETENTION.nodes,
    name: "tainted nodes",
  });
  const daemonSets = new Reflector<TaintDaemonSet>({
    ...follow,
    resource: Resource.daemonSets,
    parse: (object) => parseTaintDaemonSet(object, rule),
    retain: DAEMON_SET_RETENTION,
    name: "daemonsets and taints",
  });
  const pods = new Reflector<TaintPod>({
    ...follow,
    resource: Resource.pods,
    fieldSelector: UNFINISHED_PODS,
    parse: (object) => parseLacking(object, { nodes, rule }),
    retain: RETENTION.taintPods,
    name: "pods and taints",
  });
  return { nodes, daemonSets, pods };
}

function parseLacking(
  object: KubeObject,
  { nodes, rule }: { readonly nodes: Reflector<JudgedNode>; readonly rule: ArchTaint },
): TaintPod | undefined {
  const pod = parseTaintPod(object, rule);
  if (pod === undefined) return undefined;
  const node = pod.runsOn.kind === "node" ? nodes.get(pod.runsOn.node) : undefined;
  const own = node === undefined ? [] : [node.node.reportedArchitecture];
  const architectures = dependsOnNodes(pod) ? architecturesOf(nodes) : [];
  const kept = (): TaintPod => trimmed(pod, { rule, architectures: [...architectures, ...own] });
  // The pod is kept: a node that has no taint of ours now may get one later.
  if (pod.runsOn.kind === "node" && (node === undefined || !isManaged(node))) return kept();
  const architectureOf = (name: string): string | undefined => nodes.get(name)?.node.reportedArchitecture;
  const need = needOf(pod, { rule, architectures, architectureOf });
  return need === undefined ? undefined : kept();
}

/** Keeps one toleration for each known or used architecture, since a pod's owner can write a hundred. */
function trimmed(
  pod: TaintPod,
  { rule, architectures }: { readonly rule: ArchTaint; readonly architectures: readonly string[] },
): TaintPod {
  const covering = [...KNOWN_ARCHITECTURES, ...architectures].map((architecture) =>
    pod.tolerations?.find((toleration) => covers(toleration, { rule, architecture }))
  );
  const tolerations = [...new Set(covering)].filter((toleration) => toleration !== undefined);
  return { ...pod, tolerations: pod.tolerations && tolerations };
}

/** Whether a pod needs the architectures of all nodes. Collecting them is costly, and most pods name known ones. */
function dependsOnNodes({ runsOn }: TaintPod): boolean {
  return runsOn.kind === "any" || runsOn.kind === "decided" && !runsOn.architectures.every(isKnownArchitecture);
}

function architecturesOf(nodes: Reflector<JudgedNode>): readonly string[] {
  return [...new Set([...nodes.values()].filter(isManaged).map(({ node }) => node.reportedArchitecture))];
}

export async function readSurvey(api: ReadApi, rule: ArchTaint, signal: AbortSignal): Promise<TaintSurvey> {
  const nodes = new Map<string, ReturnType<typeof withJudgement>>();
  for await (const node of listAll(api, Resource.nodes, { signal })) {
    nodes.set(node.metadata.name, withJudgement(parseTaintNode(node), rule));
  }
  const daemonSets = new ObjectCache<TaintDaemonSet>({
    parse: (object) => parseTaintDaemonSet(object, rule),
    onChange: () => {},
    retain: DAEMON_SET_RETENTION,
    log: silentLogger,
  });
  for await (const object of listAll(api, Resource.daemonSets, { signal })) daemonSets.apply(object);
  const pods = new Map<string, TaintPod>();
  for await (const object of listAll(api, Resource.pods, { fieldSelector: UNFINISHED_PODS, signal })) {
    const pod = parseTaintPod(object, rule);
    if (pod !== undefined) pods.set(pod.key, pod);
  }
  return surveyOf(rule, { nodes, pods: pods.values(), daemonSets: daemonSets.values() });
}
