// The health of one registry host as others see it, and which hosts are named to them: image names are user input, so the
// names of hosts that are neither declared nor of proven use stay out of metrics and pages.
import type { CircuitState } from "../../breaker.ts";
import type { FailureReason } from "../types.ts";

/** The state of a host as of now. */
export interface HostState {
  /** `host[:port]`. */
  readonly host: string;
  /** Whether it is asked at all. */
  readonly circuit: CircuitState;
  /** Requests under way. */
  readonly inFlight: number;
  /** How many requests of the account that may send least may be under way; shrinks when the registry refuses. */
  readonly limit: number;
  /** Requests that wait for a place. */
  readonly waiting: number;
  /** Requests that the registry said are left in the window of the account that has least. */
  readonly remaining?: number;
  /** How long the registry still wants to be left alone by an account (ms). */
  readonly pausedForMs?: number;
  /** Groups of repositories that fail although the host may work. */
  readonly failingRepositories?: number;
  /** When it last gave what it was asked for (epoch ms). */
  readonly lastSuccessAtMs?: number;
  /** The last failure that was not the caller's own. */
  readonly lastFailure?: { readonly reason: FailureReason; readonly atMs: number };
}

/** The name of all hosts that are not named. */
export const OTHER_HOSTS = "other";

/** The states with one of all hosts that must not be named. */
export function foldStates(states: readonly HostState[], mayName: (host: string) => boolean): readonly HostState[] {
  const named = states.filter(({ host }) => mayName(host));
  const others = states.filter(({ host }) => !mayName(host));
  if (others.length === 0) return named;
  const sumOf = (count: (state: HostState) => number): number => others.reduce((sum, state) => sum + count(state), 0);
  return [...named, {
    host: OTHER_HOSTS,
    // One that fails says nothing of the others.
    circuit: others.every(({ circuit }) => circuit === "open") ? "open" : "closed",
    inFlight: sumOf(({ inFlight }) => inFlight),
    limit: sumOf(({ limit }) => limit),
    waiting: sumOf(({ waiting }) => waiting),
  }];
}

/** Hosts that are named beside the declared ones. */
const MAX_NAMED = 50;
/** A host that was of no use for so long gives its place to another (ms). */
const UNUSED_MS = 3_600_000;

/** The hosts that may be named: declared ones, and a bounded number of those that have given what they were asked for. */
export class NamedHosts {
  readonly #declared: ReadonlySet<string>;
  /** Last success of each (monotonic ms), the oldest first. */
  readonly #useful = new Map<string, number>();

  /** With the declared ones. */
  constructor(declared: readonly string[]) {
    this.#declared = new Set(declared);
  }

  has(host: string): boolean {
    return this.#declared.has(host) || this.#useful.has(host);
  }

  /** A host has given what it was asked for. */
  note(host: string, nowMs: number): void {
    if (this.#useful.size >= MAX_NAMED && !this.#useful.has(host)) {
      const [oldest, atMs] = this.#useful.entries().next().value ?? ["", nowMs];
      if (nowMs - atMs < UNUSED_MS) return;
      this.#useful.delete(oldest);
    }
    this.#useful.delete(host);
    this.#useful.set(host, nowMs);
  }
}
