// Keys to reconcile: each at most once at a time, soonest first, failures backed off. One queue a controller.
import { backoffMs, type Clock } from "../clock.ts";
import { errorText, type Logger } from "../log.ts";
import { unreachable } from "../unreachable.ts";
import { DueHeap, type DueKey } from "./due_heap.ts";

/** What a reconcile of a key came to. A thrown error means: again, after a backoff. */
export type ReconcileOutcome =
  /** Nothing more to do until the key is added again. */
  | { readonly kind: "done" }
  /** Look again after this time, or when the key is added, whichever is first. */
  | { readonly kind: "again"; readonly afterMs: number };

/** One finished reconcile, for metrics. */
export interface ReconcileSample {
  readonly outcome: ReconcileOutcome["kind"] | "failed";
  /** From when the key was due until its reconcile started. */
  readonly waitMs: number;
  readonly workMs: number;
}

/** What a queue needs. */
export interface WorkQueueOptions {
  /** For log lines. */
  readonly name: string;
  /** Keys reconciled at a time. */
  readonly parallel: number;
  readonly reconcile: (key: string, signal: AbortSignal) => Promise<ReconcileOutcome>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Wait after a failure of a key, doubling with each one in a row. Default 5 ms … 30 s. */
  readonly backoff?: { readonly baseMs: number; readonly capMs: number };
  readonly observe?: (sample: ReconcileSample) => void;
}

const DEFAULT_BACKOFF = { baseMs: 5, capMs: 30_000 } as const;

/** Replaced times that may stay in the heap beside as many as there are keys, before they are swept out. */
const SUPERSEDED_MAX = 1_000;

/** State of a key in the queue. `dueMs` of a running key: when it must run once more, Infinity when it need not. */
interface Entry {
  place: "delayed" | "ready" | "running";
  dueMs: number;
  failures: number;
}

/**
 * A keyed queue. A key that is added while it waits is not added twice; one that is added while it runs is run again
 * afterwards; of two times for a key the earlier wins. Keys stay while nobody runs the queue.
 */
export class WorkQueue {
  readonly #options: WorkQueueOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #delayed = new DueHeap();
  /** Keys ready to run, oldest first. A Set keeps the order and removes from the front at no cost. */
  readonly #ready = new Set<string>();
  #running = 0;
  #signal: AbortSignal | undefined;
  #timer: { readonly dueMs: number; readonly stop: AbortController } | undefined;
  #pumpIsScheduled = false;
  #idle: PromiseWithResolvers<void> | undefined;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
  }

  /** Keys that are due and wait for a free place. */
  get depth(): number {
    return this.#ready.size;
  }

  /** Whether a key is being worked on or waits for a free place. */
  get isBusy(): boolean {
    return this.#running > 0 || this.#ready.size > 0;
  }

  /** Keys that the queue knows: delayed, ready and running. */
  get size(): number {
    return this.#entries.size;
  }

  /** Makes a key due now. Never blocks, never runs the reconcile in the caller's turn. */
  add(key: string): void {
    this.addAfter(key, 0);
  }

  /** Makes a key due after a time, unless it is due earlier already. */
  addAfter(key: string, ms: number): void {
    const dueMs = this.#options.clock.monotonicMs() + Math.max(0, ms);
    const entry = this.#entries.get(key);
    if (entry === undefined) this.#place(key, { place: "delayed", dueMs, failures: 0 });
    else if (entry.place === "running") entry.dueMs = Math.min(entry.dueMs, dueMs);
    else if (entry.place === "delayed" && dueMs < entry.dueMs) this.#place(key, { ...entry, dueMs });
    this.#schedulePump();
  }

  /**
   * Reconciles keys until the signal aborts; resolves when those under way have ended. The signal reaches each of them.
   * May be called again later: what is left in the queue is then taken up.
   */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#signal !== undefined) {
      throw new Error(`Cannot run queue "${this.#options.name}": it is running already. Abort the first run before.`);
    }
    if (signal.aborted) return;
    this.#signal = signal;
    const aborted = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    this.#schedulePump();
    await aborted;
    this.#timer?.stop.abort();
    this.#timer = undefined;
    if (this.#running > 0) await this.#whenIdle();
    this.#signal = undefined;
  }

  /**
   * Resolves when nothing is due and nothing runs (delayed keys may remain), or when the signal aborts. While nobody runs
   * the queue, what is due stays and is not waited for.
   */
  async drain(signal: AbortSignal): Promise<void> {
    const aborted = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    while (!signal.aborted && this.#isBusy()) {
      this.#schedulePump();
      await Promise.race([this.#whenIdle(), aborted]);
    }
  }

  #isBusy(): boolean {
    if (this.#running > 0) return true;
    const next = this.#delayed.peek();
    const isDue = next !== undefined && next.dueMs <= this.#options.clock.monotonicMs();
    return this.#signal?.aborted === false && (this.#ready.size > 0 || isDue);
  }

  #whenIdle(): Promise<void> {
    this.#idle ??= Promise.withResolvers();
    return this.#idle.promise;
  }

  #place(key: string, entry: Entry): void {
    this.#entries.set(key, entry);
    this.#delayed.push({ key, dueMs: entry.dueMs });
    if (this.#delayed.size <= 2 * this.#entries.size + SUPERSEDED_MAX) return;
    this.#delayed.keepOnly((item) => this.#isDelayedUntil(item));
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
      for (const key of this.#ready) {
        if (this.#running >= this.#options.parallel) break;
        this.#ready.delete(key);
        void this.#work(key, signal);
      }
      this.#armTimer(signal);
    }
    if (this.#isBusy()) return;
    this.#idle?.resolve();
    this.#idle = undefined;
  }

  #promoteDueKeys(): void {
    const nowMs = this.#options.clock.monotonicMs();
    for (let next = this.#delayed.peek(); next !== undefined && next.dueMs <= nowMs; next = this.#delayed.peek()) {
      this.#delayed.pop();
      const entry = this.#entries.get(next.key);
      if (entry === undefined || !this.#isDelayedUntil(next)) continue;
      entry.place = "ready";
      this.#ready.add(next.key);
    }
  }

  /** Whether a time in the heap still counts: those that an earlier one has replaced are left there. */
  #isDelayedUntil(item: DueKey): boolean {
    const entry = this.#entries.get(item.key);
    return entry?.place === "delayed" && entry.dueMs === item.dueMs;
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
    const { clock, reconcile, observe, log, name, backoff = DEFAULT_BACKOFF } = this.#options;
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#running++;
    const startedMs = clock.monotonicMs();
    const waitMs = startedMs - entry.dueMs;
    entry.place = "running";
    entry.dueMs = Infinity;
    let outcome: ReconcileSample["outcome"] = "failed";
    try {
      const result = await reconcile(key, signal);
      outcome = result.kind;
      entry.failures = 0;
      entry.dueMs = Math.min(entry.dueMs, dueAfter(result, clock.monotonicMs()));
    } catch (error) {
      entry.failures++;
      const delayMs = backoffMs(entry.failures, backoff);
      entry.dueMs = Math.min(entry.dueMs, clock.monotonicMs() + delayMs);
      if (!signal.aborted) {
        const fields = {
          queue: name,
          key,
          failures: entry.failures,
          retryMs: Math.round(delayMs),
          error: errorText(error),
        };
        log.warn("reconcile failed", fields);
      }
    }
    this.#running--;
    observe?.({ outcome, waitMs, workMs: clock.monotonicMs() - startedMs });
    if (entry.dueMs === Infinity) this.#entries.delete(key);
    else this.#place(key, { ...entry, place: "delayed" });
    this.#schedulePump();
  }
}

function dueAfter(outcome: ReconcileOutcome, nowMs: number): number {
  switch (outcome.kind) {
    case "done":
      return Infinity;
    case "again":
      return nowMs + Math.max(0, outcome.afterMs);
    default:
      return unreachable(outcome);
  }
}
