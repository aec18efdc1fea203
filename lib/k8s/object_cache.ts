// What a reflector keeps: trimmed values by key, never raw objects, and the changes that come out of them.
import { errorText, type Logger } from "../log.ts";
import { keyOf, type KubeObject, splitKey } from "./types.ts";

/** What happened to a key. Without `previous` it is new. */
export type Change<T> =
  | { readonly kind: "apply"; readonly key: string; readonly value: T; readonly previous?: T }
  | { readonly kind: "delete"; readonly key: string; readonly value: T };

/** How much is kept of what is given. Default: all of it. */
export type Keeping<T> =
  /** Nothing. Every object is reported as new whenever it is given, by each list again; no end is reported. */
  | { readonly kind: "nothing" }
  /** What the share of its namespace has room for; the rest counts as of no interest until it changes, or is listed again. */
  | {
    readonly kind: "shares";
    readonly weightOf: (value: T) => number;
    readonly maxOfNamespace: number;
    readonly maxInAll: number;
  };

interface Entry<T> {
  readonly value: T;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
}

/** What a store needs. */
export interface ObjectCacheOptions<T> {
  readonly parse: (object: KubeObject) => T | undefined;
  readonly onChange: (change: Change<T>) => void;
  readonly keep?: Keeping<T> | undefined;
  readonly log: Logger;
}

/** Values by key. Every difference is reported once; an object that is given again unchanged changes nothing. */
export class ObjectCache<T> {
  readonly #options: ObjectCacheOptions<T>;
  readonly #entries = new Map<string, Entry<T>>();
  readonly #shares: Shares<T> | undefined;

  constructor(options: ObjectCacheOptions<T>) {
    this.#options = options;
    this.#shares = options.keep?.kind === "shares" ? new Shares(options.keep, options.log) : undefined;
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

  /**
   * Takes an object as it is now and gives its key, or undefined when it is not kept. One of no interest is dropped;
   * another uid is another object.
   */
  apply(object: KubeObject): string | undefined {
    const key = keyOf(object);
    const { uid, resourceVersion } = object.metadata;
    const known = this.#entries.get(key);
    if (known !== undefined && known.uid === uid && isSameVersion(known.resourceVersion, resourceVersion)) return key;
    const value = this.#parse(key, object);
    const isKept = value !== undefined && this.#isKept(key, value, known?.value);
    if (!isKept || (known !== undefined && known.uid !== uid)) this.#drop(key);
    if (value === undefined) return undefined;
    if (!isKept) {
      if (this.#options.keep?.kind === "nothing") this.#notify({ kind: "apply", key, value });
      return undefined;
    }
    const previous = this.#entries.get(key);
    this.#entries.set(key, { value, uid, resourceVersion });
    this.#shares?.note(key, { value, previous: previous?.value });
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
    this.#shares?.note(key, { previous: entry.value });
    this.#notify({ kind: "delete", key, value: entry.value });
  }

  #isKept(key: string, value: T, previous: T | undefined): boolean {
    return this.#options.keep?.kind !== "nothing" && this.#shares?.fits(key, { value, previous }) !== false;
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

/** What a key has from now on, and what it had; absent: nothing. */
interface Replacement<T> {
  readonly value?: T | undefined;
  readonly previous?: T | undefined;
}

/** The weight of what is kept, of each namespace and in all: how many objects there are is up to whoever creates them. */
class Shares<T> {
  readonly #limits: Extract<Keeping<T>, { readonly kind: "shares" }>;
  readonly #log: Logger;
  readonly #weights = new Map<string, number>();
  /** Namespaces of which something was left out since they last had nothing. */
  readonly #cut = new Set<string>();
  #inAll = 0;

  constructor(limits: Extract<Keeping<T>, { readonly kind: "shares" }>, log: Logger) {
    this.#limits = limits;
    this.#log = log;
  }

  /** Whether there is room for it. The first one of a namespace that does not fit is logged. */
  fits(key: string, replacement: Replacement<T>): boolean {
    const { maxOfNamespace, maxInAll } = this.#limits;
    const namespace = namespaceOf(key);
    const more = this.#moreBy(replacement);
    if ((this.#weights.get(namespace) ?? 0) + more <= maxOfNamespace && this.#inAll + more <= maxInAll) return true;
    if (!this.#cut.has(namespace)) this.#log.warn("too many objects to keep: more are left out", { namespace });
    this.#cut.add(namespace);
    return false;
  }

  /** Counts it. */
  note(key: string, replacement: Replacement<T>): void {
    const namespace = namespaceOf(key);
    const more = this.#moreBy(replacement);
    const weight = (this.#weights.get(namespace) ?? 0) + more;
    this.#inAll += more;
    if (weight > 0) return void this.#weights.set(namespace, weight);
    this.#weights.delete(namespace);
    this.#cut.delete(namespace);
  }

  #moreBy({ value, previous }: Replacement<T>): number {
    const { weightOf } = this.#limits;
    return (value === undefined ? 0 : weightOf(value)) - (previous === undefined ? 0 : weightOf(previous));
  }
}

function namespaceOf(key: string): string {
  return splitKey(key).namespace ?? "";
}
