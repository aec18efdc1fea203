// Metrics of work queues and of requests to the API server, under the names that client-go gives them, so that dashboards for
// Go controllers read these as well.
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { ApiCall } from "./api_transport.ts";
import type { QueueMetrics } from "./work_queue.ts";

/** The metrics of the Kubernetes client. */
export interface ClientMetrics {
  /** Makes the series of a work queue, at zero. */
  queue(name: string): QueueMetrics;
  /** One attempt of a request ended. */
  apiCall(call: ApiCall): void;
}

/** The methods of requests. */
export const API_METHODS: readonly ApiCall["method"][] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/** Status codes with a series of their own, as text. `<error>`: no answer, as in client-go; every other code is `other`. */
export const API_CODES: readonly string[] = [
  ...["200", "201", "401", "403", "404", "409", "410", "422", "429", "500", "503"],
  ...["other", "<error>"],
];

/** Upper bounds (s) of the histograms of work queues and of requests. */
export interface ClientBuckets {
  readonly queue: readonly number[];
  readonly api: readonly number[];
}

/** Registers them. */
export function openClientMetrics(registry: Registry, buckets: ClientBuckets): ClientMetrics {
  return { queue: openQueueMetrics(registry, buckets.queue), apiCall: openApiMetrics(registry, buckets.api) };
}

function openQueueMetrics(registry: Registry, buckets: readonly number[]): ClientMetrics["queue"] {
  const shared = { labelNames: ["name"], registers: [registry] };
  const counter = (name: string, help: string): Counter => new Counter({ name, help, ...shared });
  const histogram = (name: string, help: string): Histogram =>
    new Histogram({ name, help, buckets: [...buckets], ...shared });
  const adds = counter("workqueue_adds_total", "Keys that became due in a controller's queue.");
  const depth = new Gauge({ name: "workqueue_depth", help: "Keys that are due and wait for a worker.", ...shared });
  const wait = histogram("workqueue_queue_duration_seconds", "Time a key is due before its reconcile starts.");
  const work = histogram("workqueue_work_duration_seconds", "Time of one reconcile.");
  const retries = counter("workqueue_retries_total", "Reconciles that failed and are tried again.");
  return (name) => {
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
}

function openApiMetrics(registry: Registry, buckets: readonly number[]): ClientMetrics["apiCall"] {
  const requests = new Counter({
    name: "rest_client_requests_total",
    help: "Requests to the API server by method and status code.",
    labelNames: ["code", "method"],
    registers: [registry],
  });
  const time = new Histogram({
    name: "rest_client_request_duration_seconds",
    help: "Time until the API server answers a request; of a watch, until it begins.",
    labelNames: ["verb"],
    buckets: [...buckets],
    registers: [registry],
  });
  for (const method of API_METHODS) {
    time.zero({ verb: method });
    for (const code of API_CODES) requests.inc({ code, method }, 0);
  }
  return ({ method, status, durationMs }) => {
    requests.inc({ code: codeOf(status), method });
    time.observe({ verb: method }, durationMs / 1_000);
  };
}

function codeOf(status: number): string {
  if (status === 0) return "<error>";
  return API_CODES.includes(String(status)) ? String(status) : "other";
}
