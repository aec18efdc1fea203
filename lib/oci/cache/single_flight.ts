// Many who ask the same at the same time share one inspection: the thousand replicas of a Deployment cost one.
// A wrapper around any inspector.
import { fingerprintOfAll } from "../fingerprint.ts";
import type { InspectionPriority, InspectionReport, InspectionRequest, Inspector } from "../inspector.ts";
import { untilAborted } from "../../abort.ts";

interface SharedInspection {
  readonly report: Promise<InspectionReport>;
  readonly landing: AbortController;
  passengers: number;
  priority: InspectionPriority;
}

const RANK: Readonly<Record<InspectionPriority, number>> = { gated: 0, admission: 1, prewarm: 2 };

/**
 * Shares equal inspections that overlap. A shared one runs with the highest priority of all who wait for it, and ends when
 * the last of them has left.
 */
export function singleFlight(inner: Inspector): Inspector {
  const flights = new Map<string, SharedInspection>();

  function start(key: string, request: InspectionRequest): SharedInspection {
    const landing = new AbortController();
    // The priority is read by whoever schedules, as late as possible: joining passengers may raise it.
    const shared: InspectionRequest = {
      ...request,
      get priority() {
        return flight.priority;
      },
    };
    const flight: SharedInspection = {
      report: Promise.resolve().then(() => inner.inspect(shared, landing.signal)),
      landing,
      passengers: 0,
      priority: request.priority,
    };
    const land = (): void => {
      if (flights.get(key) === flight) flights.delete(key);
    };
    flight.report.then(land, land);
    flights.set(key, flight);
    return flight;
  }

  return {
    inspect: async (request, signal) => {
      signal.throwIfAborted();
      const key = keyOf(request);
      const flight = flights.get(key) ?? start(key, request);
      if (RANK[request.priority] < RANK[flight.priority]) flight.priority = request.priority;
      flight.passengers += 1;
      try {
        return await untilAborted(flight.report, signal);
      } finally {
        flight.passengers -= 1;
        if (flight.passengers === 0) {
          // Nobody waits any more, so nobody may join either.
          if (flights.get(key) === flight) flights.delete(key);
          flight.landing.abort(new DOMException("Nobody waits for this inspection any more.", "AbortError"));
        }
      }
    },
  };
}

function keyOf({ image, credentials, freshness, depth }: InspectionRequest): string {
  return JSON.stringify([image, freshness, depth, fingerprintOfAll(credentials)]);
}
