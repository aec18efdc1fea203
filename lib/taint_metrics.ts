// The metrics of architecture taints.
import { Counter, Gauge, type Registry } from "prom-client";

/** What was written about architecture taints; `failOpen`: taken off a node by a replica that does not lead. */
export const TAINT_WRITES = ["tolerate", "taint", "untaint", "failOpen"] as const;

/** One of {@link TAINT_WRITES}. */
export type TaintWrite = typeof TAINT_WRITES[number];

/** What is to become of a node's architecture taint. */
export const TAINT_NODE_STATES = ["tainted", "left", "optedOut", "disagreeing", "unknown"] as const;

/** One of {@link TAINT_NODE_STATES}. */
export type TaintNodeState = typeof TAINT_NODE_STATES[number];

/** Architecture taints as the leader observes them at the time of the scrape. */
export interface TaintGauges {
  readonly nodes: Readonly<Record<TaintNodeState, number>>;
  /** Pods that lack a toleration which they need. */
  readonly lackingPods: number;
}

/** The metrics, registered. */
export interface TaintMetrics {
  taintWrite(change: TaintWrite): void;
  /** undefined where this replica does not manage taints. */
  setTaints(gauges: TaintGauges | undefined): void;
}

/** Registers them, all at zero. */
export function openTaintMetrics(registry: Registry): TaintMetrics {
  const registers = [registry];
  const writes = new Counter({
    name: "archway_arch_taint_writes_total",
    help: "Nodes and pods written for architecture taints.",
    labelNames: ["change"],
    registers,
  });
  for (const change of TAINT_WRITES) writes.inc({ change }, 0);
  const nodes = new Gauge({
    name: "archway_arch_taint_nodes",
    help: "Nodes by the state of their architecture taint, as the leader sees them.",
    labelNames: ["state"],
    registers,
  });
  const lacking = new Gauge({
    name: "archway_arch_taint_lacking_pods",
    help: "Pods that lack the toleration of an architecture taint.",
    registers,
  });
  return {
    taintWrite: (change) => writes.inc({ change }),
    setTaints: (gauges) => {
      for (const state of TAINT_NODE_STATES) nodes.set({ state }, gauges?.nodes[state] ?? 0);
      lacking.set(gauges?.lackingPods ?? 0);
    },
  };
}
