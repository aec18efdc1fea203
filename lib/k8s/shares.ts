// Limits the memory for tenants' objects per namespace and in total, since tenants choose their number and size.
import type { Logger } from "../log.ts";
import { splitKey } from "./types.ts";

/** Beyond `maxTotal`, the largest namespaces lose their oldest objects, but stay as large as the new object's one. */
export interface ShareLimits<T> {
  readonly weightOf: (value: T) => number;
  readonly maxPerNamespace: number;
  readonly maxTotal: number;
  readonly consequence: string;
}

/** Most evictions for one object. Bounds the search, which runs for every new object. */
const MAX_EVICTIONS = 64;

interface Share {
  readonly weights: Map<string, number>;
  sum: number;
}

export class Shares<T> {
  readonly #limits: ShareLimits<T>;
  readonly #log: Logger;
  readonly #shares = new Map<string, Share>();
  /** Namespaces that have lost objects since the last list, or since they were last empty. */
  readonly #cut = new Set<string>();
  #total = 0;

  constructor(limits: ShareLimits<T>, log: Logger) {
    this.#limits = limits;
    this.#log = log;
  }

  /** The keys to drop so that the value fits; undefined when it cannot fit. Logs each losing namespace once. */
  evictionsFor(key: string, value: T): readonly string[] | undefined {
    const { maxPerNamespace, maxTotal, weightOf } = this.#limits;
    const namespace = namespaceOf(key);
    const share = this.#shares.get(namespace);
    const more = weightOf(value) - (share?.weights.get(key) ?? 0);
    const own = (share?.sum ?? 0) + more;
    const need = this.#total + more - maxTotal;
    const evictions = own > maxPerNamespace ? undefined : this.#fromGreater(need, { namespace, own });
    for (const losing of evictions === undefined ? [namespace] : evictions.map(namespaceOf)) this.#warnOnce(losing);
    return evictions;
  }

  #warnOnce(namespace: string): void {
    const { consequence } = this.#limits;
    if (!this.#cut.has(namespace)) {
      this.#log.warn("more objects than there is room to keep", { namespace, consequence });
    }
    this.#cut.add(namespace);
  }

  /** Call after a complete list: later losses are logged again. */
  afterList(): void {
    this.#cut.clear();
  }

  note(key: string, value: T): void {
    const namespace = namespaceOf(key);
    const weight = this.#limits.weightOf(value);
    // To drop a value without weight makes no room, so it would only slow down the search.
    if (weight === 0) return this.forget(key);
    const share = this.#shares.get(namespace) ?? { weights: new Map(), sum: 0 };
    const more = weight - (share.weights.get(key) ?? 0);
    share.weights.set(key, weight);
    share.sum += more;
    this.#total += more;
    this.#shares.set(namespace, share);
  }

  forget(key: string): void {
    const namespace = namespaceOf(key);
    const share = this.#shares.get(namespace);
    const weight = share?.weights.get(key);
    if (share === undefined || weight === undefined) return;
    share.weights.delete(key);
    share.sum -= weight;
    this.#total -= weight;
    if (share.weights.size > 0) return;
    this.#shares.delete(namespace);
    this.#cut.delete(namespace);
  }

  /** Keys with total weight `need`, from namespaces that each keep at least `own`; undefined if there are too few. */
  #fromGreater(
    need: number,
    { namespace, own }: { readonly namespace: string; readonly own: number },
  ): readonly string[] | undefined {
    if (need <= 0) return [];
    const givers: Giver[] = [];
    for (const [name, { weights, sum }] of this.#shares) {
      if (name !== namespace && sum > own) givers.push({ first: weights.entries(), sum });
    }
    const evictions: string[] = [];
    for (let left = need; left > 0;) {
      const giver = greatestOf(givers);
      if (giver === undefined || evictions.length === MAX_EVICTIONS) return undefined;
      const [key, weight = 0] = giver.first.next().value ?? [];
      if (key === undefined || giver.sum - weight < own) {
        givers.splice(givers.indexOf(giver), 1);
        continue;
      }
      giver.sum -= weight;
      left -= weight;
      evictions.push(key);
    }
    return evictions;
  }
}

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
