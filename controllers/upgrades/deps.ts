// What the upgrades controller works with: the API server, and functions for everything outside of it.
import type { KubeApi, ReadApi } from "../../lib/k8s/api.ts";
import type { EventRecorder } from "../../lib/k8s/event_recorder.ts";
import type { OsImages } from "../../lib/upgrades/cluster/os_images.ts";
import type { Outside } from "../../lib/upgrades/outside/outside.ts";
import type { OutsideScope } from "../../lib/upgrades/outside/outside_readers.ts";
import type { NotReadyNode } from "../../lib/upgrades/decide/types/cluster.ts";
import type { UpgradeMetrics } from "../../lib/upgrades/metrics.ts";
import type { ControllerDeps } from "../controller.ts";

export type AdviseOnWorkloads = (signal: AbortSignal) => Promise<readonly string[]>;

/** What readings are made from. The functions answer from memory, without a request. */
export interface ReadScope extends OutsideScope {
  readonly osImages: OsImages;
  /** What is worth knowing of the cluster's workloads; undefined while they are looked at. */
  readonly workloads: () => readonly string[] | undefined;
  /** Nodes that were not Ready when drains were checked last. */
  readonly notReadyNodes: () => readonly NotReadyNode[];
}

export interface UpgradesDeps extends ControllerDeps {
  readonly readApi: ReadApi;
  readonly api: KubeApi;
  readonly outside: Outside;
  readonly gauges: Pick<UpgradeMetrics, "set" | "clear" | "clearGroup">;
  readonly events: EventRecorder;
  /** Called once, when a migration has converged. */
  readonly adviseOnWorkloads: AdviseOnWorkloads;
  readonly namespace: string;
}
