// The bounded lane in which events wait to be sent: one entry a distinct event, the oldest Normal is dropped first.

/** Whether an event is only news or asks for attention. */
export type EventType = "Normal" | "Warning";

/** An event that waits: how often it happened meanwhile, and when first and last (epoch ms). */
export interface WaitingEvent<N> {
  readonly key: string;
  readonly note: N;
  readonly type: EventType;
  count: number;
  readonly firstMs: number;
  lastMs: number;
}

/** Waiting events, at most `capacity` distinct ones. Warnings are taken first and dropped last. */
export class EventLane<N> {
  readonly #capacity: number;
  readonly #warnings = new Map<string, WaitingEvent<N>>();
  readonly #normals = new Map<string, WaitingEvent<N>>();
  /** Keys that were taken and are not finished: the same event must wait, to be counted onto the one being sent. */
  readonly #taken = new Set<string>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#warnings.size + this.#normals.size;
  }

  /** Puts an event in, or counts it onto the same one that waits already. Gives what was dropped to make room. */
  put(event: Omit<WaitingEvent<N>, "count" | "firstMs" | "lastMs">, nowMs: number): WaitingEvent<N> | undefined {
    const events = event.type === "Warning" ? this.#warnings : this.#normals;
    const waiting = events.get(event.key);
    if (waiting !== undefined) {
      waiting.count++;
      waiting.lastMs = nowMs;
      return undefined;
    }
    const dropped = this.size >= this.#capacity ? removeFirst(this.#normals) ?? removeFirst(this.#warnings) : undefined;
    events.set(event.key, { ...event, count: 1, firstMs: nowMs, lastMs: nowMs });
    return dropped;
  }

  /** Takes the next event out: the oldest Warning, else the oldest Normal. Its key waits until {@link finish}. */
  take(): WaitingEvent<N> | undefined {
    const event = removeFirst(this.#warnings, this.#taken) ?? removeFirst(this.#normals, this.#taken);
    if (event !== undefined) this.#taken.add(event.key);
    return event;
  }

  /** The event that was taken is sent or given up. */
  finish(key: string): void {
    this.#taken.delete(key);
  }
}

const NONE: ReadonlySet<string> = new Set();

function removeFirst<N>(events: Map<string, WaitingEvent<N>>, except = NONE): WaitingEvent<N> | undefined {
  for (const [key, event] of events) {
    if (except.has(key)) continue;
    events.delete(key);
    return event;
  }
  return undefined;
}
