// The cluster compared with the taint rule: what each node is to become, and which pods lack tolerations.
import { isTainted, judgeNode, type NodeJudgement } from "./judge_node.ts";
import { needOf } from "./tolerations.ts";
import type { JudgedDaemonSet, PodNeed, TaintDaemonSet, TaintNode, TaintPod } from "./types.ts";
import type { ArchTaint } from "../../vocabulary/taint.ts";
import { entryOf } from "../../json.ts";
import { type IndexedRequirement, meetsRequirement } from "../../vocabulary/label_selector.ts";
import { splitKey } from "../../k8s/types.ts";

/** Most checks of DaemonSets against nodes in a survey: a fraction of a second. For 1 000 nodes: total weight 4 000. */
const MAX_CHECKS = 4_000_000;

export interface JudgedNode {
  readonly node: TaintNode;
  readonly judgement: NodeJudgement;
  /** Whether the node has any taint with our key, even a wrong one. */
  readonly isTainted: boolean;
}

export interface TaintSurvey {
  readonly rule: ArchTaint;
  readonly nodes: readonly JudgedNode[];
  /** Pods that lack a toleration: those that the scheduler refuses, then other pending ones, then bound ones. */
  readonly needs: readonly PodNeed[];
  readonly needsByNode: ReadonlyMap<string, readonly PodNeed[]>;
  readonly daemonSets: readonly JudgedDaemonSet[];
  readonly oversized: readonly string[];
}

export function withJudgement(node: TaintNode, rule: ArchTaint): JudgedNode {
  return { node, judgement: judgeNode(node, rule), isTainted: isTainted(node, rule.key) };
}

/** Whether the taint belongs on the node: then its pods must tolerate it. */
export function isManaged({ judgement }: JudgedNode): boolean {
  return judgement.kind === "keep" || judgement.kind === "patch";
}

export function surveyOf(
  rule: ArchTaint,
  { nodes, pods, daemonSets }: {
    readonly nodes: ReadonlyMap<string, JudgedNode>;
    readonly pods: Iterable<TaintPod>;
    readonly daemonSets: Iterable<TaintDaemonSet>;
  },
): TaintSurvey {
  const judged = [...nodes.values()];
  const architectures = [...new Set(judged.filter(isManaged).map(({ node }) => node.reportedArchitecture))];
  const architectureOf = (name: string): string | undefined => {
    const node = nodes.get(name);
    return node !== undefined && isManaged(node) ? node.node.reportedArchitecture : undefined;
  };
  const [bound, pending]: [PodNeed[], PodNeed[]] = [[], []];
  for (const pod of pods) {
    const need = needOf(pod, { rule, architectureOf, architectures });
    if (need !== undefined) (pod.runsOn.kind === "node" ? bound : pending).push(need);
  }
  return {
    rule,
    nodes: judged,
    needs: [...pending.toSorted((a, b) => Number(b.pod.isShutOut) - Number(a.pod.isShutOut)), ...bound],
    needsByNode: Map.groupBy(bound, ({ pod }) => pod.runsOn.kind === "node" ? pod.runsOn.node : ""),
    ...chooseDaemonSets([...daemonSets], Math.floor(MAX_CHECKS / Math.max(1, judged.length))),
  };
}

/** Chooses all, or the lightest of each namespace if all are too heavy: no namespace displaces another's DaemonSets. */
function chooseDaemonSets(
  all: readonly TaintDaemonSet[],
  maxWeight: number,
): Pick<TaintSurvey, "daemonSets" | "oversized"> {
  const oversized = all.filter(({ kind }) => kind === "oversized").map(({ key }) => key);
  const judged = all.filter((daemonSet) => daemonSet.kind === "judged");
  if (weightOf(judged) <= maxWeight) return { daemonSets: judged, oversized };
  const inTurn = [...Map.groupBy(judged, ({ key }) => splitKey(key).namespace).values()].flatMap((ofNamespace) => {
    let share = 0;
    return ofNamespace.toSorted((a, b) => a.weight - b.weight)
      .map((daemonSet) => ({ daemonSet, share: share += daemonSet.weight }));
  }).toSorted((a, b) => a.share - b.share);
  let weight = 0;
  const chosen = Map.groupBy(inTurn, ({ daemonSet }) => (weight += daemonSet.weight) <= maxWeight);
  return {
    daemonSets: (chosen.get(true) ?? []).map(({ daemonSet }) => daemonSet),
    oversized: [...oversized, ...(chosen.get(false) ?? []).map(({ daemonSet }) => daemonSet.key)],
  };
}

function weightOf(daemonSets: readonly JudgedDaemonSet[]): number {
  return daemonSets.reduce((sum, { weight }) => sum + weight, 0);
}

export function shutOutOfTaintedNodes({ nodes, daemonSets, rule }: TaintSurvey): readonly string[] {
  const tainted = nodes.filter(({ judgement }) => judgement.kind === "keep").map(({ node }) => node);
  return daemonSets.filter((daemonSet) => tainted.some((node) => isShutOutDaemonSet(daemonSet, { node, rule })))
    .map(({ key }) => key).sort();
}

export function shutOutDaemonSets({ daemonSets, rule }: TaintSurvey, node: TaintNode): readonly JudgedDaemonSet[] {
  return daemonSets.filter((daemonSet) => isShutOutDaemonSet(daemonSet, { node, rule }));
}

/** Whether the DaemonSet would get no pod on the tainted node: its controller checks the template's tolerations. */
export function isShutOutDaemonSet(
  daemonSet: JudgedDaemonSet,
  { node, rule }: { readonly node: TaintNode; readonly rule: ArchTaint },
): boolean {
  if (rule.effect === "PreferNoSchedule" || daemonSet.tolerated.has(node.reportedArchitecture)) return false;
  const isMet = (requirement: IndexedRequirement): boolean =>
    meetsRequirement(entryOf(node.labels, requirement.key), requirement);
  return daemonSet.selector.every(isMet) && (daemonSet.terms?.some((term) => term.every(isMet)) ?? true);
}
