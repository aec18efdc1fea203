// A local copy of a collection, kept up to date by list and watch despite connection failures.
import { backoffMs, type Clock, jitter, openDeadline, orAborted } from "../clock.ts";
import { errorText, type Logger } from "../log.ts";
import type { RawWatchEvent, ReadApi, Selection } from "./api.ts";
import { ApiError, isExpired } from "./api_error.ts";
import { listPages } from "./lists.ts";
import { ObjectCache, type ObjectCacheOptions } from "./object_cache.ts";
import type { ResourceType } from "./types.ts";

export interface ReflectorOptions<T> extends ObjectCacheOptions<T>, Selection {
  readonly api: ReadApi;
  readonly resource: ResourceType;
  readonly clock: Clock;
  readonly name: string;
  /** What to log when the server does not serve the kind; absent: a warning. */
  readonly ifMissing?: { readonly level: "warn" | "debug"; readonly message: string } | undefined;
}

/** What every reflector works with. */
export type ReflectorDeps = Pick<ReflectorOptions<never>, "api" | "clock" | "log">;

export type ReflectorState =
  | "starting"
  /** The copy was complete once and is kept up to date. Stays during API server outages, when an old copy must do. */
  | "synced"
  /** 404: the server does not serve the kind (its CRD is missing). The copy is empty. */
  | "missing"
  /** 403 before the first list: not allowed to read it. */
  | "forbidden";

/** The server ends a watch cleanly after this time, and we resume. Jittered, so that replicas do not align. */
const WATCH_TIMEOUT_SECONDS = 290;
/** The API server sends bookmarks up to 75 s apart. Longer silence means that the connection is dead. */
const WATCH_STALL_MS = 90_000;
/** Longest wait before the first reconnect (ms), so that an API server restart costs little. */
const FIRST_RECONNECT_MS = 50;
const RECONNECT_BACKOFF = { baseMs: 250, capMs: 5_000 } as const;
/** A missing CRD or right may stay missing forever. */
const UNAVAILABLE_BACKOFF = { baseMs: 1_000, capMs: 30_000 } as const;
/** A watch that lasted this long (ms) was healthy, even without an event. */
const HEALTHY_WATCH_MS = 5_000;

export class Reflector<T> {
  readonly #options: ReflectorOptions<T>;
  readonly #log: Logger;
  readonly #store: ObjectCache<T>;
  readonly #firstSync = Promise.withResolvers<void>();
  #state: ReflectorState = "starting";
  /** Where the next watch starts; undefined when a list is due. */
  #resourceVersion: string | undefined;
  /** Failures since the last success: an event, a bookmark, or a watch of HEALTHY_WATCH_MS. */
  #failures = 0;
  /** Since when list and watch are refused, and since when the current watch is open. */
  #refusedSinceMs: number | undefined;
  #watchSinceMs: number | undefined;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#log = options.log.with({ reflector: options.name });
    this.#store = new ObjectCache({ ...options, log: this.#log });
  }

  get size(): number {
    return this.#store.size;
  }

  get(key: string): T | undefined {
    return this.#store.get(key);
  }

  values(): Iterable<T> {
    return this.#store.values();
  }

  state(): ReflectorState {
    return this.#state;
  }

  hasSynced(): boolean {
    return this.#state === "synced";
  }

  /** Resolves at the first complete copy; rejects with the signal's reason. */
  async synced(signal: AbortSignal): Promise<void> {
    await orAborted(this.#firstSync.promise, signal);
  }

  /** How long the server has refused list and watch (ms); before the first list, since `run` began. */
  refusedForMs(): number {
    const nowMs = this.#options.clock.monotonicMs();
    // An accepted watch is silent until a change; a refused one ends at once.
    const isOpen = this.#watchSinceMs !== undefined && nowMs - this.#watchSinceMs >= HEALTHY_WATCH_MS;
    return this.#refusedSinceMs === undefined || isOpen ? 0 : nowMs - this.#refusedSinceMs;
  }

  /** Follows the collection until the signal aborts. Never rejects, never gives up. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#state !== "synced") this.#refusedSinceMs = this.#options.clock.monotonicMs();
    while (!signal.aborted) {
      try {
        this.#resourceVersion ??= await this.#list(signal);
        await this.#watch(this.#resourceVersion, signal);
      } catch (error) {
        if (signal.aborted) return;
        this.#noteRefusal(error);
        await this.#recover(error, signal);
      }
    }
  }

  /** Lists the collection and drops objects that are not in it. Returns the resourceVersion for the next watch. */
  async #list(signal: AbortSignal): Promise<string> {
    const { api, resource, namespace, labelSelector, fieldSelector } = this.#options;
    const seen = new Set<string>();
    let objects = 0;
    let resourceVersion = "";
    for await (const page of listPages(api, resource, { namespace, labelSelector, fieldSelector, signal })) {
      for (const object of page.items) {
        const key = this.#store.apply(object);
        if (key !== undefined) seen.add(key);
      }
      objects += page.items.length;
      resourceVersion = page.resourceVersion;
    }
    this.#store.keepOnly(seen);
    this.#refusedSinceMs = undefined;
    this.#enter("synced");
    this.#firstSync.resolve();
    this.#log.debug("listed", { objects, kept: this.#store.size });
    return resourceVersion;
  }

  /** Follows one watch until the server ends it. Events update where to resume. Throws when it is cut or stalls. */
  async #watch(resourceVersion: string, signal: AbortSignal): Promise<void> {
    const { api, resource, clock, namespace, labelSelector, fieldSelector } = this.#options;
    const startedMs = clock.monotonicMs();
    const timeoutSeconds = Math.round(WATCH_TIMEOUT_SECONDS - 45 + jitter(60));
    using stall = openDeadline(WATCH_STALL_MS, { signal, clock });
    const options = { namespace, labelSelector, fieldSelector, resourceVersion, timeoutSeconds };
    let events = 0;
    this.#watchSinceMs = startedMs;
    try {
      for await (const event of api.watch(resource, options, stall.signal)) {
        stall.restart();
        this.#take(event);
        events++;
        this.#noteSuccess();
      }
    } finally {
      this.#watchSinceMs = undefined;
      if (clock.monotonicMs() - startedMs >= HEALTHY_WATCH_MS) this.#noteSuccess();
      // A watch also stalls if its version is ahead of a server whose data was restored, so list again.
      if (stall.signal.aborted && !signal.aborted) this.#resourceVersion = undefined;
    }
    // A server that ends every watch at once is not healthy; do not reconnect in a tight loop.
    if (events === 0 && clock.monotonicMs() - startedMs < HEALTHY_WATCH_MS) throw new Error("the watch ended at once");
  }

  #take(event: RawWatchEvent): void {
    const { object, type } = event;
    if (type === "DELETED") this.#store.delete(object);
    else if (type !== "BOOKMARK") this.#store.apply(object);
    this.#resourceVersion = object.metadata.resourceVersion ?? this.#resourceVersion;
  }

  async #recover(error: unknown, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const status = error instanceof ApiError ? error.status : 0;
    this.#failures++;
    if (isExpired(error)) this.#resourceVersion = undefined;
    if (status === 404 || status === 403) {
      this.#resourceVersion = undefined;
      this.#leaveUnavailable(status, error);
      return await clock.sleep(backoffMs(this.#failures, UNAVAILABLE_BACKOFF), signal);
    }
    const pauseMs = error instanceof ApiError ? error.retryAfterMs ?? 0 : 0;
    // After one cut the server is probably up: reconnect soon, since a burst of pods must not wait.
    const backoff = this.#failures === 1
      ? jitter(FIRST_RECONNECT_MS)
      : backoffMs(this.#failures - 1, RECONNECT_BACKOFF);
    const waitMs = Math.max(backoff, pauseMs);
    // A single cut is normal. After the second, the log must explain the missing updates.
    const fields = { failures: this.#failures, waitMs: Math.round(waitMs), error: errorText(error) };
    if (this.#failures === 2) this.#log.warn("watch is interrupted", fields);
    else this.#log.debug("watch is interrupted", fields);
    await clock.sleep(waitMs, signal);
  }

  #noteRefusal(error: unknown): void {
    if (error instanceof ApiError && error.status >= 400 && error.status !== 429 && !isExpired(error)) {
      this.#refusedSinceMs ??= this.#options.clock.monotonicMs();
    } else if (this.#state === "synced") this.#refusedSinceMs = undefined;
  }

  #noteSuccess(): void {
    this.#failures = 0;
    this.#refusedSinceMs = undefined;
  }

  #leaveUnavailable(status: 403 | 404, error: unknown): void {
    if (status === 404) {
      this.#store.keepOnly(new Set());
      this.#enter("missing", error);
    } else if (this.#state !== "synced") this.#enter("forbidden", error);
    else if (this.#failures === 1) {
      this.#log.warn("may no longer be read, keeping the copy", { error: errorText(error) });
    }
  }

  #enter(state: ReflectorState, error?: unknown): void {
    if (this.#state === state) return;
    const from = this.#state;
    this.#state = state;
    if (error === undefined) return this.#log.info("in sync", { from, kept: this.#store.size });
    const unreadable = { level: "warn", message: "cannot be read, retrying" } as const;
    const { level, message } = (state === "missing" ? this.#options.ifMissing : undefined) ?? unreadable;
    this.#log[level](message, { state, error: errorText(error) });
  }
}
