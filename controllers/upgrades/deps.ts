// The dependencies of the upgrades controller: the API server, and functions for everything else.
import type { KubeApi, ReadApi } from "../../lib/k8s/api.ts";
import type { EventRecorder } from "../../lib/k8s/event_recorder.ts";
import type { OsImages } from "../../lib/upgrades/cluster/os_images.ts";
import type { Outside } from "../../lib/upgrades/outside/outside.ts";
import type { OutsideContext } from "../../lib/upgrades/outside/outside_readers.ts";
import type { NotReadyNode } from "../../lib/upgrades/decide/types/cluster.ts";
import type { UpgradeMetrics } from "../../lib/upgrades/metrics.ts";
import type { ControllerDeps } from "../controller.ts";

export type AdviseOnWorkloads = (signal: AbortSignal) => Promise<readonly string[]>;

/** The inputs of readings. The functions answer from memory. */
export interface ReadContext extends OutsideContext {
  readonly osImages: OsImages;
  /** Advice about the cluster's workloads; undefined during the inspection. */
  readonly workloads: () => readonly string[] | undefined;
  /** Nodes that were not Ready at the last check of drains. */
  readonly notReadyNodes: () => readonly NotReadyNode[];
}

export interface UpgradesDeps extends ControllerDeps {
  readonly readApi: ReadApi;
  readonly api: KubeApi;
  readonly outside: Outside;
  readonly gauges: Pick<UpgradeMetrics, "set" | "clear" | "clearGroup">;
  readonly events: EventRecorder;
  /** Called once after a migration has converged. */
  readonly adviseOnWorkloads: AdviseOnWorkloads;
  readonly namespace: string;
}
