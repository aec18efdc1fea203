// What decisions about architecture taints are made from: nodes, pods and DaemonSets, reduced to what counts.
import type { Node } from "../../vocabulary/node.ts";
import type { AddedToleration, Toleration } from "../../vocabulary/taint.ts";
import type { JsonObject } from "../../json.ts";
import type { IndexedRequirement } from "../../vocabulary/label_selector.ts";

/** What the taint of a Node depends on, and no more, since thousands of nodes are kept. */
export interface TaintNode
  extends Pick<Node, "name" | "uid" | "resourceVersion" | "labels" | "reportedArchitecture" | "isDeleting"> {
  readonly taints: readonly JsonObject[] | undefined;
}

export type RunsOn =
  /** Bound: it needs the toleration of its node. */
  | { readonly kind: "node"; readonly node: string }
  /** Pending, and Archway has decided where its images run: it needs the tolerations of these architectures. */
  | { readonly kind: "decided"; readonly architectures: readonly string[] }
  /** Pending, and nothing is decided about it: it needs the tolerations of all architectures. */
  | { readonly kind: "any" };

export interface TaintPod {
  readonly key: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly runsOn: RunsOn;
  readonly tolerations: readonly Toleration[] | undefined;
  /** Whether the scheduler finds no node for the pod because of a taint. */
  readonly isShutOut: boolean;
}

export interface PodNeed {
  readonly pod: TaintPod;
  readonly missing: readonly AddedToleration[];
}

/** A DaemonSet whose template lacks some tolerations: it gets no pods on nodes with those architectures' taints. */
export type TaintDaemonSet = JudgedDaemonSet | OversizedDaemonSet;

export interface JudgedDaemonSet {
  readonly kind: "judged";
  readonly key: string;
  readonly tolerated: ReadonlySet<string>;
  readonly selector: readonly IndexedRequirement[];
  readonly terms: readonly (readonly IndexedRequirement[])[] | undefined;
  /** Cost: checks for each node plus KiB that are kept. At least 1. */
  readonly weight: number;
}

/** A DaemonSet that is too large to be judged for every node: it delays no taint, and is reported. */
interface OversizedDaemonSet {
  readonly kind: "oversized";
  readonly key: string;
}

export type NodeCounts = Readonly<Record<"tainted" | "left" | "optedOut" | "disagreeing" | "unknown", number>>;
