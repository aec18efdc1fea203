// Equal inspections that overlap are one: the thousand replicas of a Deployment cost one. A wrapper around any inspector.
import type { Clock } from "../../clock.ts";
import { SharedCalls } from "../shared_call.ts";
import { fingerprintOfAll } from "../fingerprint.ts";
import type { InspectionReport, InspectionRequest, Inspector, PlannedRequest } from "../inspector.ts";

/** A shared one counts for all callers and ends when the last has left. `revalidate` is the cache's to share. */
export function singleFlight(
  inner: Inspector<PlannedRequest>,
  { clock }: { readonly clock: Clock },
): Inspector<PlannedRequest> {
  const calls = new SharedCalls<InspectionReport>({ clock });
  return {
    inspect: async (request, signal) => {
      signal.throwIfAborted();
      if (request.freshness === "revalidate") return await inner.inspect(request, signal);
      return await calls.run(
        keyOf(request),
        { callers: request.callers, signal },
        (callers, shared) => inner.inspect({ ...request, callers }, shared),
      );
    },
  };
}

/** What may be answered from memory is kept apart from what renews it. */
function keyOf({ image, credentials, depth, notBeforeMs }: InspectionRequest): string {
  return JSON.stringify([image, depth, notBeforeMs === undefined, fingerprintOfAll(credentials)]);
}
