// The queue of a limiter: by priority, then namespaces in turn. An entry of several callers waits in the queue of each.
import { RoundRobin } from "../../k8s/round_robin.ts";
import { type Caller, type InspectionPriority, PRIORITIES } from "../callers.ts";

export interface QueueEntry<T> {
  readonly item: T;
}

export class FairQueue<T> {
  readonly #levels: Readonly<Record<InspectionPriority, RoundRobin<QueueEntry<T>>>> = {
    gated: new RoundRobin(),
    admission: new RoundRobin(),
    prewarm: new RoundRobin(),
  };
  readonly #callersOf = new Map<QueueEntry<T>, Caller[]>();

  get size(): number {
    return this.#callersOf.size;
  }

  add(item: T, callers: readonly Caller[]): QueueEntry<T> {
    const entry = { item };
    this.#callersOf.set(entry, []);
    for (const caller of callers) this.join(entry, caller);
    return entry;
  }

  join(entry: QueueEntry<T>, caller: Caller): void {
    const callers = this.#callersOf.get(entry);
    if (callers === undefined) return;
    callers.push(caller);
    this.#levels[caller.priority].add(caller.namespace, entry);
  }

  remove(entry: QueueEntry<T>): boolean {
    const callers = this.#callersOf.get(entry) ?? [];
    for (const { priority, namespace } of callers) this.#levels[priority].remove(namespace, entry);
    return this.#callersOf.delete(entry);
  }

  /** Takes out the next entry whose namespace may have a permit, with that namespace. */
  next(mayHave: (namespace: string, item: T) => boolean): { readonly item: T; readonly namespace: string } | undefined {
    for (const priority of PRIORITIES) {
      const found = this.#levels[priority].take((namespace, { item }) => mayHave(namespace, item));
      if (found === undefined) continue;
      this.remove(found.value);
      return { item: found.value.item, namespace: found.queue };
    }
    return undefined;
  }
}
