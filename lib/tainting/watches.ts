// What the taints depend on, watched and trimmed: nodes with their verdict, DaemonSets, and of all pods only those that lack a
// toleration, so that memory follows what is left to do.
import { isKnownArchitecture } from "../arch.ts";
import type { Clock } from "../clock.ts";
import type { ReadApi } from "../k8s/api.ts";
import { openReflector, type Reflector } from "../k8s/reflector.ts";
import type { Change } from "../k8s/object_cache.ts";
import { keyOf, type KubeObject, Resource, splitKey } from "../k8s/types.ts";
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

/**
 * What the DaemonSets of one namespace may weigh together: with it the memory and the work that they cost are bounded, and
 * the number of those that a user may create is not. An ordinary one weighs two or three, and nothing when it tolerates all.
 */
const MAX_NAMESPACE_WEIGHT = 512;

/** Reads DaemonSets; of what is beyond the share of a namespace only the name is kept, until that DaemonSet changes. */
export interface DaemonSetShares {
  /** `previous`: what is kept of it now. */
  parse(object: KubeObject, previous?: TaintDaemonSet): TaintDaemonSet | undefined;
  /** To be called with what is kept from now on, or no longer. */
  note(change: Change<TaintDaemonSet>): void;
}

/** Makes them. */
export function openDaemonSetShares(rule: TaintRule): DaemonSetShares {
  const weights = new Map<string, number>();
  const weightOf = (key: string): number => weights.get(splitKey(key).namespace ?? "") ?? 0;
  return {
    parse: (object, previous) => {
      const daemonSet = parseTaintDaemonSet(object, rule);
      if (daemonSet?.kind !== "judged") return daemonSet;
      const { key, weight } = daemonSet;
      const fits = weightOf(key) - ownWeight(previous) + weight <= MAX_NAMESPACE_WEIGHT;
      return fits ? daemonSet : { kind: "oversized", key };
    },
    note: (change) => {
      const { key, value } = change;
      const more = change.kind === "apply" ? ownWeight(value) - ownWeight(change.previous) : -ownWeight(value);
      const weight = weightOf(key) + more;
      const namespace = splitKey(key).namespace ?? "";
      if (weight > 0) weights.set(namespace, weight);
      else weights.delete(namespace);
    },
  };
}

function ownWeight(daemonSet: TaintDaemonSet | undefined): number {
  return daemonSet?.kind === "judged" ? daemonSet.weight : 0;
}

/** Opens them. No request is sent to the API server before `run`. */
export function openTaintWatches(deps: TaintWatchesDeps): TaintWatches {
  const { rule, onChange } = deps;
  const follow = { api: deps.api, clock: deps.clock, log: deps.log, onChange };
  const daemonSets = reflectDaemonSets(deps);
  const nodes = openReflector<JudgedNode>({
    ...follow,
    resource: Resource.nodes,
    parse: (object) => judge(parseTaintNode(object), rule),
    name: "tainted nodes",
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

function reflectDaemonSets({ api, clock, log, rule, onChange }: TaintWatchesDeps): Reflector<TaintDaemonSet> {
  const shares = openDaemonSetShares(rule);
  const daemonSets: Reflector<TaintDaemonSet> = openReflector<TaintDaemonSet>({
    ...{ api, clock, log, resource: Resource.daemonSets, name: "daemonsets and taints" },
    parse: (object) => shares.parse(object, daemonSets.get(keyOf(object))),
    onChange: (change) => {
      shares.note(change);
      onChange();
    },
  });
  return daemonSets;
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
