// Releasing pods while no replica leads: the parts of it, with connections of their own.
import { openGateFailOpen as openController } from "../controllers/gate_fail_open/controller.ts";
import type { Runnable } from "../controllers/mod.ts";
import { openGateLifter } from "../lib/gates/gate_lifter.ts";
import type { EventRecorder } from "../lib/k8s/event_recorder.ts";
import { openKubeApi } from "../lib/k8s/rest_api.ts";
import { LEASE_NAME } from "../lib/names.ts";
import { openPace } from "../lib/k8s/write_pace.ts";
import type { Clients, ServeDeps } from "./clients.ts";

/** Of a replica: what half a minute without a leader has gated in a busy cluster is free within another. */
const RELEASES_A_SECOND = 50;

/** Makes it, for every replica. No request is sent to the API server while a replica leads. */
export function openGateFailOpen(
  { config, settings, access, clock, log, userAgent }: ServeDeps,
  { election, metrics, board }: Clients,
  { events, stack }: { readonly events: EventRecorder; readonly stack: AsyncDisposableStack },
): Runnable {
  const api = stack.use(openKubeApi(access, { clock, log, userAgent, observe: metrics.apiCall }));
  return openController({
    api,
    lifter: openGateLifter({ api, pace: openPace(clock, RELEASES_A_SECOND) }),
    events,
    metrics,
    board,
    clock,
    log: log.with({ controller: "gate-fail-open" }),
    lease: { namespace: config.namespace, name: LEASE_NAME },
    view: () => election.view(),
    maxGateAgeMs: settings.maxGateAgeMs,
  });
}
