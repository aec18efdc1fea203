// What the exec format error monitor is made with: clients, and what it reads from the rest of the process.
import type { PodImages } from "../../lib/images/pods/pod_images.ts";
import type { KubeApi } from "../../lib/k8s/api.ts";
import type { ReportedContainers } from "../../lib/exec_format/reported.ts";
import type { EventRecorder } from "../../lib/k8s/event_recorder.ts";
import type { ExecFormatMetrics } from "../../lib/exec_format/metrics.ts";
import type { PodView } from "../../lib/placement/decide/types.ts";
import type { PlacingDeps } from "../controller.ts";

export interface ExecFormatSettings {
  /** Archway's own, where ENoExecEvents are. */
  readonly namespace: string;
  readonly watchesPods: boolean;
  /** Whether pods are evicted that their owners would make again and Archway would place elsewhere. */
  readonly repairs: boolean;
}

export interface ExecFormatDeps extends PlacingDeps {
  readonly api: KubeApi;
  /** What pods are placed by: it may leave out architectures on which an image has failed. */
  readonly imagesToPlace: PodImages;
  readonly events: Pick<EventRecorder, "record">;
  readonly metrics: ExecFormatMetrics;
  readonly settings: ExecFormatSettings;
  /** Whether there may be ENoExecEvents: the plugin is on, or is on its way out. */
  readonly isMonitored: () => boolean;
  readonly onChange: (listener: () => void) => void;
  readonly isGating: () => boolean;
  readonly reported: ReportedContainers;
}

export interface ExecFormatRun extends ExecFormatDeps {
  /** Called with a pod that runs a program of another architecture than this one. Cheap. */
  readonly considerRepair: (pod: PodView, architecture: string) => void;
  readonly signal: AbortSignal;
}
