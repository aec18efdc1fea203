// What the taints depend on, watched and trimmed: nodes with their verdict, DaemonSets, and of all pods only those that lack a
// toleration, so that memory follows what is left to do.
import { isKnownArchitecture } from "../arch.ts";
import type { Clock } from "../clock.ts";
import type { ReadApi } from "../k8s/api.ts";
import { openReflector, type Reflector } from "../k8s/reflector.ts";
import { type KubeObject, Resource } from "../k8s/types.ts";
import type { Logger } from "../log.ts";
import { isManaged, judge, type JudgedNode, surveyOf, type TaintSurvey } from "../taints/survey.ts";
import { needOf } from "../taints/tolerations.ts";
import type { TaintDaemonSet, TaintPod, TaintRule } from "../taints/types.ts";
import { parseTaintDaemonSet, parseTaintNode, parseTaintPod } from "../taints/views.ts";

/** What it is made with. */
export interface TaintWatchesDeps {
  readonly api: ReadApi;
  readonly clock: Clock;
  readonly log: Logger;
  readonly rule: TaintRule;
  /** Called for every change. Must be quick. */
  readonly onChange: () => void;
}

/** The watches. */
export interface TaintWatches {
  run(signal: AbortSignal): Promise<void>;
  /** What is so now; undefined before everything was listed once. */
  survey(): TaintSurvey | undefined;
}

/** Field selector of the pods that have not ended. */
export const ALIVE = "status.phase!=Succeeded,status.phase!=Failed";

/** Opens them. No request is sent to the API server before `run`. */
export function openTaintWatches(deps: TaintWatchesDeps): TaintWatches {
  const { rule, onChange } = deps;
  const follow = { api: deps.api, clock: deps.clock, log: deps.log, onChange };
  const nodes = openReflector<JudgedNode>({
    ...follow,
    resource: Resource.nodes,
    parse: (object) => judge(parseTaintNode(object), rule),
    name: "tainted nodes",
  });
  const daemonSets = openReflector<TaintDaemonSet>({
    ...follow,
    resource: Resource.daemonSets,
    parse: parseTaintDaemonSet,
    name: "daemonsets and taints",
  });
  const pods = openReflector<TaintPod>({
    ...follow,
    resource: Resource.pods,
    fieldSelector: ALIVE,
    parse: (object) => parseLacking(object, { nodes, rule }),
    name: "pods and taints",
  });
  const all = [nodes, daemonSets, pods];
  return {
    run: async (signal) => {
      // Which pods lack their toleration depends on the nodes: without them all would be kept.
      const following = [nodes, daemonSets].map((watch) => watch.run(signal));
      await nodes.synced(signal).catch(() => undefined);
      await Promise.all([...following, ...signal.aborted ? [] : [pods.run(signal)]]);
    },
    survey: () => {
      if (!all.every((watch) => watch.hasSynced())) return undefined;
      const byName = new Map([...nodes.values()].map((judged) => [judged.node.name, judged]));
      return surveyOf({ rule, nodes: byName, pods: pods.values(), daemonSets: daemonSets.values() });
    },
  };
}

/** A pod that lacks a toleration, or of which that is not known yet. */
function parseLacking(
  object: KubeObject,
  { nodes, rule }: { readonly nodes: Reflector<JudgedNode>; readonly rule: TaintRule },
): TaintPod | undefined {
  const pod = parseTaintPod(object, rule);
  if (pod === undefined) return undefined;
  if (pod.scope.kind === "node") {
    const node = nodes.get(pod.scope.node);
    // A node that is left alone now may get its taint later.
    if (node === undefined || !isManaged(node)) return pod;
  }
  const architectures = dependsOnNodes(pod) ? architecturesOf(nodes) : [];
  const architectureOf = (name: string): string | undefined => nodes.get(name)?.node.reported;
  const need = needOf(pod, { rule, architectures, architectureOf });
  return need === undefined ? undefined : pod;
}

/** Whether the architectures of all nodes matter: they are thousands, and most decisions name known ones. */
function dependsOnNodes({ scope }: TaintPod): boolean {
  return scope.kind === "any" || scope.kind === "decided" && !scope.architectures.every(isKnownArchitecture);
}

function architecturesOf(nodes: Reflector<JudgedNode>): readonly string[] {
  return [...new Set([...nodes.values()].filter(isManaged).map(({ node }) => node.reported))];
}
