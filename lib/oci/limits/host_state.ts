// The health of registry hosts as others see it. Hosts that only users named stay out of metrics and pages.
import type { CircuitState } from "../../breaker.ts";
import type { FailureReason } from "../types.ts";

export interface HostState {
  readonly host: string;
  readonly circuit: CircuitState;
  readonly inFlight: number;
  /** Requests in flight that the most limited account of the host may have; shrinks when the registry refuses. */
  readonly limit: number;
  readonly waiting: number;
  /** Requests that the registry said are left in the rate limit window, of the account with the fewest. */
  readonly remaining?: number;
  /** How long the registry still refuses requests of an account (ms). */
  readonly pausedForMs?: number;
  /** Groups of repositories (see circuit.ts) that fail or pause. */
  readonly failingGroups?: number;
  /** When it last answered a request with its content (epoch ms). */
  readonly lastSuccessAtMs?: number;
  readonly lastFailure?: { readonly reason: FailureReason; readonly atMs: number };
}

const OTHER_HOSTS = "other";

/** The states with one of all hosts that must not be named. */
export function foldStates(states: readonly HostState[], mayName: (host: string) => boolean): readonly HostState[] {
  const named = states.filter(({ host }) => mayName(host));
  const others = states.filter(({ host }) => !mayName(host));
  if (others.length === 0) return named;
  const sumOf = (count: (state: HostState) => number): number => others.reduce((sum, state) => sum + count(state), 0);
  return [...named, {
    host: OTHER_HOSTS,
    // One host that fails says nothing about the others.
    circuit: others.every(({ circuit }) => circuit === "open") ? "open" : "closed",
    inFlight: sumOf(({ inFlight }) => inFlight),
    limit: sumOf(({ limit }) => limit),
    waiting: sumOf(({ waiting }) => waiting),
  }];
}

const MAX_NAMED = 50;
/** Of those, hosts that one namespace alone has used: its pods choose them. */
const MAX_NAMED_OF_NAMESPACE = 5;
/** A host that was of no use for this long (ms) may be replaced by another. */
const UNUSED_MS = 3_600_000;

/** The hosts that may be named: declared ones, and a bounded number of those that have answered a request with its content. */
export class NamedHosts {
  readonly #declared: ReadonlySet<string>;
  readonly #useful = new Map<string, { readonly atMs: number; readonly namespace: string | undefined }>();

  constructor(declared: readonly string[]) {
    this.#declared = new Set(declared);
  }

  has(host: string): boolean {
    return this.#declared.has(host) || this.#useful.has(host);
  }

  /** A host has answered a request with its content; `namespace`: the only one that it has done so for. */
  note(host: string, namespace: string | undefined, atMs: number): void {
    if (this.#declared.has(host)) return;
    if (!this.#useful.has(host) && !this.#makeRoom(namespace, atMs)) return;
    this.#useful.delete(host);
    this.#useful.set(host, { atMs, namespace });
  }

  /** Whether one more may be named, if need be instead of the host that was of no use for longest. */
  #makeRoom(namespace: string | undefined, nowMs: number): boolean {
    const all = [...this.#useful];
    const own = namespace === undefined ? [] : all.filter(([, host]) => host.namespace === namespace);
    const rivals = own.length >= MAX_NAMED_OF_NAMESPACE ? own : all.length >= MAX_NAMED ? all : [];
    const [oldest] = rivals;
    if (oldest === undefined) return true;
    if (nowMs - oldest[1].atMs < UNUSED_MS) return false;
    return this.#useful.delete(oldest[0]);
  }
}
