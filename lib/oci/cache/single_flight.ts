// Equal inspections that overlap are one: the thousand replicas of a Deployment cost one. A wrapper around any inspector.
import type { Clock } from "../../clock.ts";
import { SharedCalls } from "../shared_call.ts";
import { fingerprintOfAll } from "../fingerprint.ts";
import type { InspectionReport, InspectionRequest, Inspector, PlannedRequest } from "../inspector.ts";

/** A shared one counts for all callers and ends when the last has left. Look-ups of this process alone are the cache's to share. */
export function singleFlight(
  inner: Inspector<PlannedRequest>,
  { clock }: { readonly clock: Clock },
): Inspector<PlannedRequest> {
  const calls = new SharedCalls<InspectionReport>({ clock });
  return {
    inspect: async (request, signal) => {
      signal.throwIfAborted();
      if (typeof request.freshness === "object") return await inner.inspect(request, signal);
      return await calls.run(
        keyOf(request),
        { callers: request.callers, signal },
        (callers, shared) => inner.inspect({ ...request, callers }, shared),
      );
    },
  };
}

function keyOf({ image, credentials, depth, freshness }: InspectionRequest): string {
  return JSON.stringify([image, depth, freshness, fingerprintOfAll(credentials)]);
}
