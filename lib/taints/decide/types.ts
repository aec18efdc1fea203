// What decisions about architecture taints are made from: nodes, pods and DaemonSets as this mode reads them.
import type { Node } from "../../cluster/node.ts";
import type { Toleration, TolerationPlan } from "../../cluster/taint.ts";
import type { JsonObject } from "../../json.ts";
import type { IndexedRequirement } from "../../cluster/label_selector.ts";

/** The taint that this mode keeps on nodes: `key=<architecture of the node>:effect`. */
export interface TaintRule {
  readonly key: string;
  readonly effect: "NoSchedule" | "NoExecute" | "PreferNoSchedule";
}

/** A node, reduced to what its taint depends on: those of thousands of nodes are kept. */
export interface TaintNode
  extends Pick<Node, "name" | "uid" | "resourceVersion" | "labels" | "reported" | "isDeleting"> {
  readonly taints: readonly JsonObject[] | undefined;
}

export type PodScope =
  /** It runs, or is bound: that of its node. */
  | { readonly kind: "node"; readonly node: string }
  /** It is pending, and Archway has decided where its images run. */
  | { readonly kind: "decided"; readonly architectures: readonly string[] }
  /** It is pending, and nothing is decided about it: every architecture. */
  | { readonly kind: "any" };

export interface TaintPod {
  readonly key: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly scope: PodScope;
  readonly tolerations: readonly Toleration[] | undefined;
  readonly isShutOut: boolean;
}

export interface PodNeed {
  readonly pod: TaintPod;
  readonly missing: readonly TolerationPlan[];
}

/** One whose template does not tolerate every architecture: its controller creates no pods on nodes that it does not tolerate. */
export type TaintDaemonSet = JudgedDaemonSet | OversizedDaemonSet;

export interface JudgedDaemonSet {
  readonly kind: "judged";
  readonly key: string;
  readonly tolerated: ReadonlySet<string>;
  readonly selector: readonly IndexedRequirement[];
  readonly terms: readonly (readonly IndexedRequirement[])[] | undefined;
  /** What it costs: checks for each node, and KiB that are kept. At least 1. */
  readonly weight: number;
}

/** What decides where its pods go is too much to be judged for every node: it holds no node back, and that is said. */
export interface OversizedDaemonSet {
  readonly kind: "oversized";
  readonly key: string;
}

export type NodeCounts = Readonly<Record<"tainted" | "left" | "optedOut" | "disagreeing" | "unknown", number>>;
