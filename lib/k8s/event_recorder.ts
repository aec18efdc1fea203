// Events about objects, sent in the background: recording never waits and never fails.
import type { CoreV1Event } from "@kubernetes/client-node";
import { LRUCache } from "lru-cache";
import { backoffMs, type Clock } from "../clock.ts";
import { errorText, type Logger } from "../log.ts";
import type { KubeApi } from "./api.ts";
import { EventQueue, type WaitingEvent } from "./event_queue.ts";
import { type EventInput, laneEventOf, renderUpdate } from "./event_input.ts";
import { ApiError, isConflict, isNotFound } from "./errors.ts";
import { Resource } from "./types.ts";
import type { Wire } from "./wire.ts";

/** What became of an event, for metrics. */
export type EventFate = "created" | "repeated" | "dropped-full" | "refused" | "failed";

/** What a recorder needs. */
export interface EventRecorderOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly log: Logger;
  /** `source.component` and `reportingComponent`. */
  readonly component: string;
  /** `reportingInstance`: the pod that speaks. */
  readonly instance: string;
  /** Distinct events that may wait. */
  readonly capacity?: number;
  /** Whether the API server is wanted for something better: events then wait, but not for long. */
  readonly isBusy?: () => boolean;
  readonly observe?: (fate: EventFate) => void;
}

/** Records events. Close it last: what is recorded afterwards is dropped. */
export interface EventRecorder extends AsyncDisposable {
  /** Takes an event to be sent soon. Never blocks, never throws. */
  record(note: EventInput): void;
  /** Resolves when all that was recorded is sent, or the signal aborts. */
  flush(signal: AbortSignal): Promise<void>;
  /** Stops sending and resolves when nothing is under way. Flush before, to lose nothing. */
  close(): Promise<void>;
}

/** Distinct events that may wait: three of each pod of a large burst; at 1 KB each, 10 MB. */
const DEFAULT_CAPACITY = 10_000;
/** Namespace of events about cluster-scoped objects: the API server accepts no other for them. */
const CLUSTER_SCOPED_NAMESPACE = "default";
/** Events sent at a time: enough for 3 events of 100 pods a second, and a small share of the requests in flight. */
const PARALLEL_EVENTS = 6;
/** Longest that an event gives way to something better (ms), and between two looks whether that has ended. */
const MAX_HOLD_MS = 3_000;
const LOOK_MS = 50;
/** Tries of one event, the first included: for seconds, or for minutes when it must arrive. */
const MAX_TRIES = 4;
const MAX_TRIES_MUST_ARRIVE = 20;
const RETRY_BACKOFF = { baseMs: 500, capMs: 10_000 } as const;
/** An event that happens again within this time counts up the one that is there. */
const REPEAT_WINDOW_MS = 10 * 60_000;
/** Sent events that are remembered for that. */
const REMEMBERED_EVENTS = 4_096;

/** Opens a recorder; it sends as events come. */
export function openEventRecorder(options: EventRecorderOptions): EventRecorder {
  return new BackgroundRecorder(options);
}

interface SentEvent {
  readonly name: string;
  readonly namespace: string;
  readonly reason: string;
  readonly count: number;
  readonly firstMs: number;
  readonly atMs: number;
}

type Waiting = WaitingEvent<EventInput>;

class BackgroundRecorder implements EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #lane: EventQueue<EventInput>;
  readonly #sent = new LRUCache<string, SentEvent>({ max: REMEMBERED_EVENTS });
  readonly #closing = new AbortController();
  readonly #workers = new Set<Promise<void>>();
  #lastName = 0;
  #flushing = 0;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#lane = new EventQueue(options.capacity ?? DEFAULT_CAPACITY);
  }

  record(note: EventInput): void {
    if (this.#closing.signal.aborted) return this.#fate("dropped-full");
    const { clock } = this.#options;
    const now = { wallMs: clock.nowMs(), monotonicMs: clock.monotonicMs() };
    if (this.#lane.put(laneEventOf(note), now) !== undefined) this.#fate("dropped-full");
    if (this.#workers.size >= PARALLEL_EVENTS) return;
    const worker: Promise<void> = this.#work().finally(() => this.#workers.delete(worker));
    this.#workers.add(worker);
  }

  async flush(signal: AbortSignal): Promise<void> {
    const aborted = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    this.#flushing++;
    while (!signal.aborted && this.#workers.size > 0) await Promise.race([Promise.all(this.#workers), aborted]);
    this.#flushing--;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#workers);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #work(): Promise<void> {
    // Not in the turn of who records.
    await Promise.resolve();
    while (!this.#closing.signal.aborted) {
      await this.#giveWay();
      const event = this.#lane.take();
      if (event === undefined) return;
      await this.#deliver(event);
      this.#lane.finish(event.key);
    }
  }

  /** Waits while the API server has something better to do, until some event has waited long enough. */
  async #giveWay(): Promise<void> {
    const { clock, isBusy } = this.#options;
    while (isBusy?.() === true && this.#flushing === 0 && !this.#closing.signal.aborted) {
      const sinceMs = this.#lane.oldestSinceMs;
      if (sinceMs === undefined || clock.monotonicMs() - sinceMs >= MAX_HOLD_MS) return;
      await clock.sleep(LOOK_MS, this.#closing.signal);
    }
  }

  /** Sends one event, with a few tries. An event that cannot be sent is counted and forgotten. */
  async #deliver(event: Waiting): Promise<void> {
    const { clock, log } = this.#options;
    const name = this.#nameFor(event.note);
    const maxTries = event.note.critical === true ? MAX_TRIES_MUST_ARRIVE : MAX_TRIES;
    for (let attempt = 1; !this.#closing.signal.aborted; attempt++) {
      try {
        return this.#fate(await this.#send(event, name));
      } catch (error) {
        if (this.#closing.signal.aborted) return this.#fate("failed");
        const isFinal = error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429;
        if (isFinal || attempt >= maxTries) {
          log.debug("event not sent", {
            reason: event.note.reason,
            object: event.note.object.name,
            error: errorText(error),
          });
          return this.#fate(isFinal ? "refused" : "failed");
        }
        await clock.sleep(backoffMs(attempt, RETRY_BACKOFF), this.#closing.signal);
      }
    }
  }

  async #send(event: Waiting, name: string): Promise<EventFate> {
    const known = this.#sent.get(event.key);
    const isKnown = known !== undefined &&
      (event.note.slot !== undefined || this.#options.clock.monotonicMs() - known.atMs < REPEAT_WINDOW_MS);
    if (isKnown && await this.#update(known, event)) return "repeated";
    await this.#create(event, name);
    return "created";
  }

  /** Counts a repetition onto the event that is there, or puts other news in its place; false when it is gone. */
  async #update(known: SentEvent, event: Waiting): Promise<boolean> {
    const repeats = known.reason === event.reason;
    const sent: SentEvent = {
      ...known,
      reason: event.reason,
      count: repeats ? known.count + event.count : event.count,
      firstMs: repeats ? known.firstMs : event.firstMs,
      atMs: this.#options.clock.monotonicMs(),
    };
    try {
      await this.#patch(sent, event);
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
    this.#sent.set(event.key, sent);
    return true;
  }

  async #patch(sent: SentEvent, event: Waiting): Promise<void> {
    const document = renderUpdate(event.note, { ...sent, lastMs: event.lastMs });
    const target = { namespace: sent.namespace, name: sent.name };
    await this.#options.api.patch(Resource.events, target, {
      body: { kind: "merge", document },
      signal: this.#closing.signal,
    });
  }

  async #create(event: Waiting, name: string): Promise<void> {
    const { api, clock, component, instance } = this.#options;
    const { object, reason, slot } = event.note;
    const { count, firstMs } = event;
    const namespace = object.namespace ?? CLUSTER_SCOPED_NAMESPACE;
    const sent: SentEvent = { name, namespace, reason, count, firstMs, atMs: clock.monotonicMs() };
    const document = {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name, namespace },
      involvedObject: object,
      source: { component },
      reportingComponent: component,
      reportingInstance: instance,
      ...renderUpdate(event.note, { ...sent, lastMs: event.lastMs }),
    } satisfies Wire<CoreV1Event>;
    try {
      await api.create(Resource.events, document, { namespace, signal: this.#closing.signal });
    } catch (error) {
      if (!isConflict(error)) throw error;
      // A slot that another process filled. Any other name is ours alone: an earlier try has arrived after all.
      if (slot !== undefined) await this.#patch(sent, event);
    }
    this.#sent.set(event.key, sent);
  }

  /** `object.hex`, unique, or `object.uid.slot`, the same for every process; valid whatever the object's length. */
  #nameFor({ object, slot }: EventInput): string {
    const stem = object.name.slice(0, 200).replace(/[^a-z0-9]+$/, "");
    if (slot !== undefined && object.uid !== undefined) return `${stem}.${object.uid}.${slot}`;
    this.#lastName = Math.max(this.#lastName + 1, this.#options.clock.nowMs() * 1_000);
    const random = crypto.getRandomValues(new Uint8Array(2)).reduce(
      (text, byte) => text + byte.toString(16).padStart(2, "0"),
      "",
    );
    return `${stem}.${this.#lastName.toString(16)}${random}`;
  }

  #fate(fate: EventFate): void {
    this.#options.observe?.(fate);
  }
}
