// The types of drain help: the pods of a cordoned node, the budgets that protect them, what is done and when.
import type { LabelSelector } from "../../../vocabulary/label_selector.ts";
import type { DrainMode } from "../types/plan.ts";

/** A pod that a drain must remove. It has no member whose size users decide. */
export interface DrainPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly isTerminating: boolean;
  readonly hasFinalizers: boolean;
  /** Whether a PodDisruptionBudget counts the pod, or may count it. */
  readonly isProtected: boolean;
}

/** The selectors of PodDisruptionBudgets, by their namespace. */
export type DrainBudgets = ReadonlyMap<string, readonly LabelSelector[]>;

export interface DrainSettings {
  readonly mode: DrainMode;
  readonly timeoutMs: number;
  readonly expectedMs: number;
  readonly protectedTimeoutMs: number;
  readonly ignoredNamespaces: readonly RegExp[];
}

type StrategyName =
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
  /**
   * Whether it is a strategy for this pod. While such a pod is left, the drain cannot fail before the strategy is due.
   */
  readonly isTarget: (pod: DrainPod) => boolean;
  readonly actsOn: (pod: DrainPod) => boolean;
}

export type DrainAdvice =
  /** Not cordoned, or a node of the control plane. */
  | { readonly kind: "none" }
  /** Late; its pods are read in a later round. */
  | { readonly kind: "unread"; readonly node: string }
  /** Cordoned, but it is not known since when, so that no strategy becomes due. */
  | { readonly kind: "unknownStart"; readonly node: string }
  | {
    readonly kind: "draining";
    readonly node: string;
    /** Due now, in the order of the strategies. Empty under `Observe`. */
    readonly actions: readonly DrainAction[];
    /** Due as well, but the mode does not allow them. */
    readonly withheld: readonly DrainAction[];
    /** The time is over and the node is still cordoned. */
    readonly hasFailed: boolean;
  };
