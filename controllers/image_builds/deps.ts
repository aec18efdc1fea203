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
  /** With an empty image of the builder where {@link findBuilder} is to find it. */
  readonly settings: BuildSettings;
  /** The images of the machine config operator. */
  readonly findBuilder: (signal: AbortSignal) => Promise<Pick<BuildSettings, "builder" | "digestWriter">>;
  readonly queueMetrics?: ControllerOptions["queueMetrics"];
}
