// The types of drain help: the pods of a cordoned node, the budgets that protect them, what is done and when.
import type { LabelSelector } from "../../../cluster/label_selector.ts";
import type { DrainMode } from "../types/plan.ts";

/** A pod on a node that is being drained, which may be touched. Nothing of it is kept whose size a namespace decides. */
export interface DrainPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly isTerminating: boolean;
  readonly hasFinalizers: boolean;
  /** Whether a PodDisruptionBudget counts it, or may do so. */
  readonly isProtected: boolean;
}

/** The selectors of PodDisruptionBudgets, by their namespace. */
export type DrainBudgets = ReadonlyMap<string, readonly LabelSelector[]>;

export interface DrainPolicy {
  readonly mode: DrainMode;
  readonly timeoutMs: number;
  readonly expectedMs: number;
  readonly protectedTimeoutMs: number;
  readonly ignoredNamespaces: readonly RegExp[];
}

export type StrategyName =
  | "DELETE"
  | "DEFAULT-FINALIZER"
  | "POD-STUCK-TERMINATING"
  | "PDB-DELETE"
  | "PDB-FINALIZER";

export type DrainAction = {
  readonly kind: "delete" | "stripFinalizers";
  readonly strategy: StrategyName;
  readonly pod: DrainPod;
};

export interface Strategy {
  readonly name: StrategyName;
  /** How long after the drain began (ms). */
  readonly dueAfterMs: number;
  readonly action: DrainAction["kind"];
  /** Pods that it is about: while there are any, the drain has not failed before its time. */
  readonly isTarget: (pod: DrainPod) => boolean;
  readonly actsOn: (pod: DrainPod) => boolean;
}

export type DrainAdvice =
  /** Not cordoned, or no node of the workers. */
  | { readonly kind: "none" }
  /** Late; its pods are read in a later round. */
  | { readonly kind: "unread"; readonly node: string }
  /** Cordoned, but since when is not known: nothing is timed. */
  | { readonly kind: "unknownStart"; readonly node: string }
  | {
    readonly kind: "draining";
    readonly node: string;
    /** Due now, in the order of the strategies. Empty under `Observe`. */
    readonly actions: readonly DrainAction[];
    readonly withheld: readonly DrainAction[];
    /** The time is over and the node is still cordoned. */
    readonly hasFailed: boolean;
  };
