// The dependencies of the pod controller.
import type { RecentDecisions } from "../../lib/placement/decide/report/recent_decisions.ts";
import type { KubeApi } from "../../lib/k8s/api.ts";
import type { EventRecorder } from "../../lib/k8s/event_recorder.ts";
import type { PlacementMetrics } from "../../lib/placement/metrics.ts";
import type { PlacingDeps } from "../controller.ts";

export interface PodPlacementDeps extends PlacingDeps {
  readonly api: KubeApi;
  readonly events: EventRecorder;
  readonly metrics: PlacementMetrics;
  readonly decisions: Pick<RecentDecisions, "record">;
  /** A number in 0..1, new at each call. */
  readonly random: () => number;
  readonly workers: number;
}
