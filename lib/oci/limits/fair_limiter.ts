// Permits that namespaces share, with a fair queue: one that wants many leaves some for the others.
import { orAborted } from "../../clock.ts";
import type { Callers } from "../callers.ts";
import { FairQueue } from "./fair_queue.ts";

export interface Permit extends Disposable {
  readonly release: () => void;
}

interface FairLimiterOptions {
  readonly limit: number;
  /** One namespace may hold up to this many times the free permits: with 1 it stops at half of all, with 4 at four fifths. */
  readonly freeFactor: number;
  /** Whether a permit may be given now; each true is followed by a permit that is given, or by {@link onUnused}. */
  readonly mayGive?: (() => boolean) | undefined;
  readonly onUnused?: (() => void) | undefined;
}

/** What one request takes of the permits. */
interface PermitRequest {
  /** How many permits, 1 when absent; given when any is free, so that a heavy request is not passed over. */
  readonly weight?: number | undefined;
  /** For a request that does not wait: less than the limiter's. */
  readonly freeFactor?: number | undefined;
}

interface Waiter extends PermitRequest {
  readonly give: (permit: Permit) => void;
  readonly refuse: (reason: unknown) => void;
}

export class FairLimiter {
  readonly #options: FairLimiterOptions;
  readonly #queue = new FairQueue<Waiter>();
  readonly #held = new Map<string, number>();
  #limit: number;
  #taken = 0;

  constructor(options: FairLimiterOptions) {
    this.#options = options;
    this.#limit = options.limit;
  }

  get taken(): number {
    return this.#taken;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  get limit(): number {
    return Math.floor(this.#limit);
  }

  /** Changes the number of permits, between 1 and the number that it was opened with; may be a fraction on the way. */
  scale(change: (limit: number) => number): void {
    this.#limit = Math.min(this.#options.limit, Math.max(1, change(this.#limit)));
    this.#giveFree();
  }

  /**
   * A permit at once; undefined when none is free for the namespace.
   * Overtakes no waiter that could have it: those that still wait have used up their namespace's share.
   */
  tryAcquire(namespace: string, { weight = 1, freeFactor }: PermitRequest = {}): Permit | undefined {
    if (this.#taken >= this.limit || !this.#mayHave(namespace, freeFactor)) return undefined;
    return this.#options.mayGive?.() ?? true ? this.#take(namespace, weight) : undefined;
  }

  /** The same for the first of the callers that may have one: a caller whose share is used up does not hold up the others. */
  tryAcquireAny({ members }: Callers, request: PermitRequest): Permit | undefined {
    for (const { namespace } of members) {
      const permit = this.tryAcquire(namespace, request);
      if (permit !== undefined) return permit;
    }
    return undefined;
  }

  /** Waits for a permit. Rejects with the signal's reason, or with that of {@link refuseAll}. */
  async acquire(callers: Callers, signal: AbortSignal, { weight }: PermitRequest = {}): Promise<Permit> {
    signal.throwIfAborted();
    const free = this.#queue.size === 0 ? this.tryAcquireAny(callers, { weight }) : undefined;
    if (free !== undefined) return free;
    const { promise, resolve, reject } = Promise.withResolvers<Permit>();
    const entry = this.#queue.add({ give: resolve, refuse: reject, weight }, callers.members);
    const unfollow = callers.onJoin((caller) => {
      this.#queue.join(entry, caller);
      this.#giveFree();
    });
    this.#giveFree();
    try {
      return await orAborted(promise, signal);
    } catch (error) {
      // A permit may have been given in the same moment.
      if (!this.#queue.remove(entry)) promise.then(({ release }) => release(), () => {});
      this.#giveFree();
      throw error;
    } finally {
      unfollow();
    }
  }

  refuseAll(reason: Error): void {
    for (const { refuse } of this.#queue.drain()) refuse(reason);
  }

  #giveFree(): void {
    while (this.#taken < this.limit && this.#queue.size > 0 && (this.#options.mayGive?.() ?? true)) {
      const next = this.#queue.next((namespace) => this.#mayHave(namespace));
      if (next === undefined) return this.#options.onUnused?.();
      next.item.give(this.#take(next.namespace, next.item.weight));
    }
  }

  #mayHave(namespace: string, freeFactor = this.#options.freeFactor): boolean {
    return (this.#held.get(namespace) ?? 0) < freeFactor * (this.limit - this.#taken);
  }

  #take(namespace: string, weight = 1): Permit {
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
