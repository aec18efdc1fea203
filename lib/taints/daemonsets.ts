// DaemonSets that a taint would keep from a node: their controller reads the tolerations of the template, never at those
// of the pods that it has made before.
import { entryOf, listAt, textAt } from "../json.ts";
import { holdsForLabel } from "../placement/patch/constraints.ts";
import { tolerates } from "./tolerations.ts";
import type { TaintDaemonSet, TaintNode, TaintRule } from "./types.ts";

/** Whether a DaemonSet wants a pod on the node and would not get one there once the node has its taint. */
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
