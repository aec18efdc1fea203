// Reports a pod's outcome: events, metrics, the dashboard's row and one log line.
import type { PlacementDecision } from "../../lib/placement/decide/decision_types.ts";
import type { SlottedEvent } from "../../lib/placement/decide/events/event_slots.ts";
import { decidedImages } from "../../lib/placement/decide/history/recent_decisions.ts";
import { decisionReason } from "../../lib/placement/decide/history/reason.ts";
import { gateAddedEvent, podEventsOf, type PodOutcome } from "../../lib/placement/decide/events/pod_events.ts";
import { requiredArchitectures } from "../../lib/placement/decide/place.ts";
import { podObject, type PodRef } from "../../lib/placement/decide/pod/pod_refs.ts";
import type { PodView } from "../../lib/placement/decide/pod/pod_view.ts";
import type { PodPlacementDeps } from "./deps.ts";
import type { PodState } from "./pod_states.ts";

export function reportGated(deps: PodPlacementDeps, pod: PodRef): void {
  postEvents(deps, pod, [gateAddedEvent()]);
}

export function reportOutcome(
  deps: PodPlacementDeps,
  pod: PodView,
  { outcome, state }: { readonly outcome: PodOutcome; readonly state: PodState },
): void {
  postEvents(deps, pod, podEventsOf(pod, outcome));
  if (outcome.kind === "refused") return;
  const { decision } = outcome;
  const isReduced = outcome.kind === "reduced";
  const kind = isReduced ? outcome.kind : decision.kind;
  const reason = decisionReason(decision);
  const architectures = isReduced ? [] : requiredArchitectures(decision) ?? [];
  const { metrics, decisions, log, clock } = deps;
  const gatedMs = state.gateAgeMs();
  const name = { namespace: pod.namespace, pod: pod.name };
  metrics.decision(kind);
  const images = decidedImages(decision);
  decisions.record({ atMs: clock.nowMs(), ...name, kind, reason, architectures, images, gatedMs });
  const fields = { ...name, reason, gatedMs: Math.round(gatedMs), ...failureFields(decision) };
  if (decision.kind === "retry") return log.debug("image inspection failed, will ask again", fields);
  metrics.gateReleased(gatedMs);
  log.info("pod released", fields);
}

function postEvents(deps: PodPlacementDeps, pod: PodRef, slotted: readonly SlottedEvent[]): void {
  const object = podObject(pod);
  for (const event of slotted) deps.events.record({ object, ...event });
}

function failureFields(decision: PlacementDecision): Readonly<Record<string, string>> {
  if (!("failed" in decision)) return {};
  const { image, failure } = decision.failed;
  return { image, failure: failure.reason, error: failure.message };
}
