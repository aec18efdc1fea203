// Equal calls at the same time share one call, whose answer may be kept. The shared call has its own signal.
import { LRUCache } from "lru-cache";
import { type Clock, orAborted } from "../clock.ts";
import { atMost, livingBy } from "./cache_limits.ts";
import { type Callers, SharedCallers } from "./callers.ts";

interface SharedCallOptions<T> {
  readonly clock: Pick<Clock, "monotonicMs">;
  /** How long an answer is given to later callers (ms); absent: not at all. A rejection is never kept. */
  readonly keepMs?: ((answer: T) => number) | undefined;
  /** How many answers are kept, unless they are weighed. */
  readonly maxKept?: number | undefined;
  /** What the kept answers may weigh together with their keys, and what each weighs. */
  readonly weighed?: { readonly maxSize: number; readonly sizeOf: (answer: T) => number } | undefined;
  /** Whether a call goes on when its last caller has left, so that the next caller joins it. Default: it is aborted. */
  readonly outlivesCallers?: boolean | undefined;
}

interface Call<T> {
  readonly answer: Promise<T>;
  readonly ending: AbortController;
  readonly callers: SharedCallers;
  waiting: number;
}

const DEFAULT_KEPT = 1_000;

export class SharedCalls<T> {
  readonly #options: SharedCallOptions<T>;
  readonly #calls = new Map<string, Call<T>>();
  readonly #kept: LRUCache<string, { readonly answer: T }>;

  constructor(options: SharedCallOptions<T>) {
    this.#options = options;
    const { clock, maxKept = DEFAULT_KEPT, weighed } = options;
    const bound = weighed === undefined ? atMost(maxKept) : {
      maxSize: weighed.maxSize,
      sizeCalculation: ({ answer }: { readonly answer: T }, key: string) => key.length + weighed.sizeOf(answer),
    };
    this.#kept = new LRUCache({ ...bound, ...livingBy(clock) });
  }

  /** Gives a kept answer, the answer of a call under way, or that of a new call. `callers` join the shared call. */
  async run(
    key: string,
    { callers, signal }: { readonly callers?: Callers | undefined; readonly signal: AbortSignal },
    work: (callers: Callers, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    signal.throwIfAborted();
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept.answer;
    const call = this.#calls.get(key) ?? this.#start(key, work);
    const unfollow = callers === undefined ? undefined : call.callers.follow(callers);
    call.waiting += 1;
    try {
      return await orAborted(call.answer, signal);
    } finally {
      unfollow?.();
      call.waiting -= 1;
      if (call.waiting === 0 && this.#options.outlivesCallers !== true) this.#end(key, call);
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

  #start(key: string, work: (callers: Callers, signal: AbortSignal) => Promise<T>): Call<T> {
    const ending = new AbortController();
    const callers = new SharedCallers();
    const answer = Promise.resolve().then(() => work(callers, ending.signal));
    const call = { answer, ending, callers, waiting: 0 };
    this.#calls.set(key, call);
    answer.then((value) => this.#keep(key, { call, value }), () => this.#drop(key, call));
    return call;
  }

  #keep(key: string, { call, value }: { readonly call: Call<T>; readonly value: T }): void {
    if (!this.#drop(key, call)) return;
    const ttl = this.#options.keepMs?.(value) ?? 0;
    if (ttl <= 0) return;
    // Expired answers may never be requested again, but would take the place of others.
    this.#kept.purgeStale();
    // The cache would still give an answer at the very end of its ttl.
    this.#kept.set(key, { answer: value }, { ttl: ttl - 0.001 });
  }

  #end(key: string, call: Call<T>): void {
    this.#drop(key, call);
    call.ending.abort(new DOMException("No caller waits for this call any more.", "AbortError"));
  }

  #drop(key: string, call: Call<T>): boolean {
    return this.#calls.get(key) === call && this.#calls.delete(key);
  }
}
