// The addresses that connections of a listener come from: how many of each are unproven, which addresses have proven
// themselves, and whose handshake begins next. A handshake costs about a millisecond of the event loop, so each is paid
// for with tokens. Those of a connection that proves itself are given back: what the API server opens is never limited,
// only how many of its connections are unproven at a time.
import ipaddr from "ipaddr.js";

/** By which path of the route of pods a request came: the manifests', or the secret one. */
export type Proof = "plain" | "secret";

/** One address, or one /64 of IPv6, which is one host's to choose from. */
export interface Address<C> {
  readonly unproven: Set<C>;
  /** Those of them whose client waits for the handshake to go on, oldest first. */
  readonly waiting: Set<C>;
  /** Until when it counts as proven by each (monotonic ms). */
  readonly provenUntilMs: Record<Proof, number>;
  beganAtMs: number;
  readonly handshakes: Tokens;
  /** Those that it may begin although unproven clients have used up their common share. */
  readonly reserve: Tokens;
}

/** At once and a second: of one address, of all strangers together, and beyond that of each (the `reserve`). */
export type HandshakeRates = Readonly<Record<"address" | "strangers" | "reserve", TokenRate>>;

interface TokenRate {
  readonly burst: number;
  readonly perSecond: number;
}

export class Tokens {
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

/** How long (ms) an address counts as proven after a request: by the manifests' path, which anybody has, while an idle connection is kept. */
const PROVEN_FOR_MS: Readonly<Record<Proof, number>> = { plain: 120_000, secret: 10 * 60_000 };

export class AddressBook<C> {
  readonly #nowMs: () => number;
  readonly #rates: HandshakeRates;
  readonly #addresses = new Map<string, Address<C>>();
  readonly #strangers: Tokens;
  unproven = 0;

  constructor(rates: HandshakeRates, nowMs: () => number) {
    [this.#nowMs, this.#rates, this.#strangers] = [nowMs, rates, new Tokens(rates.strangers, nowMs())];
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
      handshakes: new Tokens(this.#rates.address, nowMs),
      reserve: new Tokens(this.#rates.reserve, nowMs),
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

  /** What the manifests' path has proved is nothing any more. */
  revokePlain(): void {
    for (const { provenUntilMs } of this.#addresses.values()) provenUntilMs.plain = -Infinity;
  }

  /** The tokens that a handshake of this address takes; undefined while one of them is missing. */
  price(address: Address<C>): readonly Tokens[] | undefined {
    const nowMs = this.#nowMs();
    const { handshakes, reserve } = address;
    if (handshakes.left(nowMs) < 1) return undefined;
    if (this.isProven(address)) return [handshakes];
    // What is begun within the common limit takes from the reserve as well: that is for addresses that pause.
    const paid = [this.#strangers, reserve].filter((tokens) => tokens.left(nowMs) >= 1);
    return paid.length > 0 ? [handshakes, ...paid] : undefined;
  }

  /** Of the address whose last handshake is longest ago, there the newest: the client of an old one may be gone. */
  beginNext(): { readonly member: C; readonly paid: readonly Tokens[] } | undefined {
    const next = this.#best((address) =>
      address.waiting.size > 0 && this.price(address) !== undefined ? -address.beganAtMs : -Infinity
    );
    const member = [...next?.waiting ?? []].at(-1);
    const paid = next === undefined ? undefined : this.price(next);
    if (next === undefined || member === undefined || paid === undefined) return undefined;
    for (const tokens of paid) tokens.add(-1);
    next.waiting.delete(member);
    next.beganAtMs = this.#nowMs();
    return { member, paid };
  }

  most(): Address<C> | undefined {
    return this.#best((address) => {
      const { size } = address.unproven;
      return size === 0 ? -Infinity : this.isProven(address) ? -1 / size : size;
    });
  }

  sweep(): void {
    const nowMs = this.#nowMs();
    for (const [key, address] of this.#addresses) {
      const isFull = [address.handshakes, address.reserve].every((tokens) => tokens.left(nowMs) >= tokens.rate.burst);
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

/** IPv4 as it is, also when it is written as IPv6; of IPv6 the first 64 bits. */
export function keyOfAddress(remoteAddress: string): string {
  if (!remoteAddress.includes(":")) return remoteAddress;
  if (!ipaddr.isValid(remoteAddress)) return "";
  const parsed = ipaddr.process(remoteAddress);
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(":") : parsed.toString();
}
