// The bounded lane in which events wait to be sent: one entry a distinct event, the least urgent is dropped first.

/** Whether an event is only news or asks for attention. */
export type EventType = "Normal" | "Warning";

/** An event on its way. */
export interface QueuedEvent<N> {
  /** What it is about: the same key waits once, and its latest words win. */
  readonly key: string;
  readonly note: N;
  /** The same reason at the same key is a repetition and counts up; another reason starts anew. */
  readonly reason: string;
  readonly urgency: Urgency;
}

/** How urgent: 0 must arrive, 1 asks for attention, 2 is only news. */
export type Urgency = 0 | 1 | 2;

/** An event that waits: how often it happened meanwhile, when first and last (epoch ms), since when (monotonic ms). */
export interface WaitingEvent<N> extends QueuedEvent<N> {
  readonly count: number;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly sinceMs: number;
}

/** Waiting events, at most `capacity` distinct ones. The urgent are taken first and dropped last. */
export class EventQueue<N> {
  readonly #capacity: number;
  readonly #byUrgency: readonly Map<string, WaitingEvent<N>>[] = [new Map(), new Map(), new Map()];
  /** Keys that were taken and are not finished: the same key must wait, to be put onto the event being sent. */
  readonly #taken = new Set<string>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#byUrgency.reduce((sum, { size }) => sum + size, 0);
  }

  /** Puts an event in, onto the one of its key that waits already. Gives what was dropped to make room, perhaps itself. */
  put(
    event: QueuedEvent<N>,
    now: { readonly wallMs: number; readonly monotonicMs: number },
  ): QueuedEvent<N> | undefined {
    const waiting = this.#find(event.key);
    const dropped = waiting === undefined && this.size >= this.#capacity ? this.#leastUrgent(event) : undefined;
    if (dropped === event) return dropped;
    if (dropped !== undefined) this.#remove(dropped);
    if (waiting !== undefined && waiting.urgency !== event.urgency) this.#remove(waiting);
    const repeats = waiting?.reason === event.reason;
    this.#byUrgency[event.urgency]?.set(event.key, {
      ...event,
      count: repeats ? waiting.count + 1 : 1,
      firstMs: repeats ? waiting.firstMs : now.wallMs,
      lastMs: now.wallMs,
      sinceMs: waiting?.sinceMs ?? now.monotonicMs,
    });
    return dropped;
  }

  /** Since when the longest waiting event waits (monotonic ms), be it ever so little urgent; undefined when none waits. */
  get oldestSinceMs(): number | undefined {
    const firsts = this.#byUrgency.map((events) => firstOf([events], this.#taken)?.sinceMs)
      .filter((sinceMs) => sinceMs !== undefined);
    return firsts.length === 0 ? undefined : Math.min(...firsts);
  }

  /** Takes the next event out: the oldest of the most urgent. Its key waits until {@link finish}. */
  take(): WaitingEvent<N> | undefined {
    const event = firstOf(this.#byUrgency, this.#taken);
    if (event === undefined) return undefined;
    this.#remove(event);
    this.#taken.add(event.key);
    return event;
  }

  /** The event that was taken is sent or given up. */
  finish(key: string): void {
    this.#taken.delete(key);
  }

  #find(key: string): WaitingEvent<N> | undefined {
    return this.#byUrgency.find((events) => events.has(key))?.get(key);
  }

  #remove({ key, urgency }: QueuedEvent<N>): void {
    this.#byUrgency[urgency]?.delete(key);
  }

  /** The oldest of the least urgent, the newcomer included: what must arrive never makes room for news. */
  #leastUrgent(newcomer: QueuedEvent<N>): QueuedEvent<N> {
    const last = firstOf(this.#byUrgency.toReversed());
    return last === undefined || last.urgency < newcomer.urgency ? newcomer : last;
  }
}

const NONE: ReadonlySet<string> = new Set();

function firstOf<N>(
  shelves: readonly ReadonlyMap<string, WaitingEvent<N>>[],
  except = NONE,
): WaitingEvent<N> | undefined {
  for (const events of shelves) {
    for (const [key, event] of events) if (!except.has(key)) return event;
  }
  return undefined;
}
