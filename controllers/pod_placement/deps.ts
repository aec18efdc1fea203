// The dependencies of the pod controller.
import type { Board } from "../../lib/server/board.ts";
import type { Clock } from "../../lib/clock.ts";
import type { PodImages } from "../../lib/images/pods/pod_images.ts";
import type { KubeApi } from "../../lib/k8s/api.ts";
import type { EventRecorder } from "../../lib/k8s/event_recorder.ts";
import type { Logger } from "../../lib/log.ts";
import type { PlacementMetrics } from "../../lib/placement/metrics.ts";
import type { PlacementConfigs, PlacementSettings } from "../../lib/placement/decide/config/types.ts";
import type { ControllerOptions } from "../controller.ts";

export interface PodPlacementDeps {
  readonly api: KubeApi;
  readonly images: PodImages;
  readonly events: EventRecorder;
  readonly metrics: PlacementMetrics;
  readonly queueMetrics?: ControllerOptions["queueMetrics"];
  readonly board: Pick<Board, "record">;
  readonly clock: Clock;
  readonly log: Logger;
  /** Settings for a namespace: it may be audited. */
  readonly settingsOf: (namespace: string) => PlacementSettings;
  readonly configsOf: (namespace: string) => PlacementConfigs;
  readonly liveArchitectures: () => readonly string[] | undefined;
  /** A number in 0..1, new at each call. */
  readonly random: () => number;
  readonly workers: number;
}
