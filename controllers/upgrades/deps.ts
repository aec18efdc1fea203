// What the upgrades controller works with: the API server, and what lies outside of it behind functions.
import type { Clock } from "../../lib/clock.ts";
import type { KubeApi, ReadApi } from "../../lib/k8s/api.ts";
import type { EventRecorder } from "../../lib/k8s/event_recorder.ts";
import type { Logger } from "../../lib/log.ts";
import type { ClusterReader } from "../../lib/upgrading/cluster/cluster_reader.ts";
import type { OsImages } from "../../lib/upgrading/cluster/os_images.ts";
import type { Notification, SilenceSpec, UpgradeMetric } from "../../lib/upgrades/types/effects.ts";
import type { Base, Reading, Readings } from "../../lib/upgrades/types/observed.ts";
import type { UpgradeConfig } from "../../lib/upgrades/types/plan.ts";
import type { ControllerOptions } from "../controller.ts";

/** Runs until its signal aborts. */
export interface Runnable {
  run(signal: AbortSignal): Promise<void>;
}

/** Reads one thing; rejects with the reason where it cannot. */
export type Readers<Names extends Reading = Reading> = {
  readonly [Name in Names]: () => Promise<Readings[Name]>;
};

/** What is not read from the API server, or by more than one collection of it. */
export type OutsideReading =
  | "silences"
  | "health"
  | "healthAfter"
  | "dependencies"
  | "graph"
  | "payload"
  | "policy"
  | "alertsDuring";

/** What one reconcile reads from and for. */
export interface ReadScope {
  /** undefined where the plan is gone, or something of it could not be read: then only what may be left of it is. */
  readonly base: Base | undefined;
  readonly reader: ClusterReader;
  readonly osImages: OsImages;
  /** By the clock of the API server. */
  readonly nowMs: number;
  readonly signal: AbortSignal;
}

/** The gauges of upgrades. */
export interface UpgradeGauges {
  set(metric: UpgradeMetric, labels: Readonly<Record<string, string>>, value: number): void;
  clear(metric: UpgradeMetric): void;
  clearGroup(group: "ephemeral" | "failure"): void;
}

/** What lies outside of the API server. */
export interface Outside {
  readonly readers: (scope: ReadScope) => Readers<OutsideReading>;
  readonly createSilence: (silence: SilenceSpec, signal: AbortSignal) => Promise<void>;
  readonly endSilence: (id: string, signal: AbortSignal) => Promise<void>;
  /** Sends to every sink; one that has it does not get it twice. Rejects when one does not have it. */
  readonly notify: (notification: Notification, plan: UpgradeConfig, signal: AbortSignal) => Promise<void>;
}

/** What the controller is made of. */
export interface UpgradesDeps {
  readonly readApi: ReadApi;
  /** Writes fail once the Lease has run out. */
  readonly api: KubeApi;
  readonly outside: Outside;
  readonly gauges: UpgradeGauges;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Logger;
  /** What is worth knowing of the cluster's workloads after a migration, one sentence each; absent: nothing is said. */
  readonly adviseOnWorkloads?: ((signal: AbortSignal) => Promise<readonly string[]>) | undefined;
  /** Where the plan and its settings are. */
  readonly namespace: string;
  readonly queueMetrics?: ControllerOptions["queueMetrics"];
}
