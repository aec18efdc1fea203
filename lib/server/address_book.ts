// The addresses that connections of a listener come from: how many of each are unproven, which addresses have proven
// connections, and how many handshakes an address may begin. A handshake costs about a millisecond of CPU.
import ipaddr from "ipaddr.js";

/** One address, or one /64 of IPv6, which is one host's to choose from. */
export interface AddressState<C> {
  readonly key: string;
  /** Oldest first. */
  readonly unproven: Set<C>;
  proven: number;
  /** Until when it counts as proven although no proven connection is open (monotonic ms). */
  provenUntilMs: number;
  /** Handshakes that it may begin at once. */
  readonly handshakes: TokenBucket;
  /** Those that it may begin although strangers have used up what they have together. */
  readonly reserve: TokenBucket;
}

interface Member<C> {
  readonly address: AddressState<C>;
  readonly proof: "none" | "plain" | "secret";
}

/** Of one address, and of all together, that proved nothing. */
const ADDRESS_RATE = { burst: 768, perSecond: 50 } as const;
const TOTAL_RATE = { burst: 2_048, perSecond: 200 } as const;
/**
 * Of one address beyond that: two after 10 s without a handshake. An API server that has not proven itself yet gets
 * a connection by them whatever strangers use up, and needs one to be proven.
 */
const RESERVE_RATE = { burst: 2, perSecond: 0.2 } as const;
/** An API server may be quiet for so long (ms) and still connect as one that is known. */
const PROVEN_FOR_MS = 10 * 60_000;

/** The addresses of one listener. */
export class AddressBook<C extends Member<C>> {
  readonly #nowMs: () => number;
  readonly #states = new Map<string, AddressState<C>>();
  readonly #all: TokenBucket;
  #unproven = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#all = new TokenBucket(TOTAL_RATE, nowMs());
  }

  /** Unproven connections of all addresses. */
  get unproven(): number {
    return this.#unproven;
  }

  /** The state of an address that may begin a handshake now; undefined when it has begun too many. */
  take(remoteAddress: string): AddressState<C> | undefined {
    const nowMs = this.#nowMs();
    const key = keyOfAddress(remoteAddress);
    const known = this.#states.get(key);
    if (known !== undefined && this.#isProven(known)) return known;
    const state = known ?? newState<C>(key, nowMs);
    if (!state.handshakes.has(nowMs)) return undefined;
    const hasReserve = state.reserve.has(nowMs);
    if (this.#all.has(nowMs)) this.#all.take();
    else if (!hasReserve) return undefined;
    // What is begun within the common limit counts as well: the reserve is for addresses that pause.
    if (hasReserve) state.reserve.take();
    state.handshakes.take();
    this.#states.set(key, state);
    return state;
  }

  /** Counts a connection by its proof. */
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
    if (proof !== "none") address.proven--;
    else if (address.unproven.delete(member)) this.#unproven--;
  }

  /** The address with the most unproven connections: a proven one only when no other has any. */
  most(): AddressState<C> | undefined {
    let most: AddressState<C> | undefined;
    for (const state of this.#states.values()) {
      if (state.unproven.size === 0) continue;
      const isWorse = most === undefined ||
        (this.#isProven(most) === this.#isProven(state)
          ? state.unproven.size > most.unproven.size
          : this.#isProven(most));
      if (isWorse) most = state;
    }
    return most;
  }

  /** Forgets addresses that have no connections, no proof and their whole burst. */
  sweep(): void {
    for (const [key, state] of this.#states) {
      const isInUse = state.unproven.size > 0 || this.#isProven(state);
      const isFull = state.handshakes.isFull(this.#nowMs()) && state.reserve.isFull(this.#nowMs());
      if (!isInUse && isFull) this.#states.delete(key);
    }
  }

  #isProven({ proven, provenUntilMs }: AddressState<C>): boolean {
    return proven > 0 || this.#nowMs() < provenUntilMs;
  }
}

function newState<C>(key: string, nowMs: number): AddressState<C> {
  return {
    key,
    unproven: new Set<C>(),
    proven: 0,
    provenUntilMs: -Infinity,
    handshakes: new TokenBucket(ADDRESS_RATE, nowMs),
    reserve: new TokenBucket(RESERVE_RATE, nowMs),
  };
}

/** Tokens that come back with time. */
export class TokenBucket {
  readonly #rate: { readonly burst: number; readonly perSecond: number };
  #tokens: number;
  #atMs: number;

  constructor(rate: { readonly burst: number; readonly perSecond: number }, nowMs: number) {
    this.#rate = rate;
    this.#tokens = rate.burst;
    this.#atMs = nowMs;
  }

  /** Whether there is one to take. */
  has(nowMs: number): boolean {
    this.#refill(nowMs);
    return this.#tokens >= 1;
  }

  isFull(nowMs: number): boolean {
    this.#refill(nowMs);
    return this.#tokens >= this.#rate.burst;
  }

  take(): void {
    this.#tokens--;
  }

  #refill(nowMs: number): void {
    const { burst, perSecond } = this.#rate;
    this.#tokens = Math.min(burst, this.#tokens + (nowMs - this.#atMs) * perSecond / 1_000);
    this.#atMs = nowMs;
  }
}

/** IPv4 as it is, also when it is written as IPv6; of IPv6 the first 64 bits. */
export function keyOfAddress(remoteAddress: string): string {
  if (!remoteAddress.includes(":")) return remoteAddress;
  if (!ipaddr.isValid(remoteAddress)) return "";
  const parsed = ipaddr.process(remoteAddress);
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(":") : parsed.toString();
}
