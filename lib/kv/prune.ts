// Keeps the store within limits of entries and bytes: expired entries go first, then the oldest.
import type { Clock } from "../clock.ts";
import { ageOf, storedBytes } from "./envelope.ts";
import { kindPrefix, RECORD_KINDS } from "./keys.ts";
import type { KeyValueStore, StoreKey } from "./store.ts";

interface StoreLimits {
  readonly maxEntries: number;
  readonly maxBytes: number;
}

const MAX_PARALLEL_DELETES = 8;

/**
 * False when a delete failed, which is left for the next run, or when not all entries could be listed. Entries are
 * listed twice, because all keys together would fill the memory.
 */
export async function prune(store: KeyValueStore, options: StoreLimits & { readonly clock: Clock }): Promise<boolean> {
  const nowMs = options.clock.nowMs();
  const cut = store.cutListingCount();
  const alive: { readonly atMs: number; readonly bytes: number }[] = [];
  let expired = 0;
  for await (const { atMs, bytes, isExpired } of entriesOf(store, nowMs)) {
    if (isExpired) expired++;
    else alive.push({ atMs, bytes });
  }
  alive.sort((left, right) => right.atMs - left.atMs);
  const kept = countKept(alive, options);
  if (expired === 0 && kept === alive.length) return store.cutListingCount() === cut;
  const newestGoneMs = alive[kept]?.atMs ?? -Infinity;
  let failed = 0;
  let due: StoreKey[] = [];
  const deleteDue = async (): Promise<void> => {
    failed += (await Promise.all(due.map((key) => store.delete(key)))).filter((isGone) => !isGone).length;
    due = [];
  };
  for await (const { key, atMs, isExpired } of entriesOf(store, nowMs)) {
    if (isExpired || atMs <= newestGoneMs) due.push(key);
    if (due.length === MAX_PARALLEL_DELETES) await deleteDue();
  }
  await deleteDue();
  return failed === 0 && store.cutListingCount() === cut;
}

function countKept(newestFirst: readonly { readonly bytes: number }[], { maxEntries, maxBytes }: StoreLimits): number {
  let total = 0;
  const beyond = newestFirst.findIndex(({ bytes }, at) => at >= maxEntries || (total += bytes) > maxBytes);
  return beyond < 0 ? newestFirst.length : beyond;
}

interface Aged {
  readonly key: StoreKey;
  readonly atMs: number;
  readonly bytes: number;
  readonly isExpired: boolean;
}

async function* entriesOf(store: KeyValueStore, nowMs: number): AsyncGenerator<Aged, void> {
  for (const kind of RECORD_KINDS) {
    for await (const { key, value, bytes } of store.list(kindPrefix(kind))) {
      yield { key, bytes, ...ageOf(value, nowMs) };
    }
  }
}

/** The share of its limits that pruning leaves free. The store is pruned again when writes have used it up. */
const FREE_SHARE = 1 / 4;
/** What may be written before the first pruning: an earlier process may have filled the store. */
const FIRST_FREE: StoreLimits = { maxEntries: 100, maxBytes: 1024 * 1024 };

/** Wait after an incomplete pruning (ms), since each one lists all entries. */
const RETRY_MS = 10_000;

/**
 * Keeps a store within its limits: it counts writes, which costs far less than a listing, and prunes when they are
 * many.
 */
export class StoreBudget {
  readonly #store: KeyValueStore;
  readonly #clock: Clock;
  readonly #free: StoreLimits;
  readonly #kept: StoreLimits;
  #left = FIRST_FREE;
  #isPruning = false;
  #notBeforeMs = -Infinity;

  constructor(store: KeyValueStore, { clock, maxEntries, maxBytes }: StoreLimits & { readonly clock: Clock }) {
    this.#store = store;
    this.#clock = clock;
    this.#free = { maxEntries: Math.ceil(maxEntries * FREE_SHARE), maxBytes: maxBytes * FREE_SHARE };
    this.#kept = { maxEntries: maxEntries - this.#free.maxEntries, maxBytes: maxBytes - this.#free.maxBytes };
  }

  /**
   * Counts a value before it is written. False when it must not be written, since too much was written without a
   * complete pruning.
   */
  take(value: unknown): boolean {
    const { maxEntries, maxBytes } = this.#left;
    const bytes = storedBytes(JSON.stringify(value));
    if (maxEntries <= -this.#free.maxEntries || maxBytes - bytes < -this.#free.maxBytes) return false;
    this.#left = { maxEntries: maxEntries - 1, maxBytes: maxBytes - bytes };
    return true;
  }

  /** Prunes the store when the free share is used up. Call it after a refused write as well. */
  async restore(): Promise<void> {
    if (this.#left.maxEntries > 0 && this.#left.maxBytes > 0) return;
    if (this.#isPruning || this.#clock.monotonicMs() < this.#notBeforeMs) return;
    this.#isPruning = true;
    // A write during the pruning may not be listed, so it counts for the next share.
    const before = this.#left;
    let isComplete = false;
    try {
      isComplete = await prune(this.#store, { ...this.#kept, clock: this.#clock });
    } finally {
      if (isComplete) this.#renew(before);
      else this.#notBeforeMs = this.#clock.monotonicMs() + RETRY_MS;
      this.#isPruning = false;
    }
  }

  #renew(before: StoreLimits): void {
    const { maxEntries, maxBytes } = this.#left;
    this.#left = {
      maxEntries: this.#free.maxEntries - (before.maxEntries - maxEntries),
      maxBytes: this.#free.maxBytes - (before.maxBytes - maxBytes),
    };
  }
}
