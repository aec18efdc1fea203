// The bounded queue of events to send, one per key. Warnings are sent first and dropped last.
import type { QueuedEvent } from "./event_input.ts";

/** A queued event: its count, first and last occurrence (epoch ms). */
export interface WaitingEvent extends QueuedEvent {
  readonly count: number;
  readonly firstMs: number;
  readonly lastMs: number;
}

export class EventQueue {
  readonly #capacity: number;
  readonly #warnings = new Map<string, WaitingEvent>();
  readonly #normals = new Map<string, WaitingEvent>();
  /** Keys of events being sent. A new event with the same key waits, so that it can update the sent event. */
  readonly #taken = new Set<string>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#warnings.size + this.#normals.size;
  }

  /** Adds an event, or replaces the waiting one with its key. Returns the dropped event, which may be this one. */
  put(event: QueuedEvent, nowMs: number): QueuedEvent | undefined {
    const waiting = this.#find(event.key);
    const dropped = waiting === undefined && this.size >= this.#capacity ? this.#droppedFor(event) : undefined;
    if (dropped === event) return dropped;
    if (dropped !== undefined) this.#remove(dropped);
    if (waiting !== undefined && waiting.input.type !== event.input.type) this.#remove(waiting);
    const repeats = waiting?.input.reason === event.input.reason;
    this.#queueOf(event).set(event.key, {
      ...event,
      count: repeats ? waiting.count + 1 : 1,
      firstMs: repeats ? waiting.firstMs : nowMs,
      lastMs: nowMs,
    });
    return dropped;
  }

  /** Takes the oldest Warning, else the oldest Normal event. Later events with its key wait until {@link finish}. */
  take(): WaitingEvent | undefined {
    const event = firstOf(this.#warnings, this.#taken) ?? firstOf(this.#normals, this.#taken);
    if (event === undefined) return undefined;
    this.#remove(event);
    this.#taken.add(event.key);
    return event;
  }

  finish(key: string): void {
    this.#taken.delete(key);
  }

  #find(key: string): WaitingEvent | undefined {
    return this.#warnings.get(key) ?? this.#normals.get(key);
  }

  #remove(event: QueuedEvent): void {
    this.#queueOf(event).delete(event.key);
  }

  #queueOf({ input }: QueuedEvent): Map<string, WaitingEvent> {
    return input.type === "Warning" ? this.#warnings : this.#normals;
  }

  /** The event to drop: the oldest Normal event. Without one: the oldest Warning for a Warning, else the new event. */
  #droppedFor(added: QueuedEvent): QueuedEvent {
    const normal = firstOf(this.#normals);
    if (normal !== undefined || added.input.type !== "Warning") return normal ?? added;
    return firstOf(this.#warnings) ?? added;
  }
}

const NONE: ReadonlySet<string> = new Set();

function firstOf(events: ReadonlyMap<string, WaitingEvent>, except = NONE): WaitingEvent | undefined {
  for (const [key, event] of events) if (!except.has(key)) return event;
  return undefined;
}
