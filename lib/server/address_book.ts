// The addresses that connections of a listener come from: how many of each are unproven, which addresses have proven
// themselves, and whose handshake begins next. A handshake costs about a millisecond of the event loop, so each is paid
// for with tokens. Those of a connection that proves itself are given back: what the API server opens is never limited,
// only how many of its connections are unproven at a time.
import ipaddr from "ipaddr.js";

/** The path of the pod webhook that a client called and so proved to be an API server: the manifests', or the secret one. */
export type Proof = "plain" | "secret";

/** An IPv4 address, or a /64 of IPv6, in which one host may choose any address. */
export interface Address<C> {
  readonly unproven: Set<C>;
  /** Unproven ones whose client waits for the handshake to go on, oldest first. */
  readonly waiting: Set<C>;
  /** Until when it counts as proven by each path (monotonic ms). */
  readonly provenUntilMs: Record<Proof, number>;
  beganAtMs: number;
  readonly handshakes: TokenBucket;
  /** Handshakes that it may begin although unproven addresses have used up their common limit. */
  readonly reserve: TokenBucket;
}

/** Limits of handshakes: of one address, of all unproven ones together, and of each of these beyond that (`reserve`). */
export type HandshakeRates = Readonly<Record<"address" | "unproven" | "reserve", TokenRate>>;

interface TokenRate {
  readonly burst: number;
  readonly perSecond: number;
}

export class TokenBucket {
  readonly rate: TokenRate;
  #left: number;
  #sinceMs: number;

  constructor(rate: TokenRate, nowMs: number) {
    [this.rate, this.#left, this.#sinceMs] = [rate, rate.burst, nowMs];
  }

  left(nowMs: number): number {
    this.add((nowMs - this.#sinceMs) * this.rate.perSecond / 1_000);
    this.#sinceMs = nowMs;
    return this.#left;
  }

  add(tokens: number): void {
    this.#left = Math.min(this.rate.burst, this.#left + tokens);
  }
}

/** How long an address counts as proven (ms). Anybody knows the plain path: only for as long as an idle connection is kept. */
const PROVEN_FOR_MS: Readonly<Record<Proof, number>> = { plain: 120_000, secret: 10 * 60_000 };

export class AddressBook<C> {
  readonly #nowMs: () => number;
  readonly #rates: HandshakeRates;
  readonly #addresses = new Map<string, Address<C>>();
  readonly #ofUnproven: TokenBucket;
  unproven = 0;

  constructor(rates: HandshakeRates, nowMs: () => number) {
    [this.#nowMs, this.#rates, this.#ofUnproven] = [nowMs, rates, new TokenBucket(rates.unproven, nowMs())];
  }

  get hasWaiting(): boolean {
    return this.#addresses.values().some(({ waiting }) => waiting.size > 0);
  }

  of(remoteAddress: string): Address<C> {
    const nowMs = this.#nowMs();
    return this.#addresses.getOrInsertComputed(keyOfAddress(remoteAddress), () => ({
      unproven: new Set(),
      waiting: new Set(),
      provenUntilMs: { plain: -Infinity, secret: -Infinity },
      beganAtMs: -Infinity,
      handshakes: new TokenBucket(this.#rates.address, nowMs),
      reserve: new TokenBucket(this.#rates.reserve, nowMs),
    }));
  }

  add(member: C, { unproven }: Address<C>): void {
    unproven.add(member);
    this.unproven++;
  }

  remove(member: C, { unproven, waiting }: Address<C>): void {
    waiting.delete(member);
    if (unproven.delete(member)) this.unproven--;
  }

  prove(address: Address<C>, proof: Proof): void {
    address.provenUntilMs[proof] = this.#nowMs() + PROVEN_FOR_MS[proof];
  }

  isProven({ provenUntilMs: { plain, secret } }: Address<C>): boolean {
    return this.#nowMs() < Math.max(plain, secret);
  }

  /** Proofs by the manifests' path count no longer. */
  revokePlain(): void {
    for (const { provenUntilMs } of this.#addresses.values()) provenUntilMs.plain = -Infinity;
  }

  /** The buckets of which a handshake of this address takes a token; undefined while it must wait. */
  price(address: Address<C>): readonly TokenBucket[] | undefined {
    const nowMs = this.#nowMs();
    const { handshakes, reserve } = address;
    if (handshakes.left(nowMs) < 1) return undefined;
    if (this.isProven(address)) return [handshakes];
    // Within the common limit a handshake takes from the reserve, too, which is for addresses that pause.
    const paid = [this.#ofUnproven, reserve].filter((bucket) => bucket.left(nowMs) >= 1);
    return paid.length > 0 ? [handshakes, ...paid] : undefined;
  }

  /** Takes the newest of the address whose last handshake is longest ago: the client of an older one may be gone. */
  beginNext(): { readonly member: C; readonly paid: readonly TokenBucket[] } | undefined {
    const next = this.#best((address) =>
      address.waiting.size > 0 && this.price(address) !== undefined ? -address.beganAtMs : -Infinity
    );
    const member = [...next?.waiting ?? []].at(-1);
    const paid = next === undefined ? undefined : this.price(next);
    if (next === undefined || member === undefined || paid === undefined) return undefined;
    for (const bucket of paid) bucket.add(-1);
    next.waiting.delete(member);
    next.beganAtMs = this.#nowMs();
    return { member, paid };
  }

  withMostUnproven(): Address<C> | undefined {
    return this.#best((address) => {
      const { size } = address.unproven;
      return size === 0 ? -Infinity : this.isProven(address) ? -1 / size : size;
    });
  }

  sweep(): void {
    const nowMs = this.#nowMs();
    for (const [key, address] of this.#addresses) {
      const isFull = [address.handshakes, address.reserve].every((bucket) => bucket.left(nowMs) >= bucket.rate.burst);
      if (isFull && address.unproven.size === 0 && !this.isProven(address)) this.#addresses.delete(key);
    }
  }

  #best(scoreOf: (address: Address<C>) => number): Address<C> | undefined {
    let [best, highest]: readonly [Address<C> | undefined, number] = [undefined, -Infinity];
    for (const address of this.#addresses.values()) {
      const score = scoreOf(address);
      if (score > highest) [best, highest] = [address, score];
    }
    return best;
  }
}

/** An IPv4 address, also one that is written as IPv6; of IPv6 the first 64 bits. */
export function keyOfAddress(remoteAddress: string): string {
  if (!remoteAddress.includes(":")) return remoteAddress;
  if (!ipaddr.isValid(remoteAddress)) return "";
  const parsed = ipaddr.process(remoteAddress);
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(":") : parsed.toString();
}
