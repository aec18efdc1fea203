// Keys to reconcile: each at most once at a time, soonest first, failures backed off, groups of keys in turn.
import { backoffMs, type Clock, untilAborted } from "../clock.ts";
import { errorText, type Logger } from "../log.ts";
import { unreachable } from "../parsed.ts";
import { DueHeap, type DueKey } from "./due_heap.ts";
import { GroupCounts, ReadyKeys } from "./ready_keys.ts";

export type ReconcileResult =
  | { readonly kind: "done" }
  /** Reconcile again after this time, or when the key is added, whichever is first. `urgentAfterMs`: see {@link AddOptions}. */
  | { readonly kind: "requeue"; readonly afterMs: number; readonly urgentAfterMs?: number | undefined };

export interface AddOptions {
  /** After this time the key, once it is due, goes before all that are not urgent and may take a reserved worker. */
  readonly urgentAfterMs?: number | undefined;
}

export interface ReconcileSample {
  readonly outcome: ReconcileResult["kind"] | "failed";
  readonly waitMs: number;
  readonly workMs: number;
}

/** Where a queue reports, with the meaning that the work queue metrics of client-go have. */
export interface QueueMetrics {
  added(): void;
  depth(keys: number): void;
  finished(sample: ReconcileSample): void;
}

export interface WorkQueueOptions {
  readonly name: string;
  readonly parallel: number;
  readonly reservedForUrgent?: number;
  /** Keys of one group take turns with those of others. Default: all are one group. */
  readonly groupOf?: (key: string) => string;
  /** Keys of a group that are kept, delayed and running ones included: more are left out. Default: any number. */
  readonly maxOfGroup?: ((group: string) => number) | undefined;
  readonly reconcile: (key: string, signal: AbortSignal) => Promise<ReconcileResult>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Wait after a failure of a key, doubling with each one in a row. Default 5 ms … 30 s. */
  readonly backoff?: { readonly baseMs: number; readonly capMs: number };
  readonly metrics?: QueueMetrics | undefined;
}

const DEFAULT_BACKOFF = { baseMs: 5, capMs: 30_000 } as const;

/** Superseded times that the heap may hold, beside two for each key, before they are removed. */
const MAX_SUPERSEDED = 1_000;

/** `dueMs` of a running key: when it must run once more. `urgentFromMs`: when it becomes urgent. Infinity: never. */
interface Entry {
  place: "delayed" | "ready" | "running";
  dueMs: number;
  urgentFromMs: number;
  failures: number;
}

/** A key that is added while it runs is run again; of two times the earlier wins. Keys stay while the queue does not run. */
export class WorkQueue {
  readonly #options: WorkQueueOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #delayed = new DueHeap();
  readonly #ready = new ReadyKeys();
  readonly #groups: GroupCounts;
  readonly #groupOf: (key: string) => string;
  #running = 0;
  #signal: AbortSignal | undefined;
  #timer: { readonly dueMs: number; readonly stop: AbortController } | undefined;
  #pumpIsScheduled = false;
  #idle: PromiseWithResolvers<void> | undefined;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
    this.#groupOf = options.groupOf ?? (() => "");
    this.#groups = new GroupCounts(options);
  }

  get depth(): number {
    return this.#ready.size;
  }

  get isBusy(): boolean {
    return this.#running > 0 || this.#ready.size > 0;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Makes a key due now. Never blocks, and never reconciles before it returns. */
  add(key: string, options: AddOptions = {}): void {
    this.addAfter(key, 0, options);
  }

  addAfter(key: string, ms: number, { urgentAfterMs = Infinity }: AddOptions = {}): void {
    const nowMs = this.#options.clock.monotonicMs();
    const dueMs = nowMs + Math.max(0, ms);
    const entry = this.#entries.get(key);
    const urgentFromMs = Math.min(entry?.urgentFromMs ?? Infinity, nowMs + urgentAfterMs);
    if (entry === undefined) {
      if (!this.#groups.enter(this.#groupOf(key))) return;
      this.#delay(key, { place: "delayed", dueMs, urgentFromMs, failures: 0 });
    } else {
      if (entry.place === "ready" && urgentFromMs < entry.urgentFromMs) this.#wakeAt({ key, dueMs: urgentFromMs });
      entry.urgentFromMs = urgentFromMs;
      if (entry.place === "running") entry.dueMs = Math.min(entry.dueMs, dueMs);
      else if (entry.place === "delayed" && dueMs < entry.dueMs) this.#delay(key, { ...entry, dueMs });
    }
    this.#schedulePump();
  }

  /** Reconciles until the signal aborts; resolves when those under way have ended. May be called again later. */
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

  #delay(key: string, entry: Entry): void {
    this.#entries.set(key, entry);
    this.#wakeAt({ key, dueMs: entry.dueMs });
  }

  #wakeAt(item: DueKey): void {
    this.#delayed.push(item);
    if (this.#delayed.size <= 2 * this.#entries.size + MAX_SUPERSEDED) return;
    this.#delayed.keepOnly((other) => this.#counts(other));
  }

  /** Many adds of one turn are one pump; no reconcile starts inside of `add`. */
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

  /** Delayed keys whose time has come are ready; ready ones whose urgency has come go to the front. */
  #promoteDueKeys(): void {
    const { clock, metrics } = this.#options;
    const nowMs = clock.monotonicMs();
    for (let next = this.#delayed.peek(); next !== undefined && next.dueMs <= nowMs; next = this.#delayed.peek()) {
      this.#delayed.pop();
      const entry = this.#entries.get(next.key);
      if (entry === undefined || !this.#counts(next)) continue;
      const priority = entry.urgentFromMs <= nowMs ? "urgent" : "normal";
      if (entry.place === "delayed") metrics?.added();
      entry.place = "ready";
      this.#ready.add(next.key, { group: this.#groupOf(next.key), priority });
      if (priority === "normal" && entry.urgentFromMs < Infinity) {
        this.#wakeAt({ key: next.key, dueMs: entry.urgentFromMs });
      }
    }
  }

  /** Whether a time in the heap still counts: superseded ones stay in it for a while. */
  #counts({ key, dueMs }: DueKey): boolean {
    const entry = this.#entries.get(key);
    if (entry?.place === "delayed") return entry.dueMs === dueMs;
    return entry?.place === "ready" && entry.urgentFromMs === dueMs;
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
    Object.assign(entry, { place: "running", dueMs: Infinity, urgentFromMs: Infinity });
    const result = await this.#reconcile(key, { entry, signal });
    const endedMs = clock.monotonicMs();
    entry.dueMs = Math.min(entry.dueMs, endedMs + result.afterMs);
    const urgentMs = result.outcome === "failed" ? urgentFromMs : endedMs + result.urgentAfterMs;
    entry.urgentFromMs = Math.min(entry.urgentFromMs, urgentMs);
    this.#running--;
    metrics?.finished({ outcome: result.outcome, waitMs, workMs: endedMs - startedMs });
    if (entry.dueMs === Infinity) {
      this.#entries.delete(key);
      this.#groups.leave(this.#groupOf(key));
    } else this.#delay(key, { ...entry, place: "delayed" });
    this.#schedulePump();
  }

  async #reconcile(
    key: string,
    { entry, signal }: { readonly entry: Entry; readonly signal: AbortSignal },
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
  switch (outcome.kind) {
    case "done":
      return { outcome: "done", afterMs: Infinity, urgentAfterMs: Infinity };
    case "requeue": {
      const { afterMs, urgentAfterMs = Infinity } = outcome;
      return { outcome: "requeue", afterMs: Math.max(0, afterMs), urgentAfterMs };
    }
    default:
      return unreachable(outcome);
  }
}
