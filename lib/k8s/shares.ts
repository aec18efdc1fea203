// Shares of memory for what tenants make, by namespaces: how many objects there are, and how large, is up to whoever creates them.
import type { Logger } from "../log.ts";
import { splitKey } from "./types.ts";

/** Where there is no room in all, the namespace with most gives up what came first, while it keeps the newcomer's. */
export interface Sharing<T> {
  readonly weightOf: (value: T) => number;
  readonly maxOfNamespace: number;
  readonly maxInAll: number;
  readonly rest: string;
}

/** How many objects make room for one at most. It bounds the search, which is made for every object that comes. */
const MAX_LEAVING = 64;

interface Share {
  readonly weights: Map<string, number>;
  sum: number;
}

export class Shares<T> {
  readonly #limits: Sharing<T>;
  readonly #log: Logger;
  readonly #shares = new Map<string, Share>();
  /** Namespaces of which something was left out since the last list, or since they last had nothing. */
  readonly #cut = new Set<string>();
  #inAll = 0;

  constructor(limits: Sharing<T>, log: Logger) {
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
    const { rest } = this.#limits;
    if (!this.#cut.has(namespace)) this.#log.warn("more objects than there is room to keep", { namespace, rest });
    this.#cut.add(namespace);
  }

  /** Everything has been given again: what is left out from here on is logged again. */
  listed(): void {
    this.#cut.clear();
  }

  note(key: string, value: T): void {
    const namespace = namespaceOf(key);
    const weight = this.#limits.weightOf(value);
    // It has nothing to give up, and must not be searched for it.
    if (weight === 0) return this.forget(key);
    const share = this.#shares.get(namespace) ?? { weights: new Map(), sum: 0 };
    const more = weight - (share.weights.get(key) ?? 0);
    share.weights.set(key, weight);
    share.sum += more;
    this.#inAll += more;
    this.#shares.set(namespace, share);
  }

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
