// A reflector's cache: trimmed values by key, never raw objects, and their changes.
import { errorText, type Logger } from "../log.ts";
import { type ShareLimits, Shares } from "./shares.ts";
import { keyOf, type KubeObject } from "./types.ts";

export type Change<T> =
  | { readonly kind: "apply"; readonly key: string; readonly value: T; readonly previous?: T }
  | { readonly kind: "delete"; readonly key: string; readonly value: T };

export type Retention<T> =
  | { readonly kind: "all" }
  /** Each watch event and list reports an object as new; deletions are not reported. */
  | { readonly kind: "nothing" }
  /** Of an object beyond {@link ShareLimits}, keeps the `reduce`d value, which has no weight, or nothing. */
  | ShareLimits<T> & { readonly kind: "shares"; readonly reduce?: (value: T) => T };

interface CachedObject<T> {
  readonly value: T;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
}

export interface ObjectCacheOptions<T> {
  /** Trims an object to the kept value; undefined when irrelevant. Pure. */
  readonly parse: (object: KubeObject) => T | undefined;
  /** Called for every change, in order, after the cache is updated. Must be quick: add the key to a queue. */
  readonly onChange: (change: Change<T>) => void;
  readonly retain: Retention<T>;
  readonly log: Logger;
}

/** Values by key. Reports every difference once; an unchanged object has no effect. */
export class ObjectCache<T> {
  readonly #options: ObjectCacheOptions<T>;
  readonly #entries = new Map<string, CachedObject<T>>();
  readonly #shares: Shares<T> | undefined;

  constructor(options: ObjectCacheOptions<T>) {
    this.#options = options;
    this.#shares = options.retain.kind === "shares" ? new Shares(options.retain, options.log) : undefined;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): T | undefined {
    return this.#entries.get(key)?.value;
  }

  *values(): Generator<T, void> {
    for (const entry of this.#entries.values()) yield entry.value;
  }

  /** Returns the object's key, or undefined if it is not kept. A new uid means a new object. */
  apply(object: KubeObject): string | undefined {
    const key = keyOf(object);
    const { uid, resourceVersion } = object.metadata;
    const known = this.#entries.get(key);
    const isSame = known?.uid === uid && resourceVersion !== undefined && known?.resourceVersion === resourceVersion;
    if (known !== undefined && isSame) return key;
    const value = this.#parse(key, object);
    const kept = value === undefined ? undefined : this.#fit(key, value);
    if (kept === undefined || (known !== undefined && known.uid !== uid)) this.#drop(key);
    if (value === undefined) return undefined;
    if (kept === undefined) {
      if (this.#options.retain.kind === "nothing") this.#notify({ kind: "apply", key, value });
      return undefined;
    }
    this.#put(key, { value: kept, uid, resourceVersion });
    return key;
  }

  delete(object: KubeObject): void {
    this.#drop(keyOf(object));
  }

  keepOnly(keys: ReadonlySet<string>): void {
    for (const key of [...this.#entries.keys()]) if (!keys.has(key)) this.#drop(key);
    this.#shares?.afterList();
  }

  #drop(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#shares?.forget(key);
    this.#notify({ kind: "delete", key, value: entry.value });
  }

  #put(key: string, entry: CachedObject<T>): void {
    const { value } = entry;
    const previous = this.#entries.get(key);
    this.#entries.set(key, entry);
    this.#shares?.note(key, value);
    this.#notify({ kind: "apply", key, value, ...(previous === undefined ? {} : { previous: previous.value }) });
  }

  /** Makes room for a value and returns what is kept of it; undefined for nothing. */
  #fit(key: string, value: T): T | undefined {
    const { retain } = this.#options;
    if (retain.kind === "nothing") return undefined;
    const evictions = this.#shares === undefined ? [] : this.#shares.evictionsFor(key, value);
    const reduce = retain.kind === "shares" ? retain.reduce : undefined;
    if (evictions === undefined) return reduce?.(value);
    for (const other of evictions) {
      const entry = this.#entries.get(other);
      if (reduce === undefined || entry === undefined) this.#drop(other);
      else this.#put(other, { ...entry, value: reduce(entry.value) });
    }
    return value;
  }

  /** An object for which `parse` throws counts as irrelevant, so that all other objects are still read. */
  #parse(key: string, object: KubeObject): T | undefined {
    try {
      return this.#options.parse(object);
    } catch (error) {
      this.#options.log.warn("object cannot be read, ignored", { key, error: errorText(error) });
      return undefined;
    }
  }

  #notify(change: Change<T>): void {
    try {
      this.#options.onChange(change);
    } catch (error) {
      this.#options.log.error("change could not be taken", { key: change.key, error: errorText(error) });
    }
  }
}
