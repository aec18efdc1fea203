// What a reflector keeps: trimmed values by key, never raw objects, and the changes that come out of them.
import { errorText, type Logger } from "../log.ts";
import { type ShareLimits, Shares } from "./shares.ts";
import { keyOf, type KubeObject } from "./types.ts";

export type Change<T> =
  | { readonly kind: "apply"; readonly key: string; readonly value: T; readonly previous?: T }
  | { readonly kind: "delete"; readonly key: string; readonly value: T };

export type Keeping<T> =
  | { readonly kind: "all" }
  /** Nothing. Each watch event and each list reports an object as new; deletions are not reported. */
  | { readonly kind: "nothing" }
  /** Beyond the limits of {@link ShareLimits} an object is kept as `reduce` makes it, which weighs nothing, or not at all. */
  | ShareLimits<T> & { readonly kind: "shares"; readonly reduce?: (value: T) => T };

interface Entry<T> {
  readonly value: T;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
}

export interface ObjectCacheOptions<T> {
  /** Trims an object to what is kept; undefined when it is of no interest. Pure. */
  readonly parse: (object: KubeObject) => T | undefined;
  /** Called for every change, in order, after the cache has it. Must be quick: add the key to a queue. */
  readonly onChange: (change: Change<T>) => void;
  readonly keep: Keeping<T>;
  readonly log: Logger;
}

/** Values by key. Every difference is reported once; an object that is given again unchanged changes nothing. */
export class ObjectCache<T> {
  readonly #options: ObjectCacheOptions<T>;
  readonly #entries = new Map<string, Entry<T>>();
  readonly #shares: Shares<T> | undefined;

  constructor(options: ObjectCacheOptions<T>) {
    this.#options = options;
    this.#shares = options.keep.kind === "shares" ? new Shares(options.keep, options.log) : undefined;
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

  /** Gives the key of the object, or undefined when it is not kept. Another uid is another object. */
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
      if (this.#options.keep.kind === "nothing") this.#notify({ kind: "apply", key, value });
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

  #put(key: string, entry: Entry<T>): void {
    const { value } = entry;
    const previous = this.#entries.get(key);
    this.#entries.set(key, entry);
    this.#shares?.note(key, value);
    this.#notify({ kind: "apply", key, value, ...(previous === undefined ? {} : { previous: previous.value }) });
  }

  /** Makes room for a value and gives what is kept of it; undefined for nothing. */
  #fit(key: string, value: T): T | undefined {
    const { keep } = this.#options;
    if (keep.kind === "nothing") return undefined;
    const evictions = this.#shares === undefined ? [] : this.#shares.evictionsFor(key, value);
    const reduce = keep.kind === "shares" ? keep.reduce : undefined;
    if (evictions === undefined) return reduce?.(value);
    for (const other of evictions) {
      const entry = this.#entries.get(other);
      if (reduce === undefined || entry === undefined) this.#drop(other);
      else this.#put(other, { ...entry, value: reduce(entry.value) });
    }
    return value;
  }

  /** A parser that fails on one object must not stop the rest: the object counts as of no interest. */
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
