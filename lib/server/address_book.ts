// The addresses that connections of a listener come from: how many of each are unproven, which addresses have proven
// connections, and whose handshake begins next. A handshake costs about a millisecond of the event loop, so each is paid
// for with tokens. Those of a connection that proves itself are given back: what the API server opens is never limited,
// only how many of its connections are unproven at a time.
import ipaddr from "ipaddr.js";
import { TokenBucket, type TokenRate } from "./token_bucket.ts";

/** One address, or one /64 of IPv6, which is one host's to choose from. */
export interface AddressState<C> {
  readonly key: string;
  /** Oldest first. */
  readonly unproven: Set<C>;
  /** Those of them whose client waits for the handshake to go on, oldest first. */
  readonly waiting: Set<C>;
  proven: number;
  /** Until when it counts as proven although no proven connection is open (monotonic ms). */
  provenUntilMs: number;
  /** When its last handshake began (monotonic ms). */
  beganAtMs: number;
  readonly handshakes: TokenBucket;
  /** Those that it may begin although unproven clients have used up their common share. */
  readonly reserve: TokenBucket;
}

interface Member<C> {
  readonly address: AddressState<C>;
  readonly proof: "none" | "plain" | "secret";
}

interface Beginning<C> {
  readonly member: C;
  readonly paid: readonly TokenBucket[];
}

/** How many handshakes may begin: at once, and a second. Each costs about a millisecond of the event loop. */
export interface HandshakeRates {
  /** Of one address: so many connections of an API server are at a time those over which no request has come yet. */
  readonly address: TokenRate;
  /** Of all addresses together that proved nothing. */
  readonly strangers: TokenRate;
  /**
   * Of one address beyond that. An API server that has not proven itself yet gets a connection by them whatever other clients
   * use up, and needs one to be proven.
   */
  readonly reserve: TokenRate;
}

/** An API server may be quiet for so long (ms) and still connect as one that is known. */
const PROVEN_FOR_MS = 10 * 60_000;

export class AddressBook<C extends Member<C>> {
  readonly #nowMs: () => number;
  readonly #rates: HandshakeRates;
  readonly #states = new Map<string, AddressState<C>>();
  readonly #strangers: TokenBucket;
  #unproven = 0;

  constructor({ nowMs, rates }: { readonly nowMs: () => number; readonly rates: HandshakeRates }) {
    this.#nowMs = nowMs;
    this.#rates = rates;
    this.#strangers = new TokenBucket(rates.strangers, nowMs());
  }

  get unproven(): number {
    return this.#unproven;
  }

  get hasWaiting(): boolean {
    return this.#states.values().some(({ waiting }) => waiting.size > 0);
  }

  stateOf(remoteAddress: string): AddressState<C> {
    const key = keyOfAddress(remoteAddress);
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    const nowMs = this.#nowMs();
    const state: AddressState<C> = {
      key,
      unproven: new Set(),
      waiting: new Set(),
      proven: 0,
      provenUntilMs: -Infinity,
      beganAtMs: -Infinity,
      handshakes: new TokenBucket(this.#rates.address, nowMs),
      reserve: new TokenBucket(this.#rates.reserve, nowMs),
    };
    this.#states.set(key, state);
    return state;
  }

  add(member: C): void {
    const { address, proof } = member;
    if (proof === "none") {
      address.unproven.add(member);
      this.#unproven++;
      return;
    }
    address.proven++;
    if (proof === "secret") address.provenUntilMs = this.#nowMs() + PROVEN_FOR_MS;
  }

  /** Takes the count back; call it before the proof changes. */
  remove(member: C): void {
    const { address, proof } = member;
    address.waiting.delete(member);
    if (proof !== "none") address.proven--;
    else if (address.unproven.delete(member)) this.#unproven--;
  }

  mayBegin(address: AddressState<C>): boolean {
    return this.#price(address) !== undefined;
  }

  /**
   * Takes the connection whose handshake is to begin now; undefined when all have to wait. Proven addresses come first,
   * among the others the one whose last handshake is the longest ago, and of an address the newest connection: the client
   * of an old one has waited so long that it may have given up.
   */
  beginNext(): Beginning<C> | undefined {
    let next: AddressState<C> | undefined;
    for (const state of this.#states.values()) {
      if (state.waiting.size === 0 || !this.mayBegin(state)) continue;
      if (next === undefined || this.#comesBefore(state, next)) next = state;
    }
    const member = next === undefined ? undefined : [...next.waiting].at(-1);
    const paid = next === undefined ? undefined : this.#price(next);
    if (next === undefined || member === undefined || paid === undefined) return undefined;
    for (const bucket of paid) bucket.take();
    next.waiting.delete(member);
    next.beganAtMs = this.#nowMs();
    return { member, paid };
  }

  /** The address with the most unproven connections: a proven one only when no other has any. */
  most(): AddressState<C> | undefined {
    let most: AddressState<C> | undefined;
    for (const state of this.#states.values()) {
      if (state.unproven.size === 0) continue;
      const isWorse = most === undefined ||
        (this.isProven(most) === this.isProven(state) ? state.unproven.size > most.unproven.size : this.isProven(most));
      if (isWorse) most = state;
    }
    return most;
  }

  /** Drops addresses that have no connections, no proof and all of their tokens. */
  sweep(): void {
    for (const [key, state] of this.#states) {
      const isInUse = state.unproven.size > 0 || this.isProven(state);
      const isFull = state.handshakes.isFull(this.#nowMs()) && state.reserve.isFull(this.#nowMs());
      if (!isInUse && isFull) this.#states.delete(key);
    }
  }

  isProven({ proven, provenUntilMs }: AddressState<C>): boolean {
    return proven > 0 || this.#nowMs() < provenUntilMs;
  }

  #comesBefore(one: AddressState<C>, other: AddressState<C>): boolean {
    const isProven = this.isProven(one);
    return isProven === this.isProven(other) ? one.beganAtMs < other.beganAtMs : isProven;
  }

  /** The buckets that pay for a handshake of this address; undefined while one of them has nothing. */
  #price(address: AddressState<C>): readonly TokenBucket[] | undefined {
    const nowMs = this.#nowMs();
    const { handshakes, reserve } = address;
    if (!handshakes.has(nowMs)) return undefined;
    if (this.isProven(address)) return [handshakes];
    const hasReserve = reserve.has(nowMs);
    // What is begun within the common limit counts as well: the reserve is for addresses that pause.
    if (this.#strangers.has(nowMs)) return [handshakes, this.#strangers, ...hasReserve ? [reserve] : []];
    return hasReserve ? [handshakes, reserve] : undefined;
  }
}

/** IPv4 as it is, also when it is written as IPv6; of IPv6 the first 64 bits. */
export function keyOfAddress(remoteAddress: string): string {
  if (!remoteAddress.includes(":")) return remoteAddress;
  if (!ipaddr.isValid(remoteAddress)) return "";
  const parsed = ipaddr.process(remoteAddress);
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(":") : parsed.toString();
}
