// The bounded queue of events to send, one per key. When full, drops the oldest of the least urgent events.
import type { QueuedEvent } from "./event_input.ts";

/** A queued event: its count, first and last occurrence (epoch ms). */
export interface WaitingEvent extends QueuedEvent {
  readonly count: number;
  readonly firstMs: number;
  readonly lastMs: number;
}

export class EventQueue {
  readonly #capacity: number;
  readonly #byUrgency: readonly Map<string, WaitingEvent>[] = [new Map(), new Map(), new Map()];
  /** Keys being sent. A new event with such a key waits, in order to update the sent one. */
  readonly #taken = new Set<string>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#byUrgency.reduce((sum, { size }) => sum + size, 0);
  }

  /** Adds an event, or replaces the waiting one with its key. Returns the dropped event, which may be this one. */
  put(event: QueuedEvent, nowMs: number): QueuedEvent | undefined {
    const waiting = this.#find(event.key);
    const dropped = waiting === undefined && this.size >= this.#capacity ? this.#leastUrgent(event) : undefined;
    if (dropped === event) return dropped;
    if (dropped !== undefined) this.#remove(dropped);
    if (waiting !== undefined && waiting.urgency !== event.urgency) this.#remove(waiting);
    const repeats = waiting?.input.reason === event.input.reason;
    this.#byUrgency[event.urgency]?.set(event.key, {
      ...event,
      count: repeats ? waiting.count + 1 : 1,
      firstMs: repeats ? waiting.firstMs : nowMs,
      lastMs: nowMs,
    });
    return dropped;
  }

  /** Takes the oldest of the most urgent events. Others with its key wait until {@link finish}. */
  take(): WaitingEvent | undefined {
    const event = firstOf(this.#byUrgency, this.#taken);
    if (event === undefined) return undefined;
    this.#remove(event);
    this.#taken.add(event.key);
    return event;
  }

  finish(key: string): void {
    this.#taken.delete(key);
  }

  #find(key: string): WaitingEvent | undefined {
    return this.#byUrgency.find((events) => events.has(key))?.get(key);
  }

  #remove({ key, urgency }: QueuedEvent): void {
    this.#byUrgency[urgency]?.delete(key);
  }

  /** The oldest of the least urgent events, including the new one, which never displaces a more urgent one. */
  #leastUrgent(added: QueuedEvent): QueuedEvent {
    const last = firstOf(this.#byUrgency.toReversed());
    return last === undefined || last.urgency < added.urgency ? added : last;
  }
}

const NONE: ReadonlySet<string> = new Set();

function firstOf(queues: readonly ReadonlyMap<string, WaitingEvent>[], except = NONE): WaitingEvent | undefined {
  for (const events of queues) {
    for (const [key, event] of events) if (!except.has(key)) return event;
  }
  return undefined;
}
