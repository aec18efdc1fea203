// Permits that namespaces share, with a fair queue: a namespace that wants many leaves some for the others.
import { orAborted } from "../../clock.ts";
import type { Callers } from "../callers.ts";
import { FairQueue } from "./fair_queue.ts";

export interface Permit extends Disposable {
  readonly release: () => void;
}

interface FairLimiterOptions {
  readonly limit: number;
  /** A namespace may take one while held < maxShare × (held + free): with 1/2, one alone stops at half of all. */
  readonly maxShare: number;
}

/** What one request takes of the permits. */
interface PermitRequest {
  /** How many permits; absent: 1. They are given when any one is free, so that a heavy request is not passed over. */
  readonly weight?: number | undefined;
  /** Replaces the limiter's share by a smaller one. */
  readonly maxShare?: number | undefined;
}

interface Waiter extends PermitRequest {
  readonly give: (permit: Permit) => void;
}

export class FairLimiter {
  readonly #options: FairLimiterOptions;
  readonly #queue = new FairQueue<Waiter>();
  readonly #held = new Map<string, number>();
  #taken = 0;

  constructor(options: FairLimiterOptions) {
    this.#options = options;
  }

  get taken(): number {
    return this.#taken;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /**
   * A permit at once; undefined when none is free for the namespace. This overtakes no waiter that could have the
   * permit: a namespace with waiters has used up its share.
   */
  tryAcquire(namespace: string, request: PermitRequest = {}): Permit | undefined {
    return this.#mayHave(namespace, request) ? this.#take(namespace, request) : undefined;
  }

  /**
   * Like {@link tryAcquire}, for the first caller that may have a permit. A caller whose share is used up does not hold
   * up the others.
   */
  tryAcquireAny({ members }: Callers, request: PermitRequest): Permit | undefined {
    for (const { namespace } of members) {
      const permit = this.tryAcquire(namespace, request);
      if (permit !== undefined) return permit;
    }
    return undefined;
  }

  /** Waits for a permit. Rejects with the signal's reason. */
  async acquire(callers: Callers, signal: AbortSignal, request: PermitRequest = {}): Promise<Permit> {
    signal.throwIfAborted();
    const free = this.#queue.size === 0 ? this.tryAcquireAny(callers, request) : undefined;
    if (free !== undefined) return free;
    const { promise, resolve } = Promise.withResolvers<Permit>();
    const entry = this.#queue.add({ ...request, give: resolve }, callers.members);
    const unfollow = callers.onJoin((caller) => {
      this.#queue.join(entry, caller);
      this.#giveFree();
    });
    this.#giveFree();
    try {
      return await orAborted(promise, signal);
    } catch (error) {
      // A permit may have been given in the same moment.
      if (!this.#queue.remove(entry)) promise.then(({ release }) => release());
      this.#giveFree();
      throw error;
    } finally {
      unfollow();
    }
  }

  #giveFree(): void {
    while (this.#taken < this.#options.limit && this.#queue.size > 0) {
      const next = this.#queue.next((namespace, request) => this.#mayHave(namespace, request));
      if (next === undefined) return;
      next.item.give(this.#take(next.namespace, next.item));
    }
  }

  #mayHave(namespace: string, { maxShare = this.#options.maxShare }: PermitRequest): boolean {
    const free = this.#options.limit - this.#taken;
    const held = this.#held.get(namespace) ?? 0;
    return held < maxShare * (held + free);
  }

  #take(namespace: string, { weight = 1 }: PermitRequest): Permit {
    this.#taken += weight;
    this.#held.set(namespace, (this.#held.get(namespace) ?? 0) + weight);
    let isHeld = true;
    const release = (): void => {
      if (!isHeld) return;
      isHeld = false;
      this.#taken -= weight;
      const left = (this.#held.get(namespace) ?? weight) - weight;
      if (left === 0) this.#held.delete(namespace);
      else this.#held.set(namespace, left);
      this.#giveFree();
    };
    return { release, [Symbol.dispose]: release };
  }
}
