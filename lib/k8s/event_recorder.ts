// Records Kubernetes events in the background: `record()` never blocks and never throws.
//
//   record ─▶ EventQueue (bounded, Warnings first) ─▶ a few workers ─▶ EventSink: create, or patch the earlier event
import { backoffMs, orAborted } from "../clock.ts";
import { errorText, type Logger } from "../log.ts";
import { ApiError } from "./api_error.ts";
import { type EventInput, queuedEventOf } from "./event_input.ts";
import { EventQueue, type WaitingEvent } from "./event_queue.ts";
import { EventSink, type EventSinkOptions } from "./event_sink.ts";

/** `dropped`: there was no room, or sending failed. `left-out`: a short-lived state, while many events waited. */
export type EventLoss = "dropped" | "left-out";

interface EventRecorderOptions extends EventSinkOptions {
  readonly log: Logger;
  readonly capacity?: number;
  readonly onLost?: (loss: EventLoss, reason: string) => void;
}

export interface EventRecorder {
  record(event: EventInput): void;
}

/** Most waiting events: two per pod of a burst of 10 000; at 1 KB each, 20 MB. */
const DEFAULT_CAPACITY = 20_000;
/** When this many events wait, those about short-lived states are omitted. */
const CROWDED = 200;
/** Events sent in parallel: enough for 100 pods a second with 3 events each, and a small share of all requests. */
const PARALLEL_EVENTS = 6;
/** Attempts per event, including the first: for about half a minute. */
const MAX_ATTEMPTS = 8;
const RETRY_BACKOFF = { baseMs: 500, capMs: 10_000 } as const;

/** Sends events as they are recorded. Dispose of it last: later events are dropped. */
export class BackgroundEventRecorder implements EventRecorder, AsyncDisposable {
  readonly #options: EventRecorderOptions;
  readonly #sink: EventSink;
  readonly #queue: EventQueue;
  readonly #closing = new AbortController();
  readonly #workers = new Set<Promise<void>>();

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#sink = new EventSink(options);
    this.#queue = new EventQueue(options.capacity ?? DEFAULT_CAPACITY);
  }

  record(event: EventInput): void {
    const { clock, onLost } = this.#options;
    if (this.#closing.signal.aborted) return onLost?.("dropped", event.reason);
    if (event.isShortLived === true && this.#queue.size >= CROWDED) {
      return onLost?.("left-out", event.reason);
    }
    const dropped = this.#queue.put(queuedEventOf(event), clock.nowMs());
    if (dropped !== undefined) onLost?.("dropped", dropped.input.reason);
    if (this.#workers.size >= PARALLEL_EVENTS) return;
    const worker: Promise<void> = this.#work().finally(() => this.#workers.delete(worker));
    this.#workers.add(worker);
  }

  async flush(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.#workers.size > 0) {
      await orAborted(Promise.all(this.#workers), signal).catch(() => {});
    }
  }

  /** Stops sending and awaits running requests. Flush first to lose nothing. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#workers);
  }

  async #work(): Promise<void> {
    // Start after `record` has returned.
    await Promise.resolve();
    while (!this.#closing.signal.aborted) {
      const event = this.#queue.take();
      if (event === undefined) return;
      if (!await this.#deliver(event)) this.#options.onLost?.("dropped", event.input.reason);
      this.#queue.finish(event.key);
    }
  }

  async #deliver(event: WaitingEvent): Promise<boolean> {
    const { clock, log } = this.#options;
    const { signal } = this.#closing;
    const { object, reason } = event.input;
    const name = this.#sink.nameFor(event.input);
    for (let attempt = 1; !signal.aborted; attempt++) {
      try {
        await this.#sink.send(event, name, signal);
        return true;
      } catch (error) {
        if (signal.aborted) break;
        const isRefused = error instanceof ApiError && error.status >= 400 && error.status < 500 &&
          error.status !== 429;
        if (isRefused || attempt >= MAX_ATTEMPTS) {
          log.debug("event not sent", { reason, object: object.name, error: errorText(error) });
          return false;
        }
        await clock.sleep(backoffMs(attempt, RETRY_BACKOFF), signal);
      }
    }
    return false;
  }
}
