// The queue for places, ordered by priority, then by namespace in turn, then first in, first out. An entry
// that several callers share is in the queue once for each of them, and leaves all its places at the first call. Every step
// takes constant time: entries that have left are skipped when they come up, and swept out once they are the majority.
import type { Caller, InspectionPriority } from "../inspector.ts";
import { PRIORITIES } from "./callers.ts";

/** Something that waits. */
export interface QueueEntry<T> {
  readonly item: T;
}

interface Entry<T> extends QueueEntry<T> {
  isWaiting: boolean;
  tickets: number;
}

/** Below this many tickets of entries that have left, the queue is not swept. */
const LEAST_SWEPT = 64;

export class FairQueue<T> {
  readonly #levels: Readonly<Record<InspectionPriority, Level<Entry<T>>>> = {
    gated: new Level(),
    admission: new Level(),
    prewarm: new Level(),
  };
  #size = 0;
  #waitingTickets = 0;
  #goneTickets = 0;

  get size(): number {
    return this.#size;
  }

  /** Joins at the end, once for each caller. */
  add(item: T, callers: readonly Caller[]): QueueEntry<T> {
    const entry: Entry<T> = { item, isWaiting: true, tickets: 0 };
    this.#size += 1;
    for (const caller of callers) this.#addTicket(entry, caller);
    return entry;
  }

  /** Another caller waits for the same entry. */
  join(entry: QueueEntry<T>, caller: Caller): void {
    if (isEntry(entry) && entry.isWaiting) this.#addTicket(entry, caller);
  }

  /** Leaves; false when it had left or was called already. */
  remove(entry: QueueEntry<T>): boolean {
    if (!isEntry(entry) || !entry.isWaiting) return false;
    this.#drop(entry);
    if (this.#goneTickets > this.#waitingTickets + LEAST_SWEPT) this.#sweep();
    return true;
  }

  /** Takes out the next entry whose namespace may have a place, with that namespace. */
  next(mayHave: (namespace: string) => boolean): { readonly item: T; readonly namespace: string } | undefined {
    for (const priority of PRIORITIES) {
      const found = this.#levels[priority].next({ mayHave, isGone: (entry) => this.#isGone(entry) });
      if (found === undefined) continue;
      const { value: entry, namespace } = found;
      entry.tickets -= 1;
      this.#waitingTickets -= 1;
      this.#drop(entry);
      return { item: entry.item, namespace };
    }
    return undefined;
  }

  /** Takes out all. */
  drain(): readonly T[] {
    const items: T[] = [];
    for (let found = this.next(() => true); found !== undefined; found = this.next(() => true)) items.push(found.item);
    return items;
  }

  #addTicket(entry: Entry<T>, { namespace, priority }: Caller): void {
    entry.tickets += 1;
    this.#waitingTickets += 1;
    this.#levels[priority].add(entry, namespace);
  }

  #drop(entry: Entry<T>): void {
    entry.isWaiting = false;
    this.#size -= 1;
    this.#waitingTickets -= entry.tickets;
    this.#goneTickets += entry.tickets;
  }

  #isGone(entry: Entry<T>): boolean {
    if (entry.isWaiting) return false;
    this.#goneTickets -= 1;
    return true;
  }

  #sweep(): void {
    for (const priority of PRIORITIES) this.#levels[priority].keep(({ isWaiting }) => isWaiting);
    this.#goneTickets = 0;
  }
}

function isEntry<T>(entry: QueueEntry<T>): entry is Entry<T> {
  return "isWaiting" in entry;
}

/** The tickets of one priority: a line for each namespace, served in turn. */
class Level<V> {
  #lines = new Map<string, Fifo<V>>();
  #turns = new Fifo<string>();

  add(value: V, namespace: string): void {
    const line = this.#lines.get(namespace);
    if (line !== undefined) return line.push(value);
    const first = new Fifo<V>();
    first.push(value);
    this.#lines.set(namespace, first);
    this.#turns.push(namespace);
  }

  next(
    { mayHave, isGone }: { readonly mayHave: (namespace: string) => boolean; readonly isGone: (value: V) => boolean },
  ): { readonly value: V; readonly namespace: string } | undefined {
    for (let turns = this.#turns.size; turns > 0; turns--) {
      const namespace = this.#turns.shift();
      const line = namespace === undefined ? undefined : this.#lines.get(namespace);
      if (namespace === undefined || line === undefined) continue;
      const value = mayHave(namespace) ? shiftUntil(line, (one) => !isGone(one)) : undefined;
      if (line.size > 0) this.#turns.push(namespace);
      else this.#lines.delete(namespace);
      if (value !== undefined) return { value, namespace };
    }
    return undefined;
  }

  keep(isKept: (value: V) => boolean): void {
    const [lines, turns] = [new Map<string, Fifo<V>>(), new Fifo<string>()];
    for (let namespace = this.#turns.shift(); namespace !== undefined; namespace = this.#turns.shift()) {
      const [line, kept] = [this.#lines.get(namespace), new Fifo<V>()];
      for (let value = line?.shift(); value !== undefined; value = line?.shift()) if (isKept(value)) kept.push(value);
      if (kept.size === 0) continue;
      lines.set(namespace, kept);
      turns.push(namespace);
    }
    [this.#lines, this.#turns] = [lines, turns];
  }
}

function shiftUntil<V>(line: Fifo<V>, isWanted: (value: V) => boolean): V | undefined {
  for (let value = line.shift(); value !== undefined; value = line.shift()) if (isWanted(value)) return value;
  return undefined;
}

/** First in, first out, in constant time a step on average. */
class Fifo<V> {
  #values: V[] = [];
  #head = 0;

  get size(): number {
    return this.#values.length - this.#head;
  }

  push(value: V): void {
    this.#values.push(value);
  }

  shift(): V | undefined {
    if (this.size === 0) return undefined;
    const value = this.#values[this.#head];
    this.#head += 1;
    if (this.#head * 2 > this.#values.length) {
      this.#values = this.#values.slice(this.#head);
      this.#head = 0;
    }
    return value;
  }
}
