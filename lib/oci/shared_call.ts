// Equal calls at the same time are one, whose answer may be kept. It runs under a signal of its own.
import { LRUCache } from "lru-cache";
import { type Clock, orAborted } from "../clock.ts";

export interface Callers<C> {
  readonly members: readonly C[];
  /** Calls the listener for each distinct caller that joins from now on; the result ends that. */
  onJoin(listener: (caller: C) => void): () => void;
}

interface SharedCallOptions<T, C> {
  readonly clock: Pick<Clock, "monotonicMs">;
  /** How long an answer is given to later callers (ms); absent: not at all. A rejection is never kept. */
  readonly keepMs?: ((answer: T) => number) | undefined;
  readonly maxKept?: number | undefined;
  /** What the kept answers may weigh together with their keys, and what each weighs; absent: they are only counted. */
  readonly maxSize?: number | undefined;
  readonly sizeOf?: ((answer: T) => number) | undefined;
  /** What becomes of a call when its last caller has left. `aborts` (default): its signal. `goes on`: the next caller joins it. */
  readonly abandoned?: "aborts" | "goes on" | undefined;
  readonly nameOf?: ((caller: C) => string) | undefined;
}

interface Call<T, C> {
  readonly answer: Promise<T>;
  readonly ending: AbortController;
  readonly callers: CallerList<C>;
  waiting: number;
}

interface Kept<T> {
  readonly answer: T;
  readonly untilMs: number;
}

const DEFAULT_KEPT = 1_000;
/** Answers that have expired are looked for at most so often (ms): each look passes over all of them. */
const SWEEP_MS = 1_000;

export class SharedCalls<T, C = never> {
  readonly #options: SharedCallOptions<T, C>;
  readonly #calls = new Map<string, Call<T, C>>();
  readonly #kept: LRUCache<string, Kept<T>>;
  #sweptMs = -Infinity;

  constructor(options: SharedCallOptions<T, C>) {
    this.#options = options;
    const { maxKept = DEFAULT_KEPT, maxSize, sizeOf = () => 1 } = options;
    const weigh = ({ answer }: Kept<T>, key: string): number => key.length + sizeOf(answer);
    const weights = maxSize === undefined ? {} : { maxSize, sizeCalculation: weigh };
    this.#kept = new LRUCache({ max: maxKept, ...weights });
  }

  /** A kept answer, that of a call under way, or of a new call. `callers` join the shared call. */
  async run(
    key: string,
    { callers, signal }: { readonly callers?: Callers<C> | undefined; readonly signal: AbortSignal },
    work: (callers: Callers<C>, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    signal.throwIfAborted();
    this.#sweep();
    const kept = this.#kept.get(key);
    if (kept !== undefined && this.#options.clock.monotonicMs() < kept.untilMs) return kept.answer;
    this.#kept.delete(key);
    const call = this.#calls.get(key) ?? this.#start(key, work);
    const unfollow = callers === undefined ? undefined : call.callers.follow(callers);
    call.waiting += 1;
    try {
      return await orAborted(call.answer, signal);
    } finally {
      unfollow?.();
      call.waiting -= 1;
      if (call.waiting === 0 && this.#options.abandoned !== "goes on") this.#end(key, call);
    }
  }

  /** Drops what is kept for a key; a call under way goes on, but its answer is not kept. */
  forget(key: string): void {
    this.#kept.delete(key);
    this.#calls.delete(key);
  }

  clear(): void {
    this.#kept.clear();
    this.#calls.clear();
  }

  #start(key: string, work: (callers: Callers<C>, signal: AbortSignal) => Promise<T>): Call<T, C> {
    const ending = new AbortController();
    const callers = new CallerList<C>(this.#options.nameOf);
    const answer = Promise.resolve().then(() => work(callers, ending.signal));
    const call = { answer, ending, callers, waiting: 0 };
    this.#calls.set(key, call);
    answer.then((value) => this.#keep(key, { call, value }), () => this.#drop(key, call));
    return call;
  }

  #keep(key: string, { call, value }: { readonly call: Call<T, C>; readonly value: T }): void {
    if (!this.#drop(key, call)) return;
    const keepMs = this.#options.keepMs?.(value) ?? 0;
    if (keepMs > 0) this.#kept.set(key, { answer: value, untilMs: this.#options.clock.monotonicMs() + keepMs });
  }

  /** Deletes what has expired: it may never be requested again, and takes the place of others. */
  #sweep(): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs - this.#sweptMs < SWEEP_MS) return;
    this.#sweptMs = nowMs;
    const expired = [...this.#kept.entries()].filter(([, { untilMs }]) => untilMs <= nowMs);
    for (const [key] of expired) this.#kept.delete(key);
  }

  #end(key: string, call: Call<T, C>): void {
    this.#drop(key, call);
    call.ending.abort(new DOMException("No caller waits for this call any more.", "AbortError"));
  }

  #drop(key: string, call: Call<T, C>): boolean {
    return this.#calls.get(key) === call && this.#calls.delete(key);
  }
}

class CallerList<C> implements Callers<C> {
  readonly #nameOf: (caller: C) => string;
  readonly #members = new Map<string, C>();
  readonly #listeners = new Set<(caller: C) => void>();

  constructor(nameOf: ((caller: C) => string) | undefined) {
    this.#nameOf = nameOf ?? (() => "");
  }

  get members(): readonly C[] {
    return [...this.#members.values()];
  }

  onJoin(listener: (caller: C) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Adds the members of others, also those who join them, until the result is called. */
  follow(others: Callers<C>): () => void {
    for (const caller of others.members) this.#add(caller);
    return others.onJoin((caller) => this.#add(caller));
  }

  #add(caller: C): void {
    const name = this.#nameOf(caller);
    if (this.#members.has(name)) return;
    this.#members.set(name, caller);
    for (const listener of [...this.#listeners]) listener(caller);
  }
}
