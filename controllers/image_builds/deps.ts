// What the controller of image builds works with.
import type { RepositoriesDeps } from "../../lib/assemble/repositories.ts";
import type { BuildMetrics } from "../../lib/build_metrics.ts";
import type { Clock } from "../../lib/clock.ts";
import type { BuildSettings } from "../../lib/image_builds/settings.ts";
import type { KubeApi } from "../../lib/k8s/api.ts";
import type { EventRecorder } from "../../lib/k8s/event_recorder.ts";
import type { Logger } from "../../lib/log.ts";
import type { ControllerOptions } from "../controller.ts";

/** Clients, and what is configured. */
export interface ImageBuildsDeps {
  /** Writes only while this replica leads. */
  readonly api: KubeApi;
  readonly access: RepositoriesDeps["access"];
  readonly events: EventRecorder;
  readonly metrics: BuildMetrics;
  readonly clock: Clock;
  readonly log: Logger;
  /** With empty images where {@link findBuilder} is to find them. */
  readonly settings: BuildSettings;
  /** The image of the machine config operator; empty where nothing names it. */
  readonly findBuilder: (signal: AbortSignal) => Promise<string>;
  readonly queueMetrics?: ControllerOptions["queueMetrics"];
}
