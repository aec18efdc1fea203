// Limits of this process on work for namespaces. Each limit prevents one harm, and namespaces share it: one alone may
// have half or four fifths, so that another finds a permit, but for parsing, where it is the next one.
//
//   a pod's images ─ images ─ secrets, programs ─ look-ups of an image ─ inspections ─┐
//   ┌─────────────────────────────────────────────────────────────────────────────────┘
//   └ a request ─ account, host, group (host_limiters.ts) ─ nameResolutions ─ documents ─ parsing
import { setImmediate } from "node:timers";
import { registryError } from "../errors.ts";
import type { Callers } from "../callers.ts";
import { FairLimiter, type Permit } from "./fair_limiter.ts";

/** Documents up to this size (bytes) are parsed without waiting: most are smaller, and none takes more than 2 ms. */
const SMALL_BYTES = 16 * 1024;

/**
 * Shares of images that no gated pod waits for, so that gated pods find permits. They are dropped, or tried again later.
 * Alone, `ungated` may have 500 permits, and `mismatchChecks` 250.
 */
export const BACKGROUND_SHARES = { ungated: 1 / 8, mismatchChecks: 1 / 16 } as const;

/**
 * Requests under way to one registry host: enough to read 100 images a second at 100 ms a request, and few enough for
 * any host. A namespace alone gets 16.
 */
export const HOST_REQUESTS = { limit: 20, maxShare: 4 / 5 } as const;

/** Everything that reads through the same connections shares one instance. */
export class WorkLimits {
  /** Images of pods under inspection: 17 KB of heap each while registries are silent. */
  readonly images = new FairLimiter({ limit: 4_000, maxShare: 1 / 2 });
  /** Secrets of up to 1 MiB, read whole. */
  readonly secrets = new FairLimiter({ limit: 32, maxShare: 1 / 2 });
  /** Processes of programs: image names decide how many are wanted. The fifth is left for another namespace. */
  readonly programs = new FairLimiter({ limit: 5, maxShare: 4 / 5 });
  /** Resolutions of names: one without an answer holds one of Deno's 32 threads for files and KV for 10 s or more. */
  readonly nameResolutions = new FairLimiter({ limit: 16, maxShare: 1 / 2 });
  /** Inspections: each holds a top document of up to 4 MiB, parsed, and reads two others of up to 1 MiB. */
  readonly inspections = new FairLimiter({ limit: 128, maxShare: 1 / 2 });
  /** Bytes of large documents until they are parsed: the documents of all inspections may arrive together. */
  readonly #documents = new FairLimiter({ limit: 64 * 1024 * 1024, maxShare: 1 / 2 });
  /** Large documents are parsed one at a time: parsing delays answers of the webhook. */
  readonly #parsing = new FairLimiter({ limit: 1, maxShare: 1 / 2 });

  /** Memory for a large document, from the share of any caller. Throws RegistryError when there is none now. */
  takeMemory(bytes: number, { callers, registry }: { readonly callers: Callers; readonly registry: string }): Permit {
    const memory = this.#documents.tryAcquireAny(callers, { weight: bytes });
    if (memory !== undefined) return memory;
    const message = `Cannot read an answer of "${registry}" now: it is large, and others are being read.`;
    throw registryError("Busy", message, { registry });
  }

  /** Calls `work`, which parses a document. A large document gets its own round of the event loop. */
  async parseInTurn<T>(work: () => T, { bytes, callers, signal }: {
    readonly bytes: number;
    readonly callers: Callers;
    readonly signal: AbortSignal;
  }): Promise<T> {
    if (bytes <= SMALL_BYTES) return work();
    using _turn = await this.#parsing.acquire(callers, signal);
    await new Promise<void>((resolve) => setImmediate(resolve));
    signal.throwIfAborted();
    return work();
  }
}
