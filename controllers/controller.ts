// The one shape of a controller: watches add keys, a queue reconciles them, and both run until the signal aborts.
//
//   watch ─▶ key ─▶ read from the informer ─▶ gather ─▶ decide (lib, pure) ─▶ apply ─▶ report
import type { Clock } from "../lib/clock.ts";
import {
  type AddOptions,
  type ReconcileOutcome,
  type ReconcileSample,
  WorkQueue,
  type WorkQueueOptions,
} from "../lib/k8s/work_queue.ts";
import type { Logger } from "../lib/log.ts";

/** What a controller is made of. */
export interface ControllerOptions {
  /** For log lines and as the metrics' label. */
  readonly name: string;
  /** Run beside the queue; their callbacks enqueue keys. */
  readonly watches: readonly { run(signal: AbortSignal): Promise<void> }[];
  /** Brings the object of a key to what it should be. A thrown error means: again, after a backoff. */
  readonly reconcile: (key: string, signal: AbortSignal) => Promise<ReconcileOutcome>;
  /** Keys reconciled at a time. */
  readonly parallel: number;
  /** How its queue differs from the usual. */
  readonly queue?: Pick<WorkQueueOptions, "backoff" | "groupOf" | "reservedForUrgent">;
  readonly clock: Clock;
  readonly log: Logger;
  /** Hears of each finished reconcile. */
  readonly observe?: ((controller: string, sample: ReconcileSample) => void) | undefined;
}

/** A controller. One run at a time; keys that were added while it did not run are taken up by the next run. */
export interface Controller {
  enqueue(key: string, options?: AddOptions): void;
  /** Works until the signal aborts; never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

/** A controller whose queue can be looked at. */
export interface QueuedController extends Controller {
  /** Keys that are due and wait for a free place. */
  readonly depth: number;
  /** Whether a key is reconciled or due. */
  readonly isBusy: boolean;
}

/** Nothing more to do until the key is added again. */
export const DONE: ReconcileOutcome = { kind: "done" };

/** Look again after this time (ms), or when the key is added, whichever is first. */
export function again(afterMs: number): ReconcileOutcome {
  return { kind: "again", afterMs };
}

/** Makes the controller. Nothing is asked of the API server before `run`. */
export function openController(options: ControllerOptions): QueuedController {
  const { name, watches, reconcile, parallel, clock, log, observe } = options;
  const queue = new WorkQueue({
    ...options.queue,
    name,
    parallel,
    reconcile,
    clock,
    log,
    ...(observe === undefined ? {} : { observe: (sample) => observe(name, sample) }),
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
      await Promise.all([queue.run(signal), ...watches.map((watch) => watch.run(signal))]);
    },
  };
}
