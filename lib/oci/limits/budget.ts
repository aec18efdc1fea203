// Spares the registries: each host has its own lane with a limit, priorities, pauses and a circuit breaker. Every exchange
// of client.ts and token.ts goes through here.
import type { Clock } from "../../clock.ts";
import { InspectionError } from "../errors.ts";
import { HostLimiter, MAX_WAIT_MS, type Outcome } from "./host_limiter.ts";
import type { HostState } from "./host_state.ts";
import type { InspectionPriority } from "../inspector.ts";
import { parseRemaining, parseRetryAfter } from "./retry_after.ts";
import type { FailureReason } from "../types.ts";

/** What a budget must know of an answer. */
export interface BudgetedAnswer {
  /** HTTP status. */
  readonly status: number;
  /** For `Retry-After` and the quota. */
  readonly headers: Headers;
}

/** Who asks. The priority may rise while waiting. */
export interface Turn {
  /** Asked whenever a place becomes free. */
  readonly priority: () => InspectionPriority;
  /** Ends the waiting. */
  readonly signal: AbortSignal;
}

/** The budget. */
export interface Budget {
  /**
   * Sends when it is this request's turn at the host, and again after a short pause that the host asked for. Throws InspectionError (CircuitOpen, RateLimited) without sending
   * when the host is to be left alone for longer than a moment; whatever `send` throws; the signal's reason.
   */
  run<T extends BudgetedAnswer>(host: string, turn: Turn, send: () => Promise<T>): Promise<T>;
  /** Hosts most recently asked first, capped in number. */
  hostStates(): readonly HostState[];
}

/** Hosts remembered: image names are user input, so there may be any number of them. */
const MAX_HOSTS = 1_000;
const MAX_STATES = 100;
/** How long to pause when a registry refuses without saying for how long: the first time, doubling later (ms). */
const PAUSE_MS = 1_000;
/** Tries of one request that is refused with short pauses; then its caller is told when to come back. */
const MAX_TRIES = 4;
/** Failures on the wire: the next request would meet them too. */
const OF_THE_HOST: readonly FailureReason[] = ["Unreachable", "TlsFailed", "Timeout"];

/** Opens a budget that knows no host yet. */
export function openBudget(options: { readonly clock: Clock }): Budget {
  const { clock } = options;
  const lanes = new Map<string, HostLimiter>();

  /** The host's lane, now the most recently used. Of too many, the longest unused idle one is forgotten. */
  function laneOf(host: string): HostLimiter {
    const lane = lanes.get(host) ?? new HostLimiter({ host, clock });
    lanes.delete(host);
    lanes.set(host, lane);
    if (lanes.size > MAX_HOSTS) {
      const idle = [...lanes].find(([, candidate]) => candidate.isIdle);
      if (idle !== undefined) lanes.delete(idle[0]);
    }
    return lane;
  }

  async function once<T extends BudgetedAnswer>(host: string, turn: Turn, send: () => Promise<T>): Promise<T> {
    const lane = laneOf(host);
    await lane.enter(turn.priority, turn.signal);
    let outcome: Outcome = { kind: "nothing" };
    try {
      const answer = await send();
      outcome = outcomeOf(answer, clock.nowMs());
      return answer;
    } catch (error) {
      if (error instanceof InspectionError && !turn.signal.aborted) outcome = outcomeOfError(error);
      throw error;
    } finally {
      lane.leave(outcome);
    }
  }

  return {
    run: async (host, turn, send) => {
      for (let tries = 1;; tries++) {
        const answer = await once(host, turn, send);
        const pauseMs = pauseOf(answer, clock.nowMs());
        if (pauseMs === undefined || pauseMs > MAX_WAIT_MS || tries === MAX_TRIES) return answer;
      }
    },
    hostStates: () => [...lanes.values()].reverse().slice(0, MAX_STATES).map(({ state }) => state),
  };
}

/** How long an answer asks to be left alone; undefined when it does not. */
export function pauseOf({ status, headers }: BudgetedAnswer, nowMs: number): number | undefined {
  const asked = parseRetryAfter(headers.get("retry-after"), nowMs);
  if (status === 429) return asked ?? PAUSE_MS;
  return status === 503 ? asked : undefined;
}

function outcomeOf(answer: BudgetedAnswer, nowMs: number): Outcome {
  const pauseMs = pauseOf(answer, nowMs);
  if (pauseMs !== undefined) {
    return { kind: "overloaded", reason: answer.status === 429 ? "RateLimited" : "ServerError", pauseMs };
  }
  if (answer.status >= 500) return { kind: "failed", reason: "ServerError" };
  const remaining = parseRemaining(answer.headers);
  return { kind: "answered", ...(remaining === undefined ? {} : { remaining }) };
}

function outcomeOfError({ failure: { reason } }: InspectionError): Outcome {
  return OF_THE_HOST.includes(reason) ? { kind: "failed", reason } : { kind: "nothing" };
}
