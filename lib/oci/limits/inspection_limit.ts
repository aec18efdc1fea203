// How many images are inspected at the registries at a time. Each host has limits of its own, but a pod chooses its hosts, so
// the whole is limited too, and fairly: images that are slow, or never answer, hold the places of their own namespace.
import type { InspectionRequest, RegistryLookups } from "../inspector.ts";
import { callersOf } from "./callers.ts";
import { FairLimiter } from "./fair_limiter.ts";

/**
 * Inspections under way in this process. Each holds one top document of up to 4 MiB and reads two others of up to 1 MiB at
 * a time, so this bounds memory as well. At 100 ms an image it is far more than all registries together get.
 */
export const MAX_INSPECTIONS = 128;
/** A namespace may take as many as are free, so half when it is alone: another one always finds a place. */
const NAMESPACE_SHARE = 1;

/** Limits an inspector that sends requests to registries. */
export function limitInspections(inner: RegistryLookups): RegistryLookups {
  const places = new FairLimiter({ limit: MAX_INSPECTIONS, share: NAMESPACE_SHARE });
  const within = async <T>(request: InspectionRequest, signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
    const place = await places.acquire(callersOf(request), signal);
    try {
      return await work();
    } finally {
      place.release();
    }
  };
  return {
    inspect: (request, signal) => within(request, signal, () => inner.inspect(request, signal)),
    head: (request, signal) => within(request, signal, () => inner.head(request, signal)),
  };
}
