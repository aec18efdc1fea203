// The metrics of the daemon, all at zero from the start; labels have closed sets of values.
import { Counter, Gauge, Registry } from "prom-client";

/** What became of a failed start. */
export const FAILURE_OUTCOMES = [
  "reported",
  "repeated",
  "text",
  "outside-pods",
  "unknown-pod",
  "limited",
  "overflow",
  "refused",
] as const;

/** One of {@link FAILURE_OUTCOMES}. */
export type FailureOutcome = typeof FAILURE_OUTCOMES[number];

/** The daemon's metrics. */
export interface DaemonMetrics {
  /** So many failed starts ended so. */
  failures(outcome: FailureOutcome, count?: number): void;
  /** Messages of the trace were lost on their way. */
  lostMessages(count: number): void;
  /** The trace ended unexpectedly. */
  traceFailed(): void;
  /** Text exposition of everything. */
  expose(
    gauges: { readonly isTracing: boolean; readonly pending: number; readonly residentBytes: number },
  ): Promise<{ readonly contentType: string; readonly text: string }>;
}

/** Makes the registry. */
export function openDaemonMetrics(): DaemonMetrics {
  const registry = new Registry();
  const registers = [registry];
  const failures = new Counter({
    name: "archway_exec_failures_total",
    help: "Starts of programs that the kernel refused as not executable, by what became of them.",
    labelNames: ["outcome"],
    registers,
  });
  for (const outcome of FAILURE_OUTCOMES) failures.inc({ outcome }, 0);
  const counter = (name: string, help: string): Counter => new Counter({ name, help, registers });
  const lost = counter("archway_exec_trace_messages_lost_total", "Messages of the kernel that could not be kept.");
  const restarts = counter("archway_exec_trace_failures_total", "Times the trace ended, or could not begin.");
  const gauge = (name: string, help: string): Gauge => new Gauge({ name, help, registers });
  const tracing = gauge("archway_exec_trace_up", "1 while exec format errors of this node are seen.");
  const pending = gauge("archway_exec_failures_pending", "Failures that wait to be written.");
  const rss = gauge("archway_exec_daemon_resident_memory_bytes", "Resident memory of the daemon, without bpftrace.");
  return {
    failures: (outcome, count = 1) => failures.inc({ outcome }, count),
    lostMessages: (count) => lost.inc(count),
    traceFailed: () => restarts.inc(),
    expose: async (gauges) => {
      tracing.set(Number(gauges.isTracing));
      pending.set(gauges.pending);
      rss.set(gauges.residentBytes);
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}
