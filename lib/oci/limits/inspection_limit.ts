// How many images are inspected at the registries at a time, and how many documents are parsed. A pod chooses its
// hosts, so the whole is limited as each host is, and fairly: slow images hold the places of their own namespace.
import { setImmediate } from "node:timers";
import type { Callers } from "../shared_call.ts";
import { inspectionError } from "../errors.ts";
import type { Caller, InspectionRequest, RegistryLookups } from "../inspector.ts";
import { callersOf } from "./callers.ts";
import { FairLimiter, type Place } from "./fair_limiter.ts";

/** Each holds a top document of up to 4 MiB and reads two others of up to 1 MiB: this bounds memory as well. */
export const MAX_INSPECTIONS = 128;
/** A namespace may take as many as are free, so half when it is alone: another one always finds a place. */
const NAMESPACE_SHARE = 1;

export function limitInspections(inner: RegistryLookups): RegistryLookups {
  const places = new FairLimiter({ limit: MAX_INSPECTIONS, share: NAMESPACE_SHARE });
  const within = async <T>(request: InspectionRequest, signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
    using _ = await places.acquire(callersOf(request), signal);
    return await work();
  };
  return {
    inspect: (request, signal) => within(request, signal, () => inner.inspect(request, signal)),
    head: (request, signal) => within(request, signal, () => inner.head(request, signal)),
  };
}

/** Documents of at most so many bytes are parsed at once: most are smaller, and none of them takes more than 2 ms. */
const SMALL_BYTES = 16 * 1024;

/** What large documents may hold together while they arrive and wait (bytes). */
export const LARGE_DOCUMENTS = { limit: 64 * 1024 * 1024, share: 1 } as const;

export interface DocumentTurn {
  readonly bytes: number;
  readonly callers: Callers<Caller>;
  readonly signal: AbortSignal;
  readonly registry: string;
}

/** One after the other, namespaces in turn; after each the event loop is left to others for as long as it took. */
export class DocumentTurns {
  readonly #turns = new FairLimiter({ limit: 1, share: 1 });
  readonly #memory = new FairLimiter(LARGE_DOCUMENTS);
  #freeAtMs = 0;

  /** Memory for a document that arrives; undefined when there is none for any of the callers now. */
  tryTakeMemory(callers: Callers<Caller>, bytes: number): Place | undefined {
    return this.#memory.tryAcquireAny(callers, { weight: bytes });
  }

  /** `work` waits for nothing. Throws InspectionError when too many wait, and the signal's reason. */
  async run<T>(work: () => T, { bytes, callers, signal, registry }: DocumentTurn): Promise<T> {
    if (bytes <= SMALL_BYTES) return work();
    using memory = this.tryTakeMemory(callers, bytes);
    if (memory === undefined) {
      const message = `Cannot read an answer of "${registry}" now: it is large, and others are being read.`;
      throw inspectionError("CircuitOpen", message, { registry });
    }
    using _ = await this.#turns.acquire(callers, signal);
    await leaveLoop(this.#freeAtMs - performance.now());
    signal.throwIfAborted();
    return this.#timed(work);
  }

  #timed<T>(work: () => T): T {
    const startedMs = performance.now();
    try {
      return work();
    } finally {
      const endedMs = performance.now();
      this.#freeAtMs = endedMs + (endedMs - startedMs);
    }
  }
}

/** Leaves the event loop to others for so long, and for one round of it at least. */
async function leaveLoop(ms: number): Promise<void> {
  if (ms > 0) await new Promise<void>((resolve) => setTimeout(resolve, ms));
  await new Promise<void>((resolve) => setImmediate(resolve));
}
