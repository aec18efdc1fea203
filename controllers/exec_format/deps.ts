// The dependencies of the controller of exec format errors: clients and state of the process.
import type { PodImageInspector } from "../../lib/placement/images/pod_image_inspector.ts";
import type { KubeApi } from "../../lib/k8s/api.ts";
import type { ReportedContainers } from "../../lib/exec_format/reported.ts";
import type { EventRecorder } from "../../lib/k8s/event_recorder.ts";
import type { ExecFormatMetrics } from "../../lib/exec_format/metrics.ts";
import type { PodView } from "../../lib/placement/decide/pod/pod_view.ts";
import type { PlacementControllerDeps } from "../controller.ts";

export interface ExecFormatSettings {
  /** Archway's own namespace, which holds the ENoExecEvents. */
  readonly namespace: string;
  readonly watchesPods: boolean;
  /** Whether to evict pods that their owners would recreate and Archway would place elsewhere. */
  readonly repairs: boolean;
}

export interface ExecFormatDeps extends PlacementControllerDeps {
  readonly api: KubeApi;
  /** Inspects images as placement does, which may exclude architectures on which an image failed. */
  readonly imagesToPlace: PodImageInspector;
  readonly events: Pick<EventRecorder, "record">;
  readonly metrics: ExecFormatMetrics;
  readonly settings: ExecFormatSettings;
  /** Whether ENoExecEvents may exist: the plugin is on or being removed. */
  readonly isMonitored: () => boolean;
  readonly onChange: (listener: () => void) => void;
  readonly isGating: () => boolean;
  readonly reported: ReportedContainers;
}

export interface ExecFormatRun extends ExecFormatDeps {
  /** Called with a pod that runs a program for another architecture than this one. Cheap. */
  readonly considerRepair: (pod: PodView, architecture: string) => void;
  readonly signal: AbortSignal;
}
