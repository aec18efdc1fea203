// Which taint a node is to have, and the one patch for it. Every taint with our key is ours, whoever wrote it.
import type { V1Taint } from "@kubernetes/client-node";
import type { Wire } from "../../k8s/types.ts";
import { isUsableArchitecture } from "../../arch.ts";
import { entryOf, type JsonObject, textAt } from "../../json.ts";
import { type JsonPatch, type PatchOperation, pointer } from "../../k8s/patch.ts";
import { ARCH_TAINT_OPT_OUT, NODE_ARCH_LABEL } from "../../names.ts";
import type { TaintNode } from "./types.ts";
import type { ArchTaint } from "../../vocabulary/taint.ts";

type TaintRepair = "missing" | "value" | "effect" | "several";

export type NodeJudgement =
  | { readonly kind: "keep" }
  | { readonly kind: "patch"; readonly repair: TaintRepair; readonly operations: JsonPatch }
  /** A label exempts the node: taints of ours are removed. */
  | { readonly kind: "optedOut"; readonly operations: JsonPatch }
  /** The kubelet reports one architecture and the label names another: nothing is written before they agree. */
  | { readonly kind: "disagreement"; readonly reported: string; readonly labelled: string }
  /** The kubelet has not reported yet, or the node is being deleted. */
  | { readonly kind: "unknown" };

const TAINTS = "/spec/taints";

/** Once the operations of a `patch` are applied, the next judgement on the node is `keep`. */
export function judgeNode(node: TaintNode, rule: ArchTaint): NodeJudgement {
  if (node.isDeleting) return { kind: "unknown" };
  if (isOptedOut(node)) return { kind: "optedOut", operations: untaintPatch(node, rule.key) };
  const { reportedArchitecture: reported } = node;
  if (!isUsableArchitecture(reported)) return { kind: "unknown" };
  const labelled = entryOf(node.labels, NODE_ARCH_LABEL) ?? reported;
  if (labelled !== reported) return { kind: "disagreement", reported, labelled };
  const own = ownTaints(node, rule.key);
  const right = own.find(({ taint }) => textAt(taint, "value") === reported && textAt(taint, "effect") === rule.effect);
  if (right !== undefined && own.length === 1) return { kind: "keep" };
  return {
    kind: "patch",
    repair: repairOf(own.map(({ taint }) => taint), reported),
    operations: [...guards(node), ...changes(node, { own, right }, { rule, reported })],
  };
}

export function isTainted(node: TaintNode, key: string): boolean {
  return ownTaints(node, key).length > 0;
}

/** Removes every taint of this key, each guarded by a `test`; empty when the node has none. */
export function untaintPatch(node: TaintNode, key: string): JsonPatch {
  const own = ownTaints(node, key);
  if (own.length === 0) return [];
  const removals = own.toReversed().flatMap(({ taint, index }): JsonPatch => [
    { op: "test", path: pointer("spec", "taints", index), value: taint },
    { op: "remove", path: pointer("spec", "taints", index) },
  ]);
  return [...identity(node), ...removals];
}

function isOptedOut({ labels }: TaintNode): boolean {
  return entryOf(labels, ARCH_TAINT_OPT_OUT.key) === ARCH_TAINT_OPT_OUT.value;
}

interface OwnTaint {
  readonly taint: JsonObject;
  readonly index: number;
}

interface WantedTaint {
  readonly rule: ArchTaint;
  readonly reported: string;
}

function ownTaints({ taints }: TaintNode, key: string): readonly OwnTaint[] {
  return (taints ?? []).map((taint, index) => ({ taint, index })).filter(({ taint }) => textAt(taint, "key") === key);
}

function repairOf(own: readonly JsonObject[], reported: string): TaintRepair {
  const [first, ...others] = own;
  if (first === undefined) return "missing";
  if (others.length > 0) return "several";
  return textAt(first, "value") === reported ? "effect" : "value";
}

/** Keeps our right taint, or corrects our first one if none is right, and removes our other taints. */
function changes(
  node: TaintNode,
  { own, right }: { readonly own: readonly OwnTaint[]; readonly right: OwnTaint | undefined },
  wanted: WantedTaint,
): JsonPatch {
  const value: Wire<V1Taint> = { key: wanted.rule.key, value: wanted.reported, effect: wanted.rule.effect };
  if (node.taints === undefined) return [{ op: "add", path: TAINTS, value: [value] }];
  const kept = right ?? own[0];
  if (kept === undefined) return [{ op: "add", path: `${TAINTS}/-`, value }];
  const removals = own.filter(({ index }) => index !== kept.index).toReversed()
    .map(({ index }): PatchOperation => ({ op: "remove", path: pointer("spec", "taints", index) }));
  const replaced: JsonPatch = kept === right
    ? []
    : [{ op: "replace", path: pointer("spec", "taints", kept.index), value }];
  // Removals go from the end, so that the indices of the others stay valid.
  return [...replaced, ...removals];
}

/** Tests that the node and its taints are as they were read. For an absent list it tests the resource version. */
function guards(node: TaintNode): JsonPatch {
  const unchanged: PatchOperation = node.taints === undefined
    ? { op: "test", path: "/metadata/resourceVersion", value: node.resourceVersion }
    : { op: "test", path: TAINTS, value: node.taints };
  return [...identity(node), unchanged];
}

function identity({ uid }: TaintNode): JsonPatch {
  return uid === "" ? [] : [{ op: "test", path: "/metadata/uid", value: uid }];
}
