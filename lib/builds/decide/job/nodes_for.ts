// Which nodes can take the Job of an architecture, and which taints it must tolerate for that.
import type { Taint, TolerationPlan } from "../../../cluster/taint.ts";
import type { Arch, BuildNode } from "../observed.ts";

export type NodesFor =
  | { readonly kind: "some"; readonly tolerations: readonly TolerationPlan[] }
  | { readonly kind: "none"; readonly message: string };

const KEEPING_AWAY: readonly string[] = ["NoSchedule", "NoExecute"];
/** Taints with which the cluster itself says that a node is in trouble: they are never tolerated. */
const TROUBLE = /^node(?:\.cloudprovider)?\.kubernetes\.io\//;

export function nodesFor(
  arch: Arch,
  { nodes, toleratesDedicated }: { readonly nodes: readonly BuildNode[]; readonly toleratesDedicated: boolean },
): NodesFor {
  const own = nodes.filter(({ reported, os }) => reported === arch && os !== "windows");
  if (own.length === 0) return { kind: "none", message: `No node of the cluster is of ${arch}.` };
  const usable = own.filter(({ isSchedulable, taints }) => isSchedulable && !taints.some(isTrouble));
  if (usable.length === 0) {
    return { kind: "none", message: `None of the ${own.length} nodes of ${arch} takes pods at the moment.` };
  }
  if (usable.some(({ taints }) => !taints.some(keepsAway))) return { kind: "some", tolerations: [] };
  const shared = sharedTaints(usable);
  // Tolerating what all have in common may not be enough for any of them.
  const [node] = usable.filter(({ taints }) => taints.filter(keepsAway).length === shared.length);
  const tolerated = node === undefined ? fewestTaints(usable) : shared;
  if (toleratesDedicated) return { kind: "some", tolerations: tolerated.map(asToleration) };
  const keys = [...new Set(tolerated.map(({ key }) => key))].toSorted().join(", ");
  return { kind: "none", message: `Every node of ${arch} has a taint that Jobs do not tolerate: ${keys}.` };
}

function keepsAway({ effect }: Taint): boolean {
  return KEEPING_AWAY.includes(effect);
}

function isTrouble(taint: Taint): boolean {
  return keepsAway(taint) && TROUBLE.test(taint.key);
}

function sharedTaints(nodes: readonly BuildNode[]): readonly Taint[] {
  const [first, ...rest] = nodes;
  return (first?.taints ?? []).filter((taint) =>
    keepsAway(taint) && rest.every(({ taints }) => taints.some((other) => isSame(other, taint)))
  );
}

function fewestTaints(nodes: readonly BuildNode[]): readonly Taint[] {
  const [best] = nodes.map(({ name, taints }) => ({ name, taints: taints.filter(keepsAway) }))
    .toSorted((left, right) => left.taints.length - right.taints.length || (left.name < right.name ? -1 : 1));
  return best?.taints ?? [];
}

function isSame(left: Taint, right: Taint): boolean {
  return left.key === right.key && left.value === right.value && left.effect === right.effect;
}

function asToleration({ key, value, effect }: Taint): TolerationPlan {
  return { key, operator: "Equal", value, effect };
}
