// Which node a pod is bound to: node selector, required and preferred node affinity, taints. Pure.
import { parseTaints, parseTolerations, type Taint, tolerates } from "../lib/vocabulary/taint.ts";
import { entryOf } from "../lib/json.ts";
import { meetsRequirement, parseRequirement } from "../lib/vocabulary/label_selector.ts";
import type { KubeObject } from "../lib/k8s/types.ts";
import { listAtPath, numberAtPath, textMapAtPath, valueAtPath } from "./json_path.ts";

/** The node of a pod, or why it has none, as kube-scheduler reports it. */
type SchedulingResult =
  | { readonly kind: "bind"; readonly nodeName: string }
  | { readonly kind: "unschedulable"; readonly message: string };

const AFFINITY = ["spec", "affinity", "nodeAffinity"] as const;
const MISMATCH = "node(s) didn't match Pod's node affinity/selector";

/** Picks the fitting node with the highest score; among equals the least loaded, then the first by name. */
export function chooseNode(
  pod: KubeObject,
  nodes: readonly KubeObject[],
  podCounts: ReadonlyMap<string, number>,
): SchedulingResult {
  const reasons = new Map<string, number>();
  const fitting: KubeObject[] = [];
  for (const node of nodes) {
    const reason = whyUnfit(pod, node);
    if (reason === undefined) fitting.push(node);
    else reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  const load = (node: KubeObject): number => podCounts.get(node.metadata.name) ?? 0;
  const [best] = fitting.toSorted((left, right) =>
    scoreNode(pod, right) - scoreNode(pod, left) || load(left) - load(right) ||
    (left.metadata.name < right.metadata.name ? -1 : 1)
  );
  if (best !== undefined) return { kind: "bind", nodeName: best.metadata.name };
  const counted = [...reasons].map(([reason, count]) => `${count} ${reason}`).sort().join(", ");
  const message = nodes.length === 0
    ? "no nodes available to schedule pods"
    : `0/${nodes.length} nodes are available: ${counted}.`;
  return { kind: "unschedulable", message };
}

function whyUnfit(pod: KubeObject, node: KubeObject): string | undefined {
  if (valueAtPath(node, "spec", "unschedulable") === true) return "node(s) were unschedulable";
  const taint = parseTaints(node.spec).find((each) => isHard(each) && !isTolerated(each, pod));
  if (taint !== undefined) return `node(s) had untolerated taint {${taint.key}: ${taint.value}}`;
  const labels = textMapAtPath(node, "metadata", "labels");
  const selected = Object.entries(textMapAtPath(pod, "spec", "nodeSelector")).every(([key, value]) =>
    labels[key] === value
  );
  if (!selected) return MISMATCH;
  const required = valueAtPath(pod, ...AFFINITY, "requiredDuringSchedulingIgnoredDuringExecution");
  if (required === undefined) return undefined;
  return listAtPath(required, "nodeSelectorTerms").some((term) => matchesTerm(term, node)) ? undefined : MISMATCH;
}

/** Whether a node's labels match a whole term. An empty term matches no node. Gt, Lt and fields are unknown here. */
function matchesTerm(term: unknown, node: KubeObject): boolean {
  const expressions = listAtPath(term, "matchExpressions");
  const labels = textMapAtPath(node, "metadata", "labels");
  return expressions.length > 0 && expressions.every((expression) => {
    const requirement = parseRequirement(expression);
    return requirement !== undefined && meetsRequirement(entryOf(labels, requirement.key), requirement);
  });
}

function isHard({ effect }: Taint): boolean {
  return effect === "NoSchedule" || effect === "NoExecute";
}

function isTolerated(taint: Taint, { spec }: KubeObject): boolean {
  return (parseTolerations(spec) ?? []).some((toleration) => tolerates(toleration, taint));
}

/** Sum of the weights of matching preferences, less one for each soft taint that is not tolerated. */
function scoreNode(pod: KubeObject, node: KubeObject): number {
  const preferred = listAtPath(pod, ...AFFINITY, "preferredDuringSchedulingIgnoredDuringExecution");
  const weight = preferred.reduce<number>((sum, preference) => {
    return sum +
      (matchesTerm(valueAtPath(preference, "preference"), node) ? numberAtPath(preference, "weight") ?? 0 : 0);
  }, 0);
  const soft = parseTaints(node.spec).filter((taint) =>
    taint.effect === "PreferNoSchedule" && !isTolerated(taint, pod)
  );
  return weight - soft.length;
}
