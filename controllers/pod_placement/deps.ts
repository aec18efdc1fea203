// The dependencies of the pod controller.
import type { Board } from "../../lib/placement/decide/report/board.ts";
import type { KubeApi } from "../../lib/k8s/api.ts";
import type { EventRecorder } from "../../lib/k8s/event_recorder.ts";
import type { PlacementMetrics } from "../../lib/placement/metrics.ts";
import type { PlacingDeps } from "../controller.ts";

export interface PodPlacementDeps extends PlacingDeps {
  readonly api: KubeApi;
  readonly events: EventRecorder;
  readonly metrics: PlacementMetrics;
  readonly board: Pick<Board, "record">;
  /** A number in 0..1, new at each call. */
  readonly random: () => number;
  readonly workers: number;
}
