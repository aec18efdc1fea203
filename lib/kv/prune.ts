// Keeps the store at its size: expired entries go first, then the oldest.
import type { Clock } from "../clock.ts";
import { ageOf } from "./envelope.ts";
import { ENTRY_KINDS, kindPrefix } from "./keys.ts";
import type { KeyValueStore, StoreKey } from "./store.ts";

/** How an eviction ended. */
export interface Pruned {
  /** Entries that stay. */
  readonly kept: number;
  /** Entries that went. */
  readonly deleted: number;
}

/** Deletes under way at the same time; few, because nothing waits for them. */
const DELETES_AT_ONCE = 8;

/** Deletes what is expired and, beyond `maxEntries`, the oldest. Stops early at a fault: the next run goes on. */
export async function prune(
  store: KeyValueStore,
  options: { readonly maxEntries: number; readonly clock: Clock },
): Promise<Pruned> {
  const nowMs = options.clock.nowMs();
  const alive: { readonly key: StoreKey; readonly atMs: number }[] = [];
  const over: StoreKey[] = [];
  for (const kind of ENTRY_KINDS) {
    for await (const { key, value } of store.list(kindPrefix(kind))) {
      const { atMs, isOver } = ageOf(value, nowMs);
      if (isOver) over.push(key);
      else alive.push({ key, atMs });
    }
  }
  const excess = Math.max(0, alive.length - options.maxEntries);
  if (excess > 0) {
    over.push(...alive.sort((left, right) => left.atMs - right.atMs).slice(0, excess).map(({ key }) => key));
  }
  let deleted = 0;
  for (let at = 0; at < over.length; at += DELETES_AT_ONCE) {
    const done = await Promise.all(over.slice(at, at + DELETES_AT_ONCE).map((key) => store.delete(key)));
    deleted += done.filter(Boolean).length;
    if (done.includes(false)) break;
  }
  return { kept: alive.length - excess, deleted };
}
