// The metrics of the daemon, all at zero from the start; labels have closed sets of values.
import type { GaugeTable, MetricsOf, MetricTable } from "../../metrics.ts";

export const FAILURE_OUTCOMES = [
  "reported",
  "repeated",
  "text",
  "outside-pods",
  "cut-off",
  "unknown-pod",
  "limited",
  "overflow",
  "refused",
] as const;

export type FailureOutcome = typeof FAILURE_OUTCOMES[number];

export const DAEMON_COUNTERS = {
  archway_exec_failures_total: {
    type: "counter",
    help: "Starts of programs that the kernel refused as not executable, by what became of them.",
    labels: { outcome: FAILURE_OUTCOMES },
  },
  archway_exec_trace_messages_lost_total: {
    type: "counter",
    help: "Messages of the kernel that could not be kept.",
  },
  archway_exec_trace_failures_total: { type: "counter", help: "Times the trace ended, or could not begin." },
} as const satisfies MetricTable;

export type DaemonMetrics = MetricsOf<typeof DAEMON_COUNTERS>;

export const DAEMON_GAUGES: GaugeTable<{ readonly isTracing: boolean; readonly pending: number }> = {
  archway_exec_trace_up: {
    help: "1 while exec format errors of this node are seen.",
    read: ({ isTracing }) => Number(isTracing),
  },
  archway_exec_failures_pending: { help: "Failures that wait to be written.", read: ({ pending }) => pending },
};
