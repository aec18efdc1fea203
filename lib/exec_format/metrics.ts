// Metrics of exec format errors. The first two have the MTO's names.
import type { MetricsOf, MetricTable } from "../metrics.ts";

export const EXEC_FORMAT_COUNTERS = {
  mto_enoexecevents_total: { type: "counter", help: "ENoExecEvents handled and deleted." },
  mto_enoexecevents_invalid_total: { type: "counter", help: "Attempts to handle an ENoExecEvent that failed." },
  archway_exec_format_errors_total: {
    type: "counter",
    help: "Containers reported that were to run a program of another architecture, by who saw it first.",
    // Who saw the error: the daemon in the kernel, or the leader in the status of the pod.
    labels: { source: ["kernel", "status"] },
  },
  archway_exec_format_repairs_total: {
    type: "counter",
    help: "Evictions of such pods.",
    // Deferred: a PodDisruptionBudget forbade the eviction for now.
    labels: { outcome: ["evicted", "deferred", "refused"] },
  },
} as const satisfies MetricTable;

export type ExecFormatMetrics = MetricsOf<typeof EXEC_FORMAT_COUNTERS>;
