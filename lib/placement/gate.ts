// What the webhook does with a new pod: ignore it, hold it by the gate, or place it at once because its images are all
// known. Called by routes for each admission, so: no allocation that is not needed. Source: §1.2, design §5.
import { PodAnnotation } from "../names.ts";
import { admissionPatch } from "./patch/admission_patch.ts";
import { hasRequiredArchitecture } from "./patch/constraints.ts";
import { isConstrainedByUs } from "./patch/own_terms.ts";
import type { GateVerdict, NowhereDecision, PlaceDecision } from "./decision_types.ts";
import { ignoreReason } from "./ignore.ts";
import { imagesWorthConfigRead, judgeImages } from "./images.ts";
import { placeByImages, type PlaceOptions, placePreset } from "./place.ts";
import { entryOf } from "./raw.ts";
import { parseRecord } from "./patch/record.ts";
import { scoringWanted, selectConfigs } from "./config/selection.ts";
import type { AdmissionFacts } from "./types.ts";

/** Judges a pod that is being created. Never fails; marks on the pod are evidence only of this admission's own patch. */
export function judgeAdmission(facts: AdmissionFacts): GateVerdict {
  const { pod, settings } = facts;
  const selected = selectConfigs(pod, facts.configs);
  const nodeAffinityScoring = scoringWanted(selected);
  if (settings.audit) return { kind: "pass", reason: "AuditMode", nodeAffinityScoring };
  const record = parseRecord(entryOf(pod.annotations, PodAnnotation.decision));
  const ownTerms = record === undefined ? "none" : "reinvocation";
  const options = { pod, settings, selected, ownTerms, liveArchitectures: facts.liveArchitectures } as const;
  if (record?.decision === "preset" && isOwnPreset(options)) {
    return { kind: "pass", reason: "OwnPatch", nodeAffinityScoring };
  }
  const constrainedByUs = isConstrainedByUs(pod);
  const reason = ignoreReason({ pod, settings, scoring: nodeAffinityScoring, constrainedByUs });
  if (reason !== undefined) return { kind: "ignore", reason, nodeAffinityScoring };
  const decision = settings.warmAdmission ? decideWarm(facts, options) : undefined;
  if (decision !== undefined && !(facts.mayGate && deservesWarning(decision))) {
    const verdict: GateVerdict = { kind: "place", decision, nodeAffinityScoring };
    const isOwn = constrainedByUs && admissionPatch(pod, verdict).length === 0;
    return isOwn ? { kind: "pass", reason: "OwnPatch", nodeAffinityScoring } : verdict;
  }
  return facts.mayGate
    ? { kind: "gate", nodeAffinityScoring }
    : { kind: "pass", reason: "GatingStopped", nodeAffinityScoring };
}

/** The pod cannot run now. Held for a moment, it gets a uid and by that the event that says why. */
function deservesWarning(decision: PlaceDecision | NowhereDecision): boolean {
  return decision.kind === "nowhere" || decision.noMatchingNodes;
}

/** The decision where it can be made without asking a registry; undefined where it cannot. */
function decideWarm(facts: AdmissionFacts, options: PlaceOptions): PlaceDecision | NowhereDecision | undefined {
  const { pod, settings, known: images } = facts;
  if (hasRequiredArchitecture(pod) && !isConstrainedByUs(pod)) return placePreset(options);
  if (images === undefined) return undefined;
  const judgement = judgeImages({ pod, settings, images });
  const isSettled = judgement.kind === "shared" && imagesWorthConfigRead({ pod, settings, images }).length === 0;
  return isSettled ? placeByImages(judgement, options) : undefined;
}

/** Whether a pod with the user's own constraint shows exactly the preferences that an earlier call gave it. */
function isOwnPreset(options: PlaceOptions): boolean {
  if (!hasRequiredArchitecture(options.pod)) return false;
  const decision = placePreset(options);
  return decision.preferences.present &&
    admissionPatch(options.pod, { kind: "place", decision, nodeAffinityScoring: true }).length === 0;
}
