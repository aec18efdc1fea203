// Metrics of the webhook port and of the process that serves it.
import type { Clock } from "../clock.ts";
import type { MetricsOf, MetricTable } from "../metrics.ts";
import { DROP_REASONS } from "./connection_table.ts";

export const SERVER_METRICS = {
  archway_webhook_requests_total: {
    type: "counter",
    help: "Requests to the webhook port by an accepted path: secret, or plain as the manifests have it.",
    labels: { path: ["secret", "plain"], outcome: ["taken", "shed"] },
  },
  archway_webhook_connections_dropped_total: {
    type: "counter",
    help:
      "Connections of the webhook port that were closed or not accepted: no accepted path, a limit, or a time limit.",
    labels: { reason: DROP_REASONS },
  },
  archway_certificate_reloads_total: { type: "counter", help: "Serving certificates put in force after the first." },
  archway_event_loop_delay_seconds: { type: "histogram", help: "How late the event loop runs timers." },
} as const satisfies MetricTable;

export type ServerMetrics = MetricsOf<typeof SERVER_METRICS>;

/** Interval of measurements (ms): rarely misses a pause of 50 ms, at negligible cost. */
const SAMPLE_EVERY_MS = 50;

/** How late (ms) each timer fired. `monitorEventLoopDelay` of `node:perf_hooks` measures nothing in Deno 2.9.6. */
export async function watchEventLoop(
  { clock, observe }: { readonly clock: Clock; readonly observe: (delayMs: number) => void },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const askedMs = clock.monotonicMs();
    await clock.sleep(SAMPLE_EVERY_MS, signal);
    if (!signal.aborted) observe(Math.max(0, clock.monotonicMs() - askedMs - SAMPLE_EVERY_MS));
  }
}
