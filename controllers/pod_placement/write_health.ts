// Whether the API server accepts this replica's patches. Refusals in one namespace may be due to a policy there.
import type { Clock } from "../../lib/clock.ts";
import { type KubeApi, withCalls } from "../../lib/k8s/api.ts";
import { ApiError } from "../../lib/k8s/api_error.ts";
import type { LeaderHealth } from "../../lib/k8s/lease_lock.ts";

/** A leader whose patches have all failed for this long (ms) is impaired. */
const IMPAIRED_AFTER_MS = 10_000;
/** A new leader is unproven for this long (ms). */
const UNPROVEN_MS = 15_000;
/** How long a failure counts (ms): gated pods are retried every five seconds, or slower with a slow API server. */
const FAILURE_COUNTS_MS = 30_000;
/** Failures count if they affect at least this many namespaces. */
const MIN_NAMESPACES = 2;

/** Refused by the authorizer, not an admission plugin: the right itself is missing. */
const MISSING_RIGHT = /cannot patch resource "pods"/;
/** A required admission webhook does not answer. The API server's own faults have other messages. */
const WEBHOOK_FAILS = /failed calling webhook/;

export class WriteHealth {
  readonly #clock: Clock;
  /** Infinity between terms: a new leader that has not begun is unproven. */
  #begunMs = Infinity;
  /** The relevant failures since the last successful patch. */
  #failing:
    | { readonly sinceMs: number; lastMs: number; isRightMissing: boolean; readonly namespaces: Set<string> }
    | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Begins a term, in which nothing is proven yet. */
  begin(): void {
    this.#begunMs = this.#clock.monotonicMs();
    this.#failing = undefined;
  }

  end(): void {
    this.#begunMs = Infinity;
  }

  /** The same API, which records whether patches succeed. */
  watch(api: KubeApi): KubeApi {
    return withCalls(api, {
      patch: async (type, target, options) => {
        try {
          const patched = await api.patch(type, target, options);
          this.#failing = undefined;
          return patched;
        } catch (error) {
          this.#note(error, target.namespace ?? "");
          throw error;
        }
      },
    });
  }

  health(): LeaderHealth {
    const nowMs = this.#clock.monotonicMs();
    const failing = this.#failing;
    const counts = failing !== undefined && nowMs - failing.lastMs < FAILURE_COUNTS_MS &&
      (failing.isRightMissing || failing.namespaces.size >= MIN_NAMESPACES);
    if (!counts) return nowMs - this.#begunMs < UNPROVEN_MS ? { kind: "unproven" } : { kind: "healthy" };
    return nowMs - failing.sinceMs >= IMPAIRED_AFTER_MS
      ? { kind: "impaired", impairment: "CannotReleasePods" }
      : { kind: "unproven" };
  }

  /** Ignores failures due to the pod (404, 409, 422, …) or the server, but not those of an admission webhook. */
  #note(error: unknown, namespace: string): void {
    if (!(error instanceof ApiError)) return;
    if (error.status !== 403 && (error.status < 500 || !WEBHOOK_FAILS.test(error.message))) return;
    const nowMs = this.#clock.monotonicMs();
    if (this.#failing !== undefined && nowMs - this.#failing.lastMs >= FAILURE_COUNTS_MS) this.#failing = undefined;
    this.#failing ??= { sinceMs: nowMs, lastMs: nowMs, isRightMissing: false, namespaces: new Set() };
    this.#failing.lastMs = nowMs;
    this.#failing.isRightMissing ||= error.status === 403 && MISSING_RIGHT.test(error.message);
    if (this.#failing.namespaces.size < MIN_NAMESPACES) this.#failing.namespaces.add(namespace);
  }
}
