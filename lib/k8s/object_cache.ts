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
  /**
   * What the share of its namespace has room for. Where there is none left in all, the namespace with the greatest weight gives
   * up what came first, as long as it keeps at least as much as the newcomer's then has. What is not kept counts as of no
   * interest until it changes, or is listed again.
   */
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
    const isKept = value !== undefined && this.#makeRoom(key, value);
    if (!isKept || (known !== undefined && known.uid !== uid)) this.#drop(key);
    if (value === undefined) return undefined;
    if (!isKept) {
      if (this.#options.keep?.kind === "nothing") this.#notify({ kind: "apply", key, value });
      return undefined;
    }
    const previous = this.#entries.get(key);
    this.#entries.set(key, { value, uid, resourceVersion });
    this.#shares?.note(key, value);
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
    this.#shares?.listed();
  }

  #drop(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#shares?.forget(key);
    this.#notify({ kind: "delete", key, value: entry.value });
  }

  /** Whether there is room for it; what has to go for it has gone. */
  #makeRoom(key: string, value: T): boolean {
    if (this.#options.keep?.kind === "nothing") return false;
    const leaving = this.#shares === undefined ? [] : this.#shares.leavingFor(key, value);
    for (const other of leaving ?? []) this.#drop(other);
    return leaving !== undefined;
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

/** How many objects make room for one at most. It bounds the search, which is made for every object that comes. */
const MAX_LEAVING = 64;

/** What one namespace has: the weights by key, in the order in which they came, and their sum. */
interface Share {
  readonly weights: Map<string, number>;
  sum: number;
}

/** The weight of what is kept, of each namespace and in all: how many objects there are is up to whoever creates them. */
class Shares<T> {
  readonly #limits: Extract<Keeping<T>, { readonly kind: "shares" }>;
  readonly #log: Logger;
  readonly #shares = new Map<string, Share>();
  /** Namespaces of which something was left out since the last list, or since they last had nothing. */
  readonly #cut = new Set<string>();
  #inAll = 0;

  constructor(limits: Extract<Keeping<T>, { readonly kind: "shares" }>, log: Logger) {
    this.#limits = limits;
    this.#log = log;
  }

  /** The keys that have to go so that there is room for it; undefined when there is none. Each namespace that loses by it is logged once. */
  leavingFor(key: string, value: T): readonly string[] | undefined {
    const { maxOfNamespace, maxInAll, weightOf } = this.#limits;
    const namespace = namespaceOf(key);
    const share = this.#shares.get(namespace);
    const more = weightOf(value) - (share?.weights.get(key) ?? 0);
    const own = (share?.sum ?? 0) + more;
    const need = this.#inAll + more - maxInAll;
    const leaving = own > maxOfNamespace ? undefined : this.#fromGreater(need, { namespace, own });
    for (const losing of leaving === undefined ? [namespace] : leaving.map(namespaceOf)) this.#warnOnce(losing);
    return leaving;
  }

  #warnOnce(namespace: string): void {
    if (!this.#cut.has(namespace)) this.#log.warn("too many objects to keep: some are left out", { namespace });
    this.#cut.add(namespace);
  }

  /** Everything has been given again: what is left out from here on is logged again. */
  listed(): void {
    this.#cut.clear();
  }

  /** Takes note of what is kept. */
  note(key: string, value: T): void {
    const namespace = namespaceOf(key);
    const share = this.#shares.get(namespace) ?? { weights: new Map(), sum: 0 };
    const weight = this.#limits.weightOf(value);
    const more = weight - (share.weights.get(key) ?? 0);
    share.weights.set(key, weight);
    share.sum += more;
    this.#inAll += more;
    this.#shares.set(namespace, share);
  }

  /** Takes note that it is not kept any more. */
  forget(key: string): void {
    const namespace = namespaceOf(key);
    const share = this.#shares.get(namespace);
    const weight = share?.weights.get(key);
    if (share === undefined || weight === undefined) return;
    share.weights.delete(key);
    share.sum -= weight;
    this.#inAll -= weight;
    if (share.weights.size > 0) return;
    this.#shares.delete(namespace);
    this.#cut.delete(namespace);
  }

  /** Keys of so much weight, each of a namespace that has at least as much as `own` without it; undefined when there are none. */
  #fromGreater(
    need: number,
    { namespace, own }: { readonly namespace: string; readonly own: number },
  ): readonly string[] | undefined {
    if (need <= 0) return [];
    const givers: Giver[] = [];
    for (const [name, { weights, sum }] of this.#shares) {
      if (name !== namespace && sum > own) givers.push({ first: weights.entries(), sum });
    }
    const leaving: string[] = [];
    for (let left = need; left > 0;) {
      const giver = greatestOf(givers);
      if (giver === undefined || leaving.length === MAX_LEAVING) return undefined;
      const [key, weight = 0] = giver.first.next().value ?? [];
      if (key === undefined || giver.sum - weight < own) {
        givers.splice(givers.indexOf(giver), 1);
        continue;
      }
      giver.sum -= weight;
      left -= weight;
      leaving.push(key);
    }
    return leaving;
  }
}

/** A namespace that may give something up: what it has, and its weight without what it has given. */
interface Giver {
  readonly first: Iterator<readonly [string, number]>;
  sum: number;
}

function greatestOf(givers: readonly Giver[]): Giver | undefined {
  return givers.reduce<Giver | undefined>(
    (best, giver) => best === undefined || giver.sum > best.sum ? giver : best,
    undefined,
  );
}

function namespaceOf(key: string): string {
  return splitKey(key).namespace ?? "";
}
