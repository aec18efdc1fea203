// What an exchange says of the registry's health and load: status, `Retry-After`, the rate limit headers. Pure.
import type { Absence } from "./absence.ts";
import type { RegistryFailure } from "../errors.ts";

export interface LimitedResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly absence?: Absence | undefined;
  /** The pause that the registry requests with it (ms), see {@link pauseOf}. */
  readonly pauseMs: number | undefined;
}

export type Outcome =
  | { readonly kind: "answered"; readonly status: number; readonly remaining: number | undefined }
  /** The account has used up what it may ask. */
  | { readonly kind: "rateLimited"; readonly reason: "RateLimited"; readonly pauseMs: number }
  /** The repository requests a pause. */
  | {
    readonly kind: "overloaded";
    readonly reason: "ServerError";
    readonly pauseMs: number;
    readonly message: string;
  }
  /** The repository cannot be read now: 5xx, or no answer in time. Others on the same host may work. */
  | {
    readonly kind: "groupFailed";
    readonly reason: "ServerError" | "Timeout" | "Unreachable" | "TlsFailed";
    readonly message: string;
  }
  /** The host cannot be reached: the next request would fail as well. */
  | { readonly kind: "hostFailed"; readonly reason: "Unreachable" | "TlsFailed"; readonly message: string }
  /** The caller left, or failed for a reason of its own. */
  | { readonly kind: "nothing" };

/** How long to pause when a registry refuses without saying for how long (ms). */
const PAUSE_MS = 1_000;
/** The longest pause that a registry gets, whatever `Retry-After` says (ms). */
const MAX_PAUSE_MS = 60_000;
/** Pauses up to this long are waited out; for longer ones the refusal says when to come back (ms). */
export const MAX_WAIT_MS = 2_000;

export function outcomeOfResponse({ status, headers, absence, pauseMs }: LimitedResponse): Outcome {
  const message = `It answered ${status}.`;
  if (pauseMs !== undefined) {
    return status === 429
      ? { kind: "rateLimited", reason: "RateLimited", pauseMs }
      : { kind: "overloaded", reason: "ServerError", pauseMs, message };
  }
  if (absence === "possible") return { kind: "nothing" };
  if (status >= 500 && absence === undefined) return { kind: "groupFailed", reason: "ServerError", message };
  return { kind: "answered", status, remaining: parseRemaining(headers) };
}

export function outcomeOfFailure({ reason, message }: RegistryFailure): Outcome {
  if (reason === "Timeout") return { kind: "groupFailed", reason, message };
  return reason === "Unreachable" || reason === "TlsFailed"
    ? { kind: "hostFailed", reason, message }
    : { kind: "nothing" };
}

/** The pause that an answer requests (ms). Every 429 requests one, and a 503 with `Retry-After`. */
export function pauseOf(
  { status, headers }: Pick<LimitedResponse, "status" | "headers">,
  nowMs: number,
): number | undefined {
  const asked = parseRetryAfter(headers.get("retry-after"), nowMs);
  if (status === 429) return asked ?? PAUSE_MS;
  return status === 503 ? asked : undefined;
}

/** `Retry-After` in ms from seconds or an HTTP date; undefined when absent or unreadable. At most a minute. */
export function parseRetryAfter(value: string | null, nowMs: number): number | undefined {
  if (value === null) return undefined;
  const ms = /^\s*\d{1,9}\s*$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - nowMs;
  return Number.isFinite(ms) ? Math.min(Math.max(0, ms), MAX_PAUSE_MS) : undefined;
}

/** Requests left in the current window: `RateLimit-Remaining: 76;w=21600`, also under its older names. */
export function parseRemaining(headers: Headers): number | undefined {
  const names = ["ratelimit-remaining", "x-ratelimit-remaining"];
  const value = names.map((name) => headers.get(name)).find((text) => text !== null);
  const [, digits] = /^\s*(\d{1,12})/.exec(value ?? "") ?? [];
  return digits === undefined ? undefined : Number(digits);
}
