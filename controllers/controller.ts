// The shape of every controller: watches add keys, a queue reconciles them, and both run until the signal aborts.
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
import type { Logger } from "../lib/log.ts";
import type { PlacementSettings } from "../lib/placement/decide/config/settings.ts";
import type { PlacementConfigs } from "../lib/placement/decide/config/config.ts";
import type { PodImageInspector } from "../lib/placement/images/pod_image_inspector.ts";

/** Anything that works until its signal aborts, and never rejects. */
export interface Runnable {
  run(signal: AbortSignal): Promise<void>;
}

export interface ControllerDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly queueMetrics?: ((name: string) => QueueMetrics) | undefined;
}

/** For controllers that place pods or judge their placement. The functions answer from memory. */
export interface PlacementControllerDeps extends ControllerDeps {
  readonly images: PodImageInspector;
  readonly settingsOf: (namespace: string) => PlacementSettings;
  readonly configsOf: (namespace: string) => PlacementConfigs;
  readonly liveArchitectures: () => readonly string[] | undefined;
}

export interface ControllerOptions extends ControllerDeps {
  /** In log lines, and the label `name` of the queue's metrics. */
  readonly name: string;
  /** Run in parallel with the queue; their callbacks enqueue keys. */
  readonly watches: readonly Runnable[];
  /** Reconciles the object of a key. A thrown error requeues the key with backoff. */
  readonly reconcile: (key: string, signal: AbortSignal) => Promise<ReconcileResult>;
  /** Added at the start of each run, for a key that no watch adds. */
  readonly firstKey?: string;
  readonly parallel: number;
  readonly queue?: Pick<WorkQueueOptions, "backoff" | "flowOf" | "maxOfFlow" | "reservedForUrgent">;
}

/** A controller. One run at a time; keys added in between are handled by the next run. */
export interface Controller {
  enqueue(key: string, options?: AddOptions): void;
  /** Works until the signal aborts; never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

export interface QueuedController extends Controller {
  /** Due keys that wait for a worker. */
  readonly depth: number;
}

export const DONE: ReconcileResult = { kind: "done" };

/** Reconcile the key again after this time (ms), or earlier when it is added. */
export function requeueAfter(afterMs: number): ReconcileResult {
  return { kind: "requeue", afterMs };
}

/** Sends no request to the API server before `run`. */
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
    run: async (signal) => {
      if (firstKey !== undefined) queue.add(firstKey);
      await Promise.all([queue.run(signal), ...watches.map((watch) => watch.run(signal))]);
    },
  };
}
