// Metrics of work queues and of requests to the API server, under the names that client-go gives them; and of events
// that were not sent.
import { EventReason } from "../names.ts";
import type { Registry } from "prom-client";
import { type MetricsOf, type MetricTable, openMetrics, WAIT_BUCKETS_SECONDS } from "../metrics.ts";
import type { ApiCall } from "./api_transport.ts";
import type { QueueMetrics } from "./work_queue.ts";

export const API_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const satisfies readonly ApiCall["method"][];

/** Status codes with their own series. `<error>`: no answer, as in client-go; all other codes are `other`. */
export const API_CODES: readonly string[] = [
  ...["200", "201", "401", "403", "404", "409", "410", "422", "429", "500", "503"],
  ...["other", "<error>"],
];

const PASSING: readonly string[] = [EventReason.gateAdded, EventReason.gateRemoved];

const COUNTED = {
  workqueue_adds_total: { type: "counter", help: "Keys that became due in a controller's queue.", labels: ["name"] },
  workqueue_depth: { type: "gauge", help: "Keys that are due and wait for a worker.", labels: ["name"] },
  workqueue_queue_duration_seconds: {
    type: "histogram",
    help: "Time a key is due before its reconcile starts.",
    labels: ["name"],
    buckets: WAIT_BUCKETS_SECONDS,
  },
  workqueue_work_duration_seconds: {
    type: "histogram",
    help: "Time of one reconcile.",
    labels: ["name"],
    buckets: WAIT_BUCKETS_SECONDS,
  },
  workqueue_retries_total: { type: "counter", help: "Reconciles that failed and are tried again.", labels: ["name"] },
  rest_client_requests_total: {
    type: "counter",
    help: "Requests to the API server by method and status code.",
    labels: { code: API_CODES, method: API_METHODS },
  },
  rest_client_request_duration_seconds: {
    type: "histogram",
    help: "Time until the API server answers a request; of a watch, until it begins.",
    labels: { verb: API_METHODS },
  },
  archway_events_dropped_total: { type: "counter", help: "Kubernetes events dropped by the background queue." },
  archway_events_left_out_total: {
    type: "counter",
    help: "Kubernetes events of gates that were set and lifted while many others waited.",
    labels: { reason: PASSING },
  },
} as const satisfies MetricTable;

export class ClientMetrics {
  readonly #of: MetricsOf<typeof COUNTED>;

  constructor(registry: Registry) {
    this.#of = openMetrics(registry, COUNTED);
  }

  readonly queue = (name: string): QueueMetrics => {
    const {
      workqueue_adds_total: adds,
      workqueue_depth: depth,
      workqueue_queue_duration_seconds: wait,
      workqueue_retries_total: retries,
      workqueue_work_duration_seconds: work,
    } = this.#of;
    for (const count of [adds, retries]) count.inc({ name }, 0);
    for (const time of [wait, work]) time.zero({ name });
    depth.set({ name }, 0);
    return {
      added: () => adds.inc({ name }),
      depth: (keys) => depth.set({ name }, keys),
      finished: ({ outcome, waitMs, workMs }) => {
        wait.observe({ name }, waitMs / 1_000);
        work.observe({ name }, workMs / 1_000);
        if (outcome === "failed") retries.inc({ name });
      },
    };
  };

  readonly apiCall = ({ method, status, durationMs }: ApiCall): void => {
    this.#of.rest_client_requests_total.inc({ code: codeOf(status), method });
    this.#of.rest_client_request_duration_seconds.observe({ verb: method }, durationMs / 1_000);
  };

  readonly eventLeftOut = (reason: string): void => this.#of.archway_events_left_out_total.inc({ reason });

  readonly eventDropped = (): void => this.#of.archway_events_dropped_total.inc();
}

function codeOf(status: number): string {
  if (status === 0) return "<error>";
  return API_CODES.includes(String(status)) ? String(status) : "other";
}
