// The metrics of pod placement. Those that the Multiarch Tuning Operator (MTO) also has keep its names.
import type { Registry } from "prom-client";
import { type GaugeTable, type MetricsOf, type MetricTable, openMetrics, WAIT_BUCKETS_SECONDS } from "../metrics.ts";
import type { HostState } from "../oci/limits/host_state.ts";
import { FAILURE_REASONS, type FailureReason } from "../oci/errors.ts";

/**
 * `passed`: no new decision about a new pod, as for a Job or a repeated call; `dense`: admitted unread; `shed` and
 * `unreadable`: answered with an error.
 */
const ADMISSION_OUTCOMES = [
  "gated",
  "placed",
  "ignored",
  "passed",
  "audited",
  "unreadable",
  "dense",
  "shed",
] as const;

export type AdmissionOutcome = typeof ADMISSION_OUTCOMES[number];

/** Decisions about gated pods. `reduced`: released by a part of one, or without a leader; `audited`: not written. */
export const DECISION_LABELS = [
  "place",
  "retry",
  "nowhere",
  "fallback",
  "release",
  "reduced",
  "ignore",
  "audited",
] as const;

type DecisionLabel = typeof DECISION_LABELS[number];

const COUNTED = {
  mto_ppo_wh_pods_processed_total: { type: "counter", help: "Pods seen by the webhook." },
  mto_ppo_wh_pods_gated_total: { type: "counter", help: "Pods gated by the webhook." },
  mto_ppo_wh_response_time_seconds: { type: "histogram", help: "Time to answer an admission request." },
  archway_admissions_total: {
    type: "counter",
    help: "Admission requests by outcome.",
    labels: { outcome: ADMISSION_OUTCOMES },
  },
  mto_ppo_ctrl_time_to_process_pod_seconds: { type: "histogram", help: "Time to reconcile any pod." },
  mto_ppo_ctrl_time_to_process_gated_pod_seconds: {
    type: "histogram",
    help: "Time to reconcile a gated pod, inspection included.",
  },
  mto_ppo_ctrl_processed_pods_total: { type: "counter", help: "Gated pods processed, counted per attempt." },
  archway_decisions_total: {
    type: "counter",
    help: "Placement decisions written, by kind.",
    labels: { kind: DECISION_LABELS },
  },
  archway_pins_contradicted_total: {
    type: "counter",
    help: "Workloads and pods whose own architecture constraint no image of theirs meets.",
  },
  archway_late_images_total: {
    type: "counter",
    help: "Pods that got an image on their node which does not run there.",
    labels: { came: ["ephemeral", "exchanged"] },
  },
  archway_gate_age_seconds: {
    type: "histogram",
    help: "Time from a pod's creation to its release.",
    buckets: WAIT_BUCKETS_SECONDS,
  },
  mto_ppo_ctrl_time_to_inspect_pod_images_seconds: {
    type: "histogram",
    help: "Time to inspect all images of one pod.",
  },
  mto_ppo_ctrl_time_to_inspect_image_seconds: { type: "histogram", help: "Time to inspect one image." },
  mto_ppo_ctrl_failed_image_inspection_total: { type: "counter", help: "Failed image inspections." },
  archway_inspection_failures_total: {
    type: "counter",
    help: "Failed image inspections.",
    labels: { reason: FAILURE_REASONS },
  },
  mto_cache_hit_processing_duration_seconds: {
    type: "histogram",
    help: "Time to answer from the inspection cache.",
  },
  mto_cache_miss_processing_duration_seconds: { type: "histogram", help: "Time to inspect on a cache miss." },
} as const satisfies MetricTable;

export interface PlacementGauges {
  readonly gatedPods: number;
  readonly unadmittedPods: number;
  readonly cachedInspections: number;
  readonly isLeading: boolean;
  readonly isGating: boolean;
  readonly memory: { readonly rss: number; readonly heapUsed: number };
  /** The source caps the number of hosts, because the label `host` alone has no closed set of values. */
  readonly registries: readonly Pick<HostState, "host" | "circuit" | "remaining">[];
}

export const PLACEMENT_GAUGES: GaugeTable<PlacementGauges> = {
  mto_ppo_pods_gated: { help: "Gated pods in the leader's cache.", read: ({ gatedPods }) => gatedPods },
  archway_unadmitted_pods: {
    help: "Pending pods admitted without the webhook, at the leader's last sweep.",
    read: ({ unadmittedPods }) => unadmittedPods,
  },
  mto_inspection_cache_size: {
    help: "Entries in the inspection cache.",
    read: ({ cachedInspections }) => cachedInspections,
  },
  archway_leader: { help: "1 while this replica holds the Lease.", read: ({ isLeading }) => Number(isLeading) },
  archway_gating: {
    help: "1 while this replica gates pods; 0 while gating has stopped.",
    read: ({ isGating }) => Number(isGating),
  },
  archway_resident_memory_bytes: { help: "Resident memory of the process.", read: ({ memory }) => memory.rss },
  archway_heap_used_bytes: { help: "Used JavaScript heap.", read: ({ memory }) => memory.heapUsed },
  archway_registry_circuit_open: {
    help: "1 while requests to a failing registry are held back.",
    labels: ["host"],
    read: ({ registries }) => registries.map(({ host, circuit }) => [{ host }, Number(circuit !== "closed")]),
  },
  archway_registry_quota_remaining: {
    help: "Requests a registry says are left in its window.",
    labels: ["host"],
    read: ({ registries }) =>
      registries.flatMap(({ host, remaining }) => remaining === undefined ? [] : [[{ host }, remaining] as const]),
  },
};

/** Metrics counted at their events. Durations are passed in milliseconds and exposed in seconds. */
export class PlacementMetrics {
  readonly #of: MetricsOf<typeof COUNTED>;

  constructor(registry: Registry) {
    this.#of = openMetrics(registry, COUNTED);
  }

  /** Webhook: one admission request answered. With `dryRun`, no pods are counted. */
  readonly admission = (
    outcome: AdmissionOutcome,
    { ms, dryRun }: { readonly ms: number; readonly dryRun: boolean },
  ): void => {
    this.#of.mto_ppo_wh_response_time_seconds.observe(ms / 1_000);
    if (dryRun) return;
    this.#of.mto_ppo_wh_pods_processed_total.inc();
    this.#of.archway_admissions_total.inc({ outcome });
    if (outcome === "gated") this.#of.mto_ppo_wh_pods_gated_total.inc();
  };

  /** Controller: one reconcile of a gated pod ended. The MTO's metrics of all and of gated pods get the same time. */
  readonly podProcessed = (ms: number): void => {
    this.#of.mto_ppo_ctrl_time_to_process_pod_seconds.observe(ms / 1_000);
    this.#of.mto_ppo_ctrl_processed_pods_total.inc();
    this.#of.mto_ppo_ctrl_time_to_process_gated_pod_seconds.observe(ms / 1_000);
  };

  readonly decision = (kind: DecisionLabel): void => this.#of.archway_decisions_total.inc({ kind });

  /** Webhook: a pod's own constraint excludes all architectures of its images. */
  readonly pinMismatch = (): void => this.#of.archway_pins_contradicted_total.inc();

  readonly lateMismatch = (came: "ephemeral" | "exchanged"): void => this.#of.archway_late_images_total.inc({ came });

  readonly gateReleased = (ageMs: number): void =>
    this.#of.archway_gate_age_seconds.observe(Math.max(0, ageMs) / 1_000);

  readonly podImagesInspected = (ms: number): void =>
    this.#of.mto_ppo_ctrl_time_to_inspect_pod_images_seconds.observe(ms / 1_000);

  readonly imageInspected = ({ ms, source, failure }: ImageInspected): void => {
    const { mto_cache_hit_processing_duration_seconds, mto_cache_miss_processing_duration_seconds } = this.#of;
    this.#of.mto_ppo_ctrl_time_to_inspect_image_seconds.observe(ms / 1_000);
    const time = source === "cache"
      ? mto_cache_hit_processing_duration_seconds
      : mto_cache_miss_processing_duration_seconds;
    time.observe(ms / 1_000);
    if (failure === undefined) return;
    this.#of.mto_ppo_ctrl_failed_image_inspection_total.inc();
    this.#of.archway_inspection_failures_total.inc({ reason: failure });
  };
}

interface ImageInspected {
  readonly ms: number;
  readonly source: "registry" | "cache";
  readonly failure?: FailureReason | undefined;
}
