// How much work the webhooks take at a time. Beyond that they refuse at once, because an answer that comes too late costs
// the API server its whole timeout, and memory without end costs the process.
import type { Clock } from "../clock.ts";
import type { Logger } from "../log.ts";

/**
 * Requests whose body is complete and that are not yet answered. Everything runs on one event loop, which may read many
 * bodies before it answers the first: these are the queue. An answer costs 0.1 to 0.25 ms, so the last of 2 000 waits half a
 * second, a tenth of the webhook's timeout. One API server has at most 600 requests in flight by default.
 */
const MAX_REQUESTS = 2_000;

/**
 * Bytes of large bodies among them. Without a limit many reviews of 1 MiB at a time are parsed side by side: a byte in flight
 * takes about 7 bytes of memory, so 300 of them more than twice what the Deployment allows, and on a busy machine the last
 * is answered after the webhook's timeout (rows "300 of 1 MiB" of `deno task bench`). It is ten of the largest pods that etcd
 * stores.
 */
const MAX_LARGE_BYTES = 16 * 1024 * 1024;

interface Load {
  readonly requests: number;
  readonly largeBytes: number;
  /** What is logged when it is too little. */
  readonly warning: string;
}

export const POD_LOAD: Load = {
  requests: MAX_REQUESTS,
  largeBytes: MAX_LARGE_BYTES,
  warning: "too many admissions at a time, letting pods pass ungated",
};

/** Of all other routes together: users read their paths in errors, and administrators alone use them. */
export const OTHER_LOAD: Load = {
  requests: 100,
  largeBytes: 2 * 1024 * 1024,
  warning: "too many reviews of configs at a time, refusing some",
};

/** Bodies up to this size (bytes) count as requests alone: clients that send large ones slowly cannot keep them out. */
export const LARGE_BYTES = 64 * 1024;

/** An episode of overload is over when nothing was refused for so long (ms). */
const CALM_MS = 10_000;

export interface LoadLimit {
  /** Takes a request whose body is complete and has so many bytes; gives what to call when it is answered. undefined: refuse it. */
  enter(bytes: number): (() => void) | undefined;
}

/** Opens the limit. An episode of overload is logged when it begins and when it is over, not at each refusal. */
export function openLoadLimit(
  max: Load,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): LoadLimit {
  let requests = 0;
  let largeBytes = 0;
  let episode: { refused: number; lastMs: number } | undefined;

  function refuse(): undefined {
    episode ??= begin();
    episode.refused++;
    episode.lastMs = clock.monotonicMs();
  }

  function begin(): { refused: number; lastMs: number } {
    log.warn(max.warning, { requests, largeBytes });
    return { refused: 0, lastMs: 0 };
  }

  function endCalmEpisode(): void {
    if (episode === undefined || clock.monotonicMs() - episode.lastMs < CALM_MS) return;
    log.warn("requests are all taken again", { refused: episode.refused });
    episode = undefined;
  }

  return {
    enter: (bytes) => {
      const large = bytes > LARGE_BYTES ? bytes : 0;
      const isFull = requests >= max.requests || large > 0 && largeBytes > 0 && largeBytes + large > max.largeBytes;
      if (isFull) return refuse();
      endCalmEpisode();
      requests++;
      largeBytes += large;
      return () => {
        requests--;
        largeBytes -= large;
      };
    },
  };
}
