// What is known of the health of one registry host. Made by budget.ts, read by metrics and `archway inspect --registries`.
import type { CircuitState } from "../../breaker.ts";
import type { FailureReason } from "../types.ts";

/** The state of a host as of now. */
export interface HostState {
  /** `host[:port]`. */
  readonly host: string;
  /** Whether it is asked at all. */
  readonly circuit: CircuitState;
  /** Requests under way, and how many may be. */
  readonly inFlight: number;
  /** How many requests may be under way; shrinks when the registry refuses. */
  readonly limit: number;
  /** Requests that wait for their turn. */
  readonly waiting: number;
  /** Requests that the registry said are left in its window. */
  readonly remaining?: number;
  /** How long the registry still wants to be left alone (ms). */
  readonly pausedForMs?: number;
  /** When it last answered (epoch ms). */
  readonly lastSuccessAtMs?: number;
  /** The last failure that was the host's own. */
  readonly lastFailure?: { readonly reason: FailureReason; readonly atMs: number };
}
