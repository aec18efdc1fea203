// All metrics. They are registered at the start, so they are present at zero: labels have closed sets of values, but for
// `host`. The names are those of the Multiarch Tuning Operator (MTO), where it has the metric.
import { Registry } from "prom-client";
import { type ExecFormatMetrics, openExecFormatMetrics } from "./exec_format_metrics.ts";
import { type ClientMetrics, openClientMetrics } from "./k8s/client_metrics.ts";
import {
  type Instruments,
  instrumentsOf,
  LATENCY_BUCKETS_SECONDS,
  WAIT_BUCKETS_SECONDS,
} from "./metric_instruments.ts";
import { DROP_REASONS, type DropReason } from "./server/connection_table.ts";
import { FAILURE_REASONS, type FailureReason } from "./oci/types.ts";
import { openTaintMetrics, type TaintGauges, type TaintMetrics } from "./taint_metrics.ts";

/**
 * How an admission request ended: a closed set, the label of `archway_admissions_total`. `passed`: the pod was left as it was, or
 * there was nothing to decide; `dense`: it was admitted unread; `shed` and `unreadable`: the answer was an error.
 */
export const ADMISSION_OUTCOMES = [
  "gated",
  "placed",
  "ignored",
  "passed",
  "audited",
  "unreadable",
  "dense",
  "shed",
] as const;

/** One of {@link ADMISSION_OUTCOMES}. */
export type AdmissionOutcome = typeof ADMISSION_OUTCOMES[number];

/** What was decided about a gated pod. `bare`: the gate alone was taken off, also without a leader; `audited`: nothing was written. */
export const DECISION_LABELS = [
  "place",
  "retry",
  "nowhere",
  "fallback",
  "release",
  "bare",
  "ignore",
  "audited",
] as const;

/** One of {@link DECISION_LABELS}. */
export type DecisionLabel = typeof DECISION_LABELS[number];

/** The process's metrics. Durations go in as milliseconds and are exposed in seconds. */
export interface Metrics extends ClientMetrics, ExecFormatMetrics, Pick<TaintMetrics, "taintWrite"> {
  /** Webhook: one admission request answered. `dryRun` counts nothing of pods. */
  admission(outcome: AdmissionOutcome, options: { readonly ms: number; readonly dryRun: boolean }): void;
  /** Controller: one reconcile of a pod ended. `gated`: whether it had our gate. */
  podProcessed(options: { readonly gated: boolean; readonly ms: number }): void;
  /** Controller: a gated pod's decision was written. */
  decision(kind: DecisionLabel): void;
  /** Controller: all images of one pod were inspected. */
  podImagesInspected(ms: number): void;
  /** Inspector: one image was inspected. */
  imageInspected(
    options: {
      readonly ms: number;
      readonly source: "registry" | "cache";
      readonly failure?: FailureReason | undefined;
    },
  ): void;
  /** Seconds between a pod's creation and its release. */
  gateReleased(ageMs: number): void;
  /** An event was dropped or an API call failed in the background queue. */
  eventDropped(): void;
  /** The event loop ran a timer so much later than asked for. */
  eventLoopDelay(ms: number): void;
  /** Webhook: a head came by an accepted path, and whether its body was taken. */
  webhookRequest(path: "secret" | "plain", taken: boolean): void;
  /** Webhook: a connection was closed, or not accepted. */
  webhookConnectionDropped(reason: DropReason): void;
  /** Webhook certificate reloads and their failures. */
  certificateReloaded(): void;
  /** Text exposition of everything, with the gauges as they are now. */
  expose(gauges: Gauges): Promise<{ readonly contentType: string; readonly text: string }>;
}

/** What is measured at a scrape. */
export interface Gauges {
  readonly gatedPods: number;
  /** Pending pods that were admitted without the webhook, as of the leader's last sweep. */
  readonly unadmittedPods: number;
  readonly cachedInspections: number;
  readonly isLeading: boolean;
  readonly isGating: boolean;
  /** undefined where this replica manages no architecture taints. */
  readonly taints?: TaintGauges | undefined;
  readonly memory: { readonly rss: number; readonly heapUsed: number };
  readonly registries: readonly {
    readonly host: string;
    readonly circuit: "closed" | "open" | "half-open";
    readonly remaining?: number;
  }[];
}

/** Makes the registry with all metrics at zero. */
export function openMetrics(): Metrics {
  const registry = new Registry();
  const instruments = instrumentsOf(registry);
  const setGauges = openGauges(registry);
  const { taintWrite, setTaints } = openTaintMetrics(registry);
  return {
    ...openAdmissionMetrics(instruments),
    ...openReconcileMetrics(instruments),
    ...openInspectionMetrics(instruments),
    ...openProcessMetrics(instruments),
    ...openWebhookPortMetrics(instruments),
    ...openExecFormatMetrics(instruments),
    ...openClientMetrics(registry, { queue: WAIT_BUCKETS_SECONDS, api: LATENCY_BUCKETS_SECONDS }),
    taintWrite,
    expose: async (gauges) => {
      setGauges(gauges);
      setTaints(gauges.taints);
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}

function openAdmissionMetrics({ counter, histogram, labelled }: Instruments): Pick<Metrics, "admission"> {
  const seen = counter("mto_ppo_wh_pods_processed_total", "Pods seen by the webhook.");
  const gated = counter("mto_ppo_wh_pods_gated_total", "Pods gated by the webhook.");
  const time = histogram("mto_ppo_wh_response_time_seconds", "Time to answer an admission request.");
  const admissions = labelled("archway_admissions_total", "Admission requests by outcome.", {
    outcome: ADMISSION_OUTCOMES,
  });
  return {
    admission: (outcome, { ms, dryRun }) => {
      time.observe(ms / 1_000);
      if (dryRun) return;
      seen.inc();
      admissions.inc({ outcome });
      if (outcome === "gated") gated.inc();
    },
  };
}

function openReconcileMetrics(
  { counter, histogram, labelled }: Instruments,
): Pick<Metrics, "podProcessed" | "decision" | "gateReleased"> {
  const anyPodTime = histogram("mto_ppo_ctrl_time_to_process_pod_seconds", "Time to reconcile any pod.");
  const gatedPodTime = histogram(
    "mto_ppo_ctrl_time_to_process_gated_pod_seconds",
    "Time to reconcile a gated pod, inspection included.",
  );
  const processed = counter("mto_ppo_ctrl_processed_pods_total", "Gated pods processed, counted per attempt.");
  const decisions = labelled("archway_decisions_total", "Placement decisions written, by kind.", {
    kind: DECISION_LABELS,
  });
  const gateAge = histogram(
    "archway_gate_age_seconds",
    "Time from a pod's creation to its release.",
    WAIT_BUCKETS_SECONDS,
  );
  return {
    podProcessed: ({ gated, ms }) => {
      anyPodTime.observe(ms / 1_000);
      if (!gated) return;
      processed.inc();
      gatedPodTime.observe(ms / 1_000);
    },
    decision: (kind) => decisions.inc({ kind }),
    gateReleased: (ageMs) => gateAge.observe(Math.max(0, ageMs) / 1_000),
  };
}

function openInspectionMetrics(
  { counter, histogram, labelled }: Instruments,
): Pick<Metrics, "podImagesInspected" | "imageInspected"> {
  const podTime = histogram(
    "mto_ppo_ctrl_time_to_inspect_pod_images_seconds",
    "Time to inspect all images of one pod.",
  );
  const imageTime = histogram("mto_ppo_ctrl_time_to_inspect_image_seconds", "Time to inspect one image.");
  const failures = counter("mto_ppo_ctrl_failed_image_inspection_total", "Failed image inspections.");
  const failuresByReason = labelled("archway_inspection_failures_total", "Failed image inspections.", {
    reason: FAILURE_REASONS,
  });
  const hitTime = histogram("mto_cache_hit_processing_duration_seconds", "Time to answer from the inspection cache.");
  const missTime = histogram("mto_cache_miss_processing_duration_seconds", "Time to inspect on a cache miss.");
  return {
    podImagesInspected: (ms) => podTime.observe(ms / 1_000),
    imageInspected: ({ ms, source, failure }) => {
      imageTime.observe(ms / 1_000);
      (source === "cache" ? hitTime : missTime).observe(ms / 1_000);
      if (failure === undefined) return;
      failures.inc();
      failuresByReason.inc({ reason: failure });
    },
  };
}

function openProcessMetrics({ counter, histogram }: Instruments): Pick<Metrics, "eventDropped" | "eventLoopDelay"> {
  const droppedEvents = counter("archway_events_dropped_total", "Kubernetes events dropped by the background queue.");
  const loopDelay = histogram("archway_event_loop_delay_seconds", "How late the event loop runs timers.");
  return {
    eventDropped: () => droppedEvents.inc(),
    eventLoopDelay: (ms) => loopDelay.observe(ms / 1_000),
  };
}

function openWebhookPortMetrics(
  { counter, labelled }: Instruments,
): Pick<Metrics, "webhookRequest" | "webhookConnectionDropped" | "certificateReloaded"> {
  const requests = labelled(
    "archway_webhook_requests_total",
    "Requests to the webhook port by an accepted path: secret, or plain as the manifests have it.",
    { path: ["secret", "plain"], outcome: ["taken", "shed"] },
  );
  const droppedConnections = labelled(
    "archway_webhook_connections_dropped_total",
    "Connections of the webhook port that were closed or not accepted: no accepted path, a limit, or a time limit.",
    { reason: DROP_REASONS },
  );
  const reloads = counter("archway_certificate_reloads_total", "Serving certificates put in force after the first.");
  return {
    webhookRequest: (path, taken) => requests.inc({ path, outcome: taken ? "taken" : "shed" }),
    webhookConnectionDropped: (reason) => droppedConnections.inc({ reason }),
    certificateReloaded: () => reloads.inc(),
  };
}

/** The gauges; the host of a registry is the only label, and the source caps how many hosts there are. */
function openGauges(registry: Registry): (gauges: Gauges) => void {
  const { gauge } = instrumentsOf(registry);
  const gated = gauge("mto_ppo_pods_gated", "Gated pods in the leader's cache.");
  const unadmitted = gauge(
    "archway_unadmitted_pods",
    "Pending pods admitted without the webhook, at the leader's last sweep.",
  );
  const cached = gauge("mto_inspection_cache_size", "Entries in the inspection cache.");
  const leading = gauge("archway_leader", "1 while this replica holds the Lease.");
  const gating = gauge("archway_gating", "1 while this replica gates pods; 0 while gating has stopped.");
  const rss = gauge("archway_resident_memory_bytes", "Resident memory of the process.");
  const heap = gauge("archway_heap_used_bytes", "Used JavaScript heap.");
  const circuits = gauge("archway_registry_circuit_open", "1 while requests to a failing registry are held back.", [
    "host",
  ]);
  const quotas = gauge("archway_registry_quota_remaining", "Requests a registry says are left in its window.", [
    "host",
  ]);
  return (gauges) => {
    gated.set(gauges.gatedPods);
    unadmitted.set(gauges.unadmittedPods);
    cached.set(gauges.cachedInspections);
    leading.set(Number(gauges.isLeading));
    gating.set(Number(gauges.isGating));
    rss.set(gauges.memory.rss);
    heap.set(gauges.memory.heapUsed);
    circuits.reset();
    quotas.reset();
    for (const { host, circuit, remaining } of gauges.registries) {
      circuits.set({ host }, Number(circuit !== "closed"));
      if (remaining !== undefined) quotas.set({ host }, remaining);
    }
  };
}
