// The health of registry hosts as others see it. Hosts that only users named stay out of metrics and pages.
import type { CircuitState } from "../../circuit_breaker.ts";
import type { FailureReason } from "../errors.ts";

export interface HostState {
  readonly host: string;
  readonly circuit: CircuitState;
  readonly inFlight: number;
  readonly waiting: number;
  /** Requests that the registry said are left in the rate limit window, of the account with the fewest. */
  readonly remaining?: number;
  /** When it last answered a request with its content (epoch ms). */
  readonly lastSuccessAtMs?: number;
  readonly lastFailure?: { readonly reason: FailureReason; readonly atMs: number };
}

const OTHER_HOSTS = "other";

/** The states, in which one state stands for all hosts that must not be named. */
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
    waiting: sumOf(({ waiting }) => waiting),
  }];
}
