// Lets a few writes at a time to the database. A burst (a start with hundreds of unknown images) would wait in the database
// for longer than one call may take, and look like a database that does not answer. Used by guarded_store.ts.
import pLimit from "p-limit";

/** Writes under way at once: a file makes them one after the other, so each waits for those before it on a slow disk. */
const AT_ONCE = 4;
/** Writes that may wait for their turn; a cache may forget what comes beyond. */
const MAX_WAITING = 10_000;

/** The turns of one store. */
export class WriteTurns {
  readonly #turns = pLimit(AT_ONCE);
  readonly #unfinished = new Set<Promise<unknown>>();

  /** Whether no more can wait. */
  get isFull(): boolean {
    return this.#unfinished.size >= MAX_WAITING;
  }

  /** Runs the write when it is its turn. */
  async run<T>(write: () => Promise<T>): Promise<T> {
    const turn = this.#turns(write);
    this.#unfinished.add(turn);
    try {
      return await turn;
    } finally {
      this.#unfinished.delete(turn);
    }
  }

  /** Resolves when nothing waits or runs any more. */
  async drained(): Promise<void> {
    while (this.#unfinished.size > 0) await Promise.allSettled(this.#unfinished);
  }
}
