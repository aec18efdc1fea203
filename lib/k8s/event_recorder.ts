// Events about objects, sent behind everybody's back: recording never waits and never fails. Opened by main.
import { LRUCache } from "lru-cache";
import { backoffMs, type Clock } from "../clock.ts";
import { errorText, type Logger } from "../log.ts";
import type { KubeApi } from "./api.ts";
import { EventLane, type EventType, type WaitingEvent } from "./event_lane.ts";
import { ApiError, isConflict, isNotFound } from "./errors.ts";
import { Resource } from "./types.ts";

/** An event to tell. */
export interface EventNote {
  readonly object: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
  };
  readonly type: EventType;
  /** One of the names of lib/names.ts: users' automation keys on it. */
  readonly reason: string;
  /** Cut to 1024 bytes of UTF-8, as the API server demands. */
  readonly message: string;
}

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
  /** Namespace of events about cluster-scoped objects; the API server accepts only `default` for them. */
  readonly clusterScopedNamespace?: string;
  /** Distinct events that may wait. */
  readonly capacity?: number;
  readonly observe?: (fate: EventFate) => void;
}

/** Records events. Close it last: what is recorded afterwards is dropped. */
export interface EventRecorder extends AsyncDisposable {
  /** Takes an event to be sent soon. Never blocks, never throws. */
  record(note: EventNote): void;
  /** Resolves when all that was recorded is sent, or the signal aborts. */
  flush(signal: AbortSignal): Promise<void>;
  /** Stops sending and resolves when nothing is under way. Flush before, to lose nothing. */
  close(): Promise<void>;
}

/** Distinct events that may wait: at 300 bytes each, under a megabyte. */
const DEFAULT_CAPACITY = 2_000;
/** Events sent at a time: enough for 3 events of 100 pods a second, and a small share of the requests in flight. */
const PARALLEL_EVENTS = 6;
/** Tries of one event, the first included. */
const MAX_TRIES = 4;
const RETRY_BACKOFF = { baseMs: 500, capMs: 10_000 } as const;
/** An event that happens again within this time counts up the one that is there. */
const REPEAT_WINDOW_MS = 10 * 60_000;
/** Sent events that are remembered for that. */
const REMEMBERED_EVENTS = 4_096;
const MAX_MESSAGE_BYTES = 1_024;

/** Opens a recorder; it sends as events come. */
export function openEventRecorder(options: EventRecorderOptions): EventRecorder {
  return new BackgroundRecorder(options);
}

interface SentEvent {
  readonly name: string;
  readonly namespace: string;
  readonly count: number;
  readonly atMs: number;
}

type Waiting = WaitingEvent<EventNote>;

class BackgroundRecorder implements EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #lane: EventLane<EventNote>;
  readonly #sent = new LRUCache<string, SentEvent>({ max: REMEMBERED_EVENTS });
  readonly #closing = new AbortController();
  readonly #workers = new Set<Promise<void>>();
  #lastName = 0;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#lane = new EventLane(options.capacity ?? DEFAULT_CAPACITY);
  }

  record(note: EventNote): void {
    if (this.#closing.signal.aborted) return this.#fate("dropped-full");
    const { kind, namespace = "", name, uid = "" } = note.object;
    const message = truncate(note.message);
    const key = JSON.stringify([kind, namespace, name, uid, note.type, note.reason, message]);
    const event = { key, type: note.type, note: { ...note, message } };
    if (this.#lane.put(event, this.#options.clock.nowMs()) !== undefined) this.#fate("dropped-full");
    if (this.#workers.size >= PARALLEL_EVENTS) return;
    const worker: Promise<void> = this.#work().finally(() => this.#workers.delete(worker));
    this.#workers.add(worker);
  }

  async flush(signal: AbortSignal): Promise<void> {
    const aborted = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    while (!signal.aborted && this.#workers.size > 0) await Promise.race([Promise.all(this.#workers), aborted]);
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
      const event = this.#lane.take();
      if (event === undefined) return;
      await this.#deliver(event);
      this.#lane.finish(event.key);
    }
  }

  /** Sends one event, with a few tries. An event that cannot be sent is counted and forgotten. */
  async #deliver(event: Waiting): Promise<void> {
    const { clock, log } = this.#options;
    const name = this.#nameFor(event.note.object.name);
    for (let attempt = 1; !this.#closing.signal.aborted; attempt++) {
      try {
        return this.#fate(await this.#send(event, name));
      } catch (error) {
        if (this.#closing.signal.aborted) return this.#fate("failed");
        const isFinal = error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429;
        if (isFinal || attempt >= MAX_TRIES) {
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
    const isRecent = known !== undefined && this.#options.clock.monotonicMs() - known.atMs < REPEAT_WINDOW_MS;
    if (isRecent && await this.#countUp(known, event)) return "repeated";
    await this.#create(event, name);
    return "created";
  }

  /** Counts a repetition onto the event that is there; false when it is gone. */
  async #countUp(known: SentEvent, event: Waiting): Promise<boolean> {
    const { api, clock } = this.#options;
    const count = known.count + event.count;
    const document = { count, lastTimestamp: timestamp(event.lastMs) };
    const target = { namespace: known.namespace, name: known.name };
    try {
      await api.patch(Resource.events, target, { body: { kind: "merge", document }, signal: this.#closing.signal });
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
    this.#sent.set(event.key, { ...known, count, atMs: clock.monotonicMs() });
    return true;
  }

  async #create(event: Waiting, name: string): Promise<void> {
    const { api, clock, component, instance, clusterScopedNamespace = "default" } = this.#options;
    const { object, type, reason, message } = event.note;
    const namespace = object.namespace ?? clusterScopedNamespace;
    const document = {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name, namespace },
      involvedObject: object,
      type,
      reason,
      message,
      source: { component },
      reportingComponent: component,
      reportingInstance: instance,
      count: event.count,
      firstTimestamp: timestamp(event.firstMs),
      lastTimestamp: timestamp(event.lastMs),
    };
    try {
      await api.create(Resource.events, document, { namespace, signal: this.#closing.signal });
    } catch (error) {
      // The name is ours alone: an earlier try without an answer has arrived after all.
      if (!isConflict(error)) throw error;
    }
    this.#sent.set(event.key, { name, namespace, count: event.count, atMs: clock.monotonicMs() });
  }

  /** `object.hex`: unique, and a valid name whatever the object's length. */
  #nameFor(object: string): string {
    this.#lastName = Math.max(this.#lastName + 1, this.#options.clock.nowMs() * 1_000);
    const random = crypto.getRandomValues(new Uint8Array(2)).reduce(
      (text, byte) => text + byte.toString(16).padStart(2, "0"),
      "",
    );
    return `${object.slice(0, 230).replace(/[^a-z0-9]+$/, "")}.${this.#lastName.toString(16)}${random}`;
  }

  #fate(fate: EventFate): void {
    this.#options.observe?.(fate);
  }
}

/** Seconds precision: metav1.Time has no fractions. */
function timestamp(epochMs: number): string {
  return new Date(epochMs).toISOString().replace(/\.\d+Z$/, "Z");
}

function truncate(message: string): string {
  const bytes = new TextEncoder().encode(message);
  if (bytes.byteLength <= MAX_MESSAGE_BYTES) return message;
  // Streaming keeps back a character that was cut in two.
  return `${new TextDecoder().decode(bytes.subarray(0, MAX_MESSAGE_BYTES - 3), { stream: true })}…`;
}
