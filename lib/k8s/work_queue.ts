// Keys to reconcile: one reconcile per key at a time, soonest first, with backoff, and flows in turn.
import { backoffMs, type Clock, untilAborted } from "../clock.ts";
import { errorText, type Logger } from "../log.ts";
import { DueHeap, type DueKey } from "./due_heap.ts";
import { FlowCounts } from "./flow_counts.ts";
import { ReadyKeys } from "./ready_keys.ts";

export type ReconcileResult =
  | { readonly kind: "done" }
  /** Reconcile again after this time, or earlier when the key is added. `urgentAfterMs`: see {@link AddOptions}. */
  | { readonly kind: "requeue"; readonly afterMs: number; readonly urgentAfterMs?: number | undefined };

export interface AddOptions {
  /** After this time a due key is urgent: it goes before others and may take a reserved worker. */
  readonly urgentAfterMs?: number | undefined;
}

export interface ReconcileSample {
  readonly outcome: ReconcileResult["kind"] | "failed";
  readonly waitMs: number;
  readonly workMs: number;
}

/** Receives a queue's metrics, with the meaning of client-go's work queue metrics. */
export interface QueueMetrics {
  added(): void;
  depth(keys: number): void;
  finished(sample: ReconcileSample): void;
}

export interface WorkQueueOptions {
  readonly name: string;
  readonly parallel: number;
  readonly reservedForUrgent?: number;
  /** Flows, mostly one for each namespace, take turns. Default: a single flow. */
  readonly flowOf?: (key: string) => string;
  /** Most keys of a flow, including delayed and running ones. Others are dropped. Default: no limit. */
  readonly maxOfFlow?: ((flow: string) => number) | undefined;
  readonly reconcile: (key: string, signal: AbortSignal) => Promise<ReconcileResult>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Wait after a key's failure, doubling with each consecutive one. Default 5 ms … 30 s. */
  readonly backoff?: { readonly baseMs: number; readonly capMs: number };
  readonly metrics?: QueueMetrics | undefined;
}

const DEFAULT_BACKOFF = { baseMs: 5, capMs: 30_000 } as const;

/** A heap with more times than two per key and this many is cleaned of superseded times. */
const MAX_SUPERSEDED = 1_000;

/** `dueMs` of a running key: when to run it again. `urgentFromMs`: when it becomes urgent. Infinity: never. */
interface QueuedKey {
  state: "delayed" | "ready" | "running";
  dueMs: number;
  urgentFromMs: number;
  failures: number;
}

/** A key that is added while it runs is run again. Of two due times the earlier counts. A stopped queue keeps keys. */
export class WorkQueue {
  readonly #options: WorkQueueOptions;
  readonly #entries = new Map<string, QueuedKey>();
  readonly #delayed = new DueHeap();
  readonly #ready = new ReadyKeys();
  readonly #flows: FlowCounts;
  readonly #flowOf: (key: string) => string;
  #running = 0;
  #signal: AbortSignal | undefined;
  #timer: { readonly dueMs: number; readonly stop: AbortController } | undefined;
  #pumpIsScheduled = false;
  #idle: PromiseWithResolvers<void> | undefined;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
    this.#flowOf = options.flowOf ?? (() => "");
    this.#flows = new FlowCounts(options);
  }

  get depth(): number {
    return this.#ready.size;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Makes a key due now. Never blocks, and returns before any reconcile. */
  add(key: string, { urgentAfterMs = Infinity }: AddOptions = {}): void {
    const dueMs = this.#options.clock.monotonicMs();
    const entry = this.#entries.get(key);
    const urgentFromMs = Math.min(entry?.urgentFromMs ?? Infinity, dueMs + urgentAfterMs);
    if (entry === undefined) {
      if (!this.#flows.enter(this.#flowOf(key))) return;
      this.#delay(key, { state: "delayed", dueMs, urgentFromMs, failures: 0 });
    } else {
      if (entry.state === "ready" && urgentFromMs < entry.urgentFromMs) this.#wakeAt({ key, dueMs: urgentFromMs });
      entry.urgentFromMs = urgentFromMs;
      if (entry.state === "running") entry.dueMs = Math.min(entry.dueMs, dueMs);
      else if (entry.state === "delayed" && dueMs < entry.dueMs) this.#delay(key, { ...entry, dueMs });
    }
    this.#schedulePump();
  }

  /** Reconciles until the signal aborts, then awaits running reconciles. May be called again later. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#signal !== undefined) {
      throw new Error(`Cannot run queue "${this.#options.name}": it is running already. Abort the first run before.`);
    }
    if (signal.aborted) return;
    this.#signal = signal;
    this.#schedulePump();
    await untilAborted(signal);
    this.#timer?.stop.abort();
    this.#timer = undefined;
    if (this.#running > 0) {
      this.#idle = Promise.withResolvers();
      await this.#idle.promise;
    }
    this.#signal = undefined;
  }

  #delay(key: string, entry: QueuedKey): void {
    this.#entries.set(key, entry);
    this.#wakeAt({ key, dueMs: entry.dueMs });
  }

  #wakeAt(item: DueKey): void {
    this.#delayed.push(item);
    if (this.#delayed.size <= 2 * this.#entries.size + MAX_SUPERSEDED) return;
    this.#delayed.keepOnly((other) => this.#isCurrent(other));
  }

  /** Batches the adds of one turn into one pump, so that no reconcile starts inside `add`. */
  #schedulePump(): void {
    if (this.#pumpIsScheduled) return;
    this.#pumpIsScheduled = true;
    queueMicrotask(() => {
      this.#pumpIsScheduled = false;
      this.#pump();
    });
  }

  #pump(): void {
    this.#promoteDueKeys();
    const signal = this.#signal;
    if (signal !== undefined && !signal.aborted) {
      for (let key = this.#takeReady(); key !== undefined; key = this.#takeReady()) void this.#work(key, signal);
      this.#armTimer(signal);
    }
    this.#options.metrics?.depth(this.#ready.size);
    if (this.#running > 0) return;
    this.#idle?.resolve();
    this.#idle = undefined;
  }

  #takeReady(): string | undefined {
    const { parallel, reservedForUrgent = 0 } = this.#options;
    if (this.#running < parallel) return this.#ready.take("any");
    return this.#running < parallel + reservedForUrgent ? this.#ready.take("urgent") : undefined;
  }

  /** Moves due keys to the ready ones, and ready keys that became urgent to the front. */
  #promoteDueKeys(): void {
    const { clock, metrics } = this.#options;
    const nowMs = clock.monotonicMs();
    for (let next = this.#delayed.peek(); next !== undefined && next.dueMs <= nowMs; next = this.#delayed.peek()) {
      this.#delayed.pop();
      const entry = this.#entries.get(next.key);
      if (entry === undefined || !this.#isCurrent(next)) continue;
      const priority = entry.urgentFromMs <= nowMs ? "urgent" : "normal";
      if (entry.state === "delayed") metrics?.added();
      entry.state = "ready";
      this.#ready.add(next.key, { flow: this.#flowOf(next.key), priority });
      if (priority === "normal" && entry.urgentFromMs < Infinity) {
        this.#wakeAt({ key: next.key, dueMs: entry.urgentFromMs });
      }
    }
  }

  /** Whether a time in the heap is its key's current one: superseded times stay in the heap for a while. */
  #isCurrent({ key, dueMs }: DueKey): boolean {
    const entry = this.#entries.get(key);
    if (entry?.state === "delayed") return entry.dueMs === dueMs;
    return entry?.state === "ready" && entry.urgentFromMs === dueMs;
  }

  #armTimer(signal: AbortSignal): void {
    const next = this.#delayed.peek();
    if (next === undefined || (this.#timer !== undefined && this.#timer.dueMs <= next.dueMs)) return;
    this.#timer?.stop.abort();
    const timer = { dueMs: next.dueMs, stop: new AbortController() };
    this.#timer = timer;
    const { clock } = this.#options;
    void clock.sleep(Math.max(0, next.dueMs - clock.monotonicMs()), timer.stop.signal).then(() => {
      if (this.#timer !== timer || signal.aborted) return;
      this.#timer = undefined;
      this.#pump();
    });
  }

  async #work(key: string, signal: AbortSignal): Promise<void> {
    const { clock, metrics } = this.#options;
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#running++;
    const startedMs = clock.monotonicMs();
    const waitMs = startedMs - entry.dueMs;
    const { urgentFromMs } = entry;
    Object.assign(entry, { state: "running", dueMs: Infinity, urgentFromMs: Infinity });
    const result = await this.#reconcile(key, { entry, signal });
    const endedMs = clock.monotonicMs();
    entry.dueMs = Math.min(entry.dueMs, endedMs + result.afterMs);
    const urgentMs = result.outcome === "failed" ? urgentFromMs : endedMs + result.urgentAfterMs;
    entry.urgentFromMs = Math.min(entry.urgentFromMs, urgentMs);
    this.#running--;
    metrics?.finished({ outcome: result.outcome, waitMs, workMs: endedMs - startedMs });
    if (entry.dueMs === Infinity) {
      this.#entries.delete(key);
      this.#flows.leave(this.#flowOf(key));
    } else this.#delay(key, { ...entry, state: "delayed" });
    this.#schedulePump();
  }

  async #reconcile(
    key: string,
    { entry, signal }: { readonly entry: QueuedKey; readonly signal: AbortSignal },
  ): Promise<Reconciled> {
    const { reconcile, log, name, backoff = DEFAULT_BACKOFF } = this.#options;
    try {
      const outcome = await reconcile(key, signal);
      entry.failures = 0;
      return timesOf(outcome);
    } catch (error) {
      const failures = ++entry.failures;
      const afterMs = backoffMs(failures, backoff);
      const fields = { queue: name, key, failures, retryMs: Math.round(afterMs), error: errorText(error) };
      if (!signal.aborted) log.warn("reconcile failed", fields);
      return { outcome: "failed", afterMs, urgentAfterMs: Infinity };
    }
  }
}

interface Reconciled {
  readonly outcome: ReconcileSample["outcome"];
  readonly afterMs: number;
  readonly urgentAfterMs: number;
}

function timesOf(outcome: ReconcileResult): Reconciled {
  if (outcome.kind === "done") return { outcome: "done", afterMs: Infinity, urgentAfterMs: Infinity };
  const { afterMs, urgentAfterMs = Infinity } = outcome;
  return { outcome: "requeue", afterMs: Math.max(0, afterMs), urgentAfterMs };
}
