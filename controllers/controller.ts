// The one shape of a controller: watches add keys, a queue reconciles them, and both run until the signal aborts.
//
//   watch ─▶ key ─▶ read from the reflector ─▶ gather ─▶ decide (lib, pure) ─▶ apply ─▶ report
import type { Clock } from "../lib/clock.ts";
import {
  type AddOptions,
  type QueueMetrics,
  type ReconcileResult,
  WorkQueue,
  type WorkQueueOptions,
} from "../lib/k8s/work_queue.ts";
import type { PodImages } from "../lib/images/pods/pod_images.ts";
import type { Logger } from "../lib/log.ts";
import type { PlacementConfigs, PlacementSettings } from "../lib/placement/decide/config/types.ts";

/** Anything that works until its signal aborts, and never rejects. */
export interface Runnable {
  run(signal: AbortSignal): Promise<void>;
}

export interface ControllerDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly queueMetrics?: ((name: string) => QueueMetrics) | undefined;
}

/** For a controller that places pods, or judges where they are. The functions answer at once, from memory. */
export interface PlacingDeps extends ControllerDeps {
  readonly images: PodImages;
  readonly settingsOf: (namespace: string) => PlacementSettings;
  readonly configsOf: (namespace: string) => PlacementConfigs;
  readonly liveArchitectures: () => readonly string[] | undefined;
}

export interface ControllerOptions extends ControllerDeps {
  /** In log lines, and the label `name` of the queue's metrics. */
  readonly name: string;
  /** Run beside the queue; their callbacks enqueue keys. */
  readonly watches: readonly Runnable[];
  /** Brings the object of a key to what it should be. A thrown error requeues the key with backoff. */
  readonly reconcile: (key: string, signal: AbortSignal) => Promise<ReconcileResult>;
  /** Added at the beginning of each run; for a key that no watch adds. */
  readonly firstKey?: string;
  readonly parallel: number;
  readonly queue?: Pick<WorkQueueOptions, "backoff" | "groupOf" | "maxOfGroup" | "reservedForUrgent">;
}

/** A controller. One run at a time; keys that were added while it did not run are taken up by the next run. */
export interface Controller {
  enqueue(key: string, options?: AddOptions): void;
  /** Works until the signal aborts; never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

export interface QueuedController extends Controller {
  /** Keys that are due and wait for a free worker. */
  readonly depth: number;
  readonly isBusy: boolean;
}

export const DONE: ReconcileResult = { kind: "done" };

/** Reconcile the key again after this time (ms), or when it is added, whichever is first. */
export function requeueAfter(afterMs: number): ReconcileResult {
  return { kind: "requeue", afterMs };
}

/** No request is sent to the API server before `run`. */
export function openController(options: ControllerOptions): QueuedController {
  const { name, watches, firstKey, reconcile, parallel, clock, log, queueMetrics } = options;
  const queue = new WorkQueue({
    ...options.queue,
    name,
    parallel,
    reconcile,
    clock,
    log,
    metrics: queueMetrics?.(name),
  });
  return {
    enqueue: (key, how) => queue.add(key, how),
    get depth() {
      return queue.depth;
    },
    get isBusy() {
      return queue.isBusy;
    },
    run: async (signal) => {
      if (firstKey !== undefined) queue.add(firstKey);
      await Promise.all([queue.run(signal), ...watches.map((watch) => watch.run(signal))]);
    },
  };
}
