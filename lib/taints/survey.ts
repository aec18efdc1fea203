// What is so in the cluster now, seen from the rule: nodes by what is to become of them, and the pods that lack tolerations.
import { isTainted, judgeNode, type NodeVerdict } from "./judge_node.ts";
import { needOf, tolerates } from "./tolerations.ts";
import type { PodNeed, TaintDaemonSet, TaintNode, TaintPod, TaintRule } from "./types.ts";
import { entryOf, listAt, textAt } from "../json.ts";
import { holdsForLabel } from "../placement/patch/constraints.ts";

/** A node and what is to become of its taint. */
export interface JudgedNode {
  readonly node: TaintNode;
  readonly verdict: NodeVerdict;
  /** It has a taint of our key, right or wrong. */
  readonly isTainted: boolean;
}

/** What was read of the cluster. */
export interface ClusterViews {
  readonly rule: TaintRule;
  /** By name. */
  readonly nodes: ReadonlyMap<string, JudgedNode>;
  /** At least those that lack a toleration. */
  readonly pods: Iterable<TaintPod>;
  readonly daemonSets: Iterable<TaintDaemonSet>;
}

/** What is so now. */
export interface TaintSurvey {
  readonly rule: TaintRule;
  readonly nodes: readonly JudgedNode[];
  /** Pods that lack a toleration which they need, those that the scheduler refuses first, then pending ones. */
  readonly needs: readonly PodNeed[];
  /** Bound pods that lack the toleration of their node, by node. */
  readonly needsOf: ReadonlyMap<string, readonly PodNeed[]>;
  readonly daemonSets: readonly TaintDaemonSet[];
}

/** Judges a node once; the verdict holds until the node changes. */
export function judge(node: TaintNode, rule: TaintRule): JudgedNode {
  return { node, verdict: judgeNode(node, rule), isTainted: isTainted(node, rule.key) };
}

/** Whether the taint belongs on the node: then its pods must tolerate it. */
export function isManaged({ verdict }: JudgedNode): boolean {
  return verdict.kind === "keep" || verdict.kind === "patch";
}

/** Puts together what was read. */
export function surveyOf({ rule, nodes, pods, daemonSets }: ClusterViews): TaintSurvey {
  const judged = [...nodes.values()];
  const architectures = [...new Set(judged.filter(isManaged).map(({ node }) => node.reported))];
  const architectureOf = (name: string): string | undefined => {
    const node = nodes.get(name);
    return node !== undefined && isManaged(node) ? node.node.reported : undefined;
  };
  const [bound, pending]: [PodNeed[], PodNeed[]] = [[], []];
  for (const pod of pods) {
    const need = needOf(pod, { rule, architectureOf, architectures });
    if (need !== undefined) (pod.scope.kind === "node" ? bound : pending).push(need);
  }
  return {
    rule,
    nodes: judged,
    needs: [...pending.toSorted((a, b) => Number(b.pod.isShutOut) - Number(a.pod.isShutOut)), ...bound],
    needsOf: Map.groupBy(bound, ({ pod }) => pod.scope.kind === "node" ? pod.scope.node : ""),
    daemonSets: [...daemonSets],
  };
}

/** The DaemonSets that get no pod on some node that has its taint, by name. */
export function starvedDaemonSets({ nodes, daemonSets, rule }: TaintSurvey): readonly string[] {
  const tainted = nodes.filter(({ verdict }) => verdict.kind === "keep").map(({ node }) => node);
  const architectures = [...new Set(tainted.map(({ reported }) => reported))];
  return daemonSets
    .filter(({ tolerations }) => !architectures.every((architecture) => tolerates(tolerations, { rule, architecture })))
    .filter((daemonSet) => tainted.some((node) => isShutOutDaemonSet(daemonSet, { node, rule })))
    .map(({ key }) => key).sort();
}

/** The DaemonSets that would get no pod on the node once it has its taint. */
export function shutOutDaemonSets({ daemonSets, rule }: TaintSurvey, node: TaintNode): readonly TaintDaemonSet[] {
  return daemonSets.filter((daemonSet) => isShutOutDaemonSet(daemonSet, { node, rule }));
}

/**
 * Whether a DaemonSet wants a pod on the node and would not get one there once the node has its taint. Its controller reads
 * the tolerations of the template, never those of the pods that it has made before.
 */
export function isShutOutDaemonSet(
  daemonSet: TaintDaemonSet,
  { node, rule }: { readonly node: TaintNode; readonly rule: TaintRule },
): boolean {
  if (rule.effect === "PreferNoSchedule" || daemonSet.isOversized) return false;
  return !tolerates(daemonSet.tolerations, { rule, architecture: node.reported }) && wantsNode(daemonSet, node);
}

function wantsNode({ nodeSelector, terms }: TaintDaemonSet, { labels }: TaintNode): boolean {
  const isSelected = Object.entries(nodeSelector).every(([key, value]) => entryOf(labels, key) === value);
  return isSelected && (terms === undefined || terms.some((term) => matchesTerm(term, labels)));
}

/** Fields and operators that are not evaluated here count as matching: at worst a node waits longer than it must. */
function matchesTerm(term: unknown, labels: Readonly<Record<string, string>>): boolean {
  return (listAt(term, "matchExpressions") ?? []).every((expression) =>
    holdsForLabel(expression, entryOf(labels, textAt(expression, "key")))
  );
}
