// What a reflector keeps: trimmed values by key, never raw objects, and the changes that come out of them.
import { errorText, type Logger } from "../log.ts";
import { keyOf, type KubeObject } from "./types.ts";

/** What happened to a key. Without `previous` it is new. */
export type Change<T> =
  | { readonly kind: "apply"; readonly key: string; readonly value: T; readonly previous?: T }
  | { readonly kind: "delete"; readonly key: string; readonly value: T };

interface Entry<T> {
  readonly value: T;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
}

/** What a store needs. */
export interface ObjectCacheOptions<T> {
  readonly parse: (object: KubeObject) => T | undefined;
  readonly onChange: (change: Change<T>) => void;
  readonly log: Logger;
}

/** Values by key. Every difference is reported once; an object that is given again unchanged changes nothing. */
export class ObjectCache<T> {
  readonly #options: ObjectCacheOptions<T>;
  readonly #entries = new Map<string, Entry<T>>();

  constructor(options: ObjectCacheOptions<T>) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The value of a key. */
  get(key: string): T | undefined {
    return this.#entries.get(key)?.value;
  }

  /** All values, as they are when the iteration reaches them. */
  *values(): Generator<T, void> {
    for (const entry of this.#entries.values()) yield entry.value;
  }

  /** Takes an object as it is now and gives its key. One of no interest is dropped; another uid is another object. */
  apply(object: KubeObject): string {
    const key = keyOf(object);
    const { uid, resourceVersion } = object.metadata;
    const known = this.#entries.get(key);
    if (known !== undefined && known.uid === uid && isSameVersion(known.resourceVersion, resourceVersion)) return key;
    const value = this.#parse(key, object);
    if (value === undefined || (known !== undefined && known.uid !== uid)) this.#drop(key);
    if (value === undefined) return key;
    const previous = this.#entries.get(key);
    this.#entries.set(key, { value, uid, resourceVersion });
    this.#notify({ kind: "apply", key, value, ...(previous === undefined ? {} : { previous: previous.value }) });
    return key;
  }

  /** Takes note that an object is gone. */
  delete(object: KubeObject): void {
    this.#drop(keyOf(object));
  }

  /** Everything that is not named is gone. */
  keepOnly(keys: ReadonlySet<string>): void {
    for (const key of [...this.#entries.keys()]) if (!keys.has(key)) this.#drop(key);
  }

  #drop(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#notify({ kind: "delete", key, value: entry.value });
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

function isSameVersion(a: string | undefined, b: string | undefined): boolean {
  return a !== undefined && a === b;
}
