// Metrics of the exec format error monitor. The first two have the MTO's names.
import type { Instruments } from "./metric_instruments.ts";

/** What is counted. */
export interface ExecFormatMetrics {
  /** An ENoExecEvent was handled and deleted, or an attempt at it failed. */
  execFormatEvent(outcome: "handled" | "invalid"): void;
  /** A container was reported that runs a program of another architecture; by who saw it first. */
  execFormatError(source: typeof FAILURE_SOURCES[number]): void;
  /** What became of a pod that an eviction would mend. */
  execFormatRepair(outcome: typeof REPAIR_OUTCOMES[number]): void;
}

/** The daemon, in the kernel; or the leader, in the status of the pod. */
const FAILURE_SOURCES = ["kernel", "status"] as const;

/** `deferred`: a PodDisruptionBudget forbade it for now. */
const REPAIR_OUTCOMES = ["evicted", "deferred", "refused"] as const;

/** Registers them, at zero. */
export function openExecFormatMetrics({ counter, labelled }: Instruments): ExecFormatMetrics {
  const handled = counter("mto_enoexecevents_total", "ENoExecEvents handled and deleted.");
  const invalid = counter("mto_enoexecevents_invalid_total", "Attempts to handle an ENoExecEvent that failed.");
  const errors = labelled(
    "archway_exec_format_errors_total",
    "Containers reported that were to run a program of another architecture, by who saw it first.",
    { source: FAILURE_SOURCES },
  );
  const repairs = labelled("archway_exec_format_repairs_total", "Evictions of such pods.", {
    outcome: REPAIR_OUTCOMES,
  });
  return {
    execFormatEvent: (outcome) => (outcome === "handled" ? handled : invalid).inc(),
    execFormatError: (source) => errors.inc({ source }),
    execFormatRepair: (outcome) => repairs.inc({ outcome }),
  };
}
