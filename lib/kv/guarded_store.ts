// Makes a store that never fails or hangs from a database that may, by time limits and a circuit breaker.
import pLimit from "p-limit";
import { type Clock, LATE, withinMs } from "../clock.ts";
import { tryParseJson } from "../json.ts";
import { errorText, type LogFields, type Logger } from "../log.ts";
import { CircuitBreaker } from "../circuit_breaker.ts";
import { storedBytes } from "./envelope.ts";
import type { KeyValueStore, StoreEntry, StoreKey } from "./store.ts";

/** The calls that a database must offer; all may reject or hang. Values are written as JSON text. */
export interface Database {
  get(key: StoreKey): Promise<unknown>;
  set(key: StoreKey, text: string): Promise<void>;
  create(key: StoreKey, text: string): Promise<boolean>;
  delete(key: StoreKey): Promise<void>;
  list(prefix: StoreKey): AsyncGenerator<Pick<StoreEntry, "key" | "value">>;
  close(): void;
}

interface GuardOptions {
  /** Opens the database; called again after repeated faults, once the previous one is closed. */
  readonly open: () => Promise<Database>;
  readonly clock: Clock;
  readonly log: Logger;
}

export const CALL_TIMEOUT_MS = 250;
/** Time limit for opening, and for one step of a listing (ms). */
export const LONG_TIMEOUT_MS = 2_000;
/** How long the database is left alone (ms) after {@link FAULTS_IN_A_ROW}. */
export const REST_MS = 10_000;
export const FAULTS_IN_A_ROW = 3;

/** Deno KV takes 65 536 bytes a value, and a character may need two. */
const MAX_VALUE_CHARACTERS = 32_000;

/** Writes under way at once. A file makes one after the other, so on a slow disk each waits for those before it. */
const MAX_PARALLEL_WRITES = 4;
/**
 * Writes that may wait for their turn here; more are dropped. In the database, a burst of writes would exceed the time
 * limit of a call.
 */
const MAX_WAITING_WRITES = 10_000;

/**
 * Waits at most `waitMs` for the database to open. Until it is open, and while it rests after faults, every call is a
 * miss.
 */
export async function openGuardedStore(options: GuardOptions, waitMs: number): Promise<KeyValueStore> {
  const guard = new Guard(options);
  await guard.connect(waitMs);
  const run = async <T>(work: (database: Database) => Promise<T>, otherwise: T): Promise<T> => {
    const answer = await guard.run(work, CALL_TIMEOUT_MS);
    return answer === LATE ? otherwise : answer;
  };
  const turns = pLimit(MAX_PARALLEL_WRITES);
  /**
   * A value that is too large, or one write too many, never reaches the database and does not count for its breaker.
   */
  const write = (value: unknown, work: (database: Database, text: string) => Promise<boolean>): Promise<boolean> => {
    const text = JSON.stringify(value);
    if (text.length <= MAX_VALUE_CHARACTERS && turns.pendingCount < MAX_WAITING_WRITES) {
      return turns(() => run((database) => work(database, text), false));
    }
    guard.faults += 1;
    return Promise.resolve(false);
  };
  return {
    get: async (key) => parseText(await run((database) => database.get(key), undefined)),
    set: (key, value) => write(value, (database, text) => database.set(key, text).then(() => true)),
    create: (key, value) => write(value, (database, text) => database.create(key, text)),
    delete: (key) => turns(() => run((database) => database.delete(key).then(() => true), false)),
    list: (prefix) => guard.list(prefix),
    cutListingCount: () => guard.cutListings,
    faultCount: () => guard.faults,
    // This turn comes when all earlier writes have begun.
    close: () => guard.close(turns(() => Promise.resolve())),
  };
}

class Guard {
  readonly #options: GuardOptions;
  readonly #breaker: CircuitBreaker;
  #lastFaultAtMs = -Infinity;
  #database: Database | undefined;
  #opening: Promise<void> | undefined;
  #openAgainAtMs = -Infinity;
  #isClosed = false;
  #hasWarned = false;
  readonly #underWay = new Set<Promise<unknown>>();
  faults = 0;
  cutListings = 0;

  constructor(options: GuardOptions) {
    this.#options = options;
    const { clock } = options;
    this.#breaker = new CircuitBreaker({ clock, threshold: FAULTS_IN_A_ROW, baseMs: REST_MS, capMs: REST_MS });
  }

  async run<T>(work: (database: Database) => Promise<T>, limitMs: number): Promise<T | typeof LATE> {
    const breaker = this.#breaker;
    const isResting = this.#isClosed || breaker.state === "open";
    if (!isResting && this.#database === undefined) void this.connect(0);
    const database = this.#database;
    if (isResting || database === undefined || !breaker.tryPass()) {
      this.faults += 1;
      return LATE;
    }
    const sinceMs = this.#options.clock.monotonicMs();
    const call = this.#within(work(database), limitMs);
    this.#underWay.add(call);
    try {
      const answer = await call;
      if (answer === LATE) this.#failed(`no answer within ${limitMs} ms`, sinceMs);
      else this.#succeeded();
      return answer;
    } catch (error) {
      this.#failed(errorText(error), sinceMs);
      return LATE;
    } finally {
      this.#underWay.delete(call);
    }
  }

  async *list(prefix: StoreKey): AsyncIterable<StoreEntry> {
    let steps: ReturnType<Database["list"]> | undefined;
    try {
      for (;;) {
        const step = await this.run((database) => (steps ??= database.list(prefix)).next(), LONG_TIMEOUT_MS);
        if (step === LATE) this.cutListings += 1;
        if (step === LATE || step.done === true) return;
        const { key, value: text } = step.value;
        yield { key, value: parseText(text), bytes: typeof text === "string" ? storedBytes(text) : 0 };
      }
    } finally {
      steps?.return(undefined).catch(() => {});
    }
  }

  /** Closes the database when the waiting writes have begun, or after {@link LONG_TIMEOUT_MS}. */
  async close(drained: Promise<void>): Promise<void> {
    if (this.#isClosed) return;
    await this.#within(drained, LONG_TIMEOUT_MS);
    this.#isClosed = true;
    // What is being written in the background gets its usual time to be acknowledged.
    await Promise.allSettled(this.#underWay);
    await this.#opening;
    this.#drop();
  }

  /** Opens the database unless that failed recently; waits at most `waitMs` for it. Never rejects. */
  async connect(waitMs: number): Promise<void> {
    if (this.#opening === undefined && this.#options.clock.monotonicMs() >= this.#openAgainAtMs) {
      this.#opening = this.#open().finally(() => {
        this.#opening = undefined;
      });
    }
    if (waitMs > 0 && this.#opening !== undefined) await this.#within(this.#opening, waitMs);
  }

  async #open(): Promise<void> {
    const { clock, open } = this.#options;
    const opening = open();
    try {
      const database = await this.#within(opening, LONG_TIMEOUT_MS);
      if (database === LATE) throw new Error(`Cannot open it within ${LONG_TIMEOUT_MS} ms.`);
      if (this.#isClosed) return database.close();
      this.#database = database;
    } catch (error) {
      // A handle that arrives too late is of no use.
      opening.then((late) => late.close(), () => {});
      this.#openAgainAtMs = clock.monotonicMs() + REST_MS;
      this.#warn({ reason: errorText(error) });
    }
  }

  #within<T>(work: Promise<T>, limitMs: number): Promise<T | typeof LATE> {
    return withinMs(work, { limitMs, clock: this.#options.clock });
  }

  #succeeded(): void {
    this.#breaker.succeeded();
    if (!this.#hasWarned) return;
    this.#hasWarned = false;
    this.#options.log.info("the cache database answers again");
  }

  #failed(reason: string, sinceMs: number): void {
    this.faults += 1;
    const breaker = this.#breaker;
    // A call that began before the last fault met the same stall: both count as one fault.
    if (sinceMs < this.#lastFaultAtMs) return breaker.withdrew();
    this.#lastFaultAtMs = this.#options.clock.monotonicMs();
    breaker.failed();
    if (this.#isClosed || breaker.state !== "open") return;
    this.#warn({ reason });
    // Opened anew later: the client of a server never ends a hung call, and a file may have been repaired.
    this.#drop();
  }

  #warn(fields: LogFields): void {
    const level = this.#hasWarned ? "debug" : "warn";
    this.#hasWarned = true;
    this.#options.log[level]("cannot use the cache database; memory only until it answers", fields);
  }

  #drop(): void {
    const dropped = this.#database;
    this.#database = undefined;
    dropped?.close();
  }
}

function parseText(stored: unknown): unknown {
  return typeof stored === "string" ? tryParseJson(stored) : undefined;
}
