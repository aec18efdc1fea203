// The dependencies of the pod controller.
import type { DecisionRing } from "../../lib/placement/cluster/decision_ring.ts";
import type { KubeApi } from "../../lib/k8s/api.ts";
import type { EventRecorder } from "../../lib/k8s/event_recorder.ts";
import type { PlacementMetrics } from "../../lib/placement/metrics.ts";
import type { PlacementControllerDeps } from "../controller.ts";

export interface PodPlacementDeps extends PlacementControllerDeps {
  readonly api: KubeApi;
  readonly events: EventRecorder;
  readonly metrics: PlacementMetrics;
  readonly decisions: Pick<DecisionRing, "record">;
  /** A number in 0..1, new at each call. */
  readonly random: () => number;
  readonly workers: number;
}
