// Limits the concurrent work of webhooks: a late answer costs the API server its whole timeout.
import type { Clock } from "../clock.ts";
import type { Logger } from "../log.ts";

interface Load {
  /** Unanswered requests with a complete body: the queue of the event loop. */
  readonly requests: number;
  /** Bytes of these requests' large bodies. A byte in flight takes about 7 bytes of memory. */
  readonly largeBytes: number;
  readonly warning: string;
}

/** 2 000 answers take half a second; the bytes hold ten pods of the largest size that etcd stores. */
export const POD_LOAD: Load = {
  requests: 2_000,
  largeBytes: 16 * 1024 * 1024,
  warning: "too many admissions at a time, letting pods pass ungated",
};

/** For all other routes together. Users can read their paths in errors, but only administrators need them. */
export const OTHER_LOAD: Load = {
  requests: 100,
  largeBytes: 2 * 1024 * 1024,
  warning: "too many reviews of configs at a time, refusing some",
};

/** A body up to this size (bytes) counts only as a request, so that slow large bodies cannot block small ones. */
export const LARGE_BYTES = 64 * 1024;
/** An overload is logged again after this long without refusals (ms). */
const CALM_MS = 10_000;

export interface LoadLimit {
  /** Counts a request with a complete body. Call the returned function after its answer; undefined: refuse it. */
  enter(bytes: number): (() => void) | undefined;
}

export function openLoadLimit(max: Load, { clock, log }: { clock: Clock; log: Logger }): LoadLimit {
  let requests = 0;
  let largeBytes = 0;
  let refusedAtMs = -Infinity;

  function refuse(): undefined {
    const nowMs = clock.monotonicMs();
    if (nowMs - refusedAtMs >= CALM_MS) log.warn(max.warning, { requests, largeBytes });
    refusedAtMs = nowMs;
    return undefined;
  }

  return {
    enter: (bytes) => {
      const large = bytes > LARGE_BYTES ? bytes : 0;
      if (requests >= max.requests || large > 0 && largeBytes > 0 && largeBytes + large > max.largeBytes) {
        return refuse();
      }
      requests++;
      largeBytes += large;
      return () => {
        requests--;
        largeBytes -= large;
      };
    },
  };
}
