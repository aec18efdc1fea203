// The client addresses of a listener: their unproven connections, which addresses are proven, and whose handshake is
// next. A handshake costs about a millisecond of the event loop, so each takes tokens. A connection that proves itself
// gets its tokens back. So an API server may have any number of connections; limits hold while they are unproven.
import ipaddr from "ipaddr.js";
import { TokenBucket, type TokenRate } from "./token_bucket.ts";

/** How a client proved to be an API server: by calling the manifests' path of the pod webhook, or the secret one. */
export type Proof = "plain" | "secret";

/** An IPv4 address, or an IPv6 /64, where a host may choose any address. */
export interface Address<C> {
  readonly unproven: Set<C>;
  /** Unproven connections whose client waits for the handshake, oldest first. */
  readonly waiting: Set<C>;
  /** Until when each path's proof is valid (monotonic ms). */
  readonly provenUntilMs: Record<Proof, number>;
  beganAtMs: number;
  readonly handshakes: TokenBucket;
  /** Handshakes allowed beyond the common limit of unproven addresses. */
  readonly reserve: TokenBucket;
}

/** Handshake limits: per address, for all unproven addresses together, and per address beyond that (`reserve`). */
export type HandshakeRates = Readonly<Record<"address" | "unproven" | "reserve", TokenRate>>;

/** How long a proof is valid (ms). Anybody knows the plain path: its proof lasts as long as an idle connection. */
const PROVEN_FOR_MS: Readonly<Record<Proof, number>> = { plain: 120_000, secret: 10 * 60_000 };

export class HandshakeBudget<C> {
  readonly #nowMs: () => number;
  readonly #rates: HandshakeRates;
  readonly #addresses = new Map<string, Address<C>>();
  readonly #ofUnproven: TokenBucket;
  unproven = 0;

  constructor(rates: HandshakeRates, nowMs: () => number) {
    [this.#nowMs, this.#rates, this.#ofUnproven] = [nowMs, rates, new TokenBucket(rates.unproven)];
  }

  get hasWaiting(): boolean {
    return this.#addresses.values().some(({ waiting }) => waiting.size > 0);
  }

  addressOf(remoteAddress: string): Address<C> {
    return this.#addresses.getOrInsertComputed(keyOfAddress(remoteAddress), () => ({
      unproven: new Set(),
      waiting: new Set(),
      provenUntilMs: { plain: -Infinity, secret: -Infinity },
      beganAtMs: -Infinity,
      handshakes: new TokenBucket(this.#rates.address),
      reserve: new TokenBucket(this.#rates.reserve),
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

  /** Invalidates proofs by the manifests' path. */
  revokePlain(): void {
    for (const { provenUntilMs } of this.#addresses.values()) provenUntilMs.plain = -Infinity;
  }

  /** The buckets that a handshake of this address takes a token from; undefined while it must wait. */
  bucketsToPay(address: Address<C>): readonly TokenBucket[] | undefined {
    const nowMs = this.#nowMs();
    const { handshakes, reserve } = address;
    if (handshakes.left(nowMs) < 1) return undefined;
    if (this.isProven(address)) return [handshakes];
    // The reserve is for addresses that pause, so a handshake takes from it even within the common limit.
    const paid = [this.#ofUnproven, reserve].filter((bucket) => bucket.left(nowMs) >= 1);
    return paid.length > 0 ? [handshakes, ...paid] : undefined;
  }

  /** Takes the address with the oldest last handshake, and its newest connection: clients of older ones may be gone. */
  beginNext(): { readonly member: C; readonly paid: readonly TokenBucket[] } | undefined {
    const next = this.#best((address) =>
      address.waiting.size > 0 && this.bucketsToPay(address) !== undefined ? -address.beganAtMs : -Infinity
    );
    const member = [...next?.waiting ?? []].at(-1);
    const paid = next === undefined ? undefined : this.bucketsToPay(next);
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

/** An IPv4 address, even if written as IPv6; else the first 64 bits of IPv6. */
export function keyOfAddress(remoteAddress: string): string {
  if (!remoteAddress.includes(":")) return remoteAddress;
  if (!ipaddr.isValid(remoteAddress)) return "";
  const parsed = ipaddr.process(remoteAddress);
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(":") : parsed.toString();
}
