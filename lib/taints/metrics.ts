// The metrics of architecture taints.
import type { GaugeTable, MetricsOf, MetricTable } from "../metrics.ts";

/** What was written for architecture taints; `failOpen`: a replica that does not lead removed a node's taint. */
export const TAINT_WRITES = ["tolerate", "taint", "untaint", "failOpen"] as const;

const TAINT_NODE_STATES = ["tainted", "left", "optedOut", "disagreeing", "unknown"] as const;

export interface TaintGauges {
  readonly nodes: Readonly<Record<typeof TAINT_NODE_STATES[number], number>>;
  readonly lackingPods: number;
}

export const TAINT_COUNTERS = {
  archway_arch_taint_writes_total: {
    type: "counter",
    help: "Nodes and pods written for architecture taints.",
    labels: { change: TAINT_WRITES },
  },
} as const satisfies MetricTable;

export type TaintMetrics = MetricsOf<typeof TAINT_COUNTERS>;

/** Undefined where this replica manages no taints. */
export const TAINT_GAUGES: GaugeTable<TaintGauges | undefined> = {
  archway_arch_taint_nodes: {
    help: "Nodes by the state of their architecture taint, as the leader sees them.",
    labels: ["state"],
    read: (taints) => TAINT_NODE_STATES.map((state) => [{ state }, taints?.nodes[state] ?? 0]),
  },
  archway_arch_taint_lacking_pods: {
    help: "Pods that lack the toleration of an architecture taint.",
    read: (taints) => taints?.lackingPods ?? 0,
  },
};
