// Webhook verdict → minimal RFC 6902 patch of the new pod.
import { utf8Length } from "../../../json.ts";
import { type JsonPatch, renderJsonBody } from "../../../k8s/patch.ts";
import { AffinityLabel, GateLabel, PodLabel } from "../../../names.ts";
import { assertNever } from "../../../parsed.ts";
import type { AdmissionVerdict } from "../decision_types.ts";
import type { PodView } from "../pod/pod_view.ts";
import { changesOf, NO_CHANGES, type PodChanges, STRIPPED } from "./changes.ts";
import { isGated } from "../pod/constraints.ts";
import { archwaysRequirement } from "../pod/archways_terms.ts";
import { renderChanges } from "./pod_patch.ts";

/** The largest object that etcd stores by default, minus its encoding overhead (bytes). */
const MAX_OBJECT_BYTES = 1_500_000;

/** Empty without changes; undefined when the patched pod may be too large to store. Unpatched it may still fit. */
export function renderStorable(patch: JsonPatch, reviewBytes: number): string | undefined {
  if (patch.length === 0) return "";
  const text = renderJsonBody(patch);
  return reviewBytes + utf8Length(text) <= MAX_OBJECT_BYTES ? text : undefined;
}

export function admissionPatch(pod: PodView, verdict: AdmissionVerdict): JsonPatch {
  return renderChanges(pod, verdictChanges(pod, verdict));
}

function verdictChanges(pod: PodView, verdict: AdmissionVerdict): PodChanges {
  switch (verdict.kind) {
    case "ignore":
      return { ...undecided(pod, verdict), tolerations: verdict.tolerations };
    case "gate":
      return { ...undecided(pod, verdict), gate: "added" };
    case "place": {
      const changes = changesOf(verdict.decision);
      return {
        ...changes,
        labels: new Map([...STRIPPED.labels, ...changes.labels]),
        annotations: new Map([...STRIPPED.annotations, ...changes.annotations]),
      };
    }
    case "pass": {
      const isLabelled = verdict.reason === "GatingStopped" && archwaysRequirement(pod) === undefined;
      return { ...isLabelled ? undecided(pod, verdict) : NO_CHANGES, tolerations: verdict.tolerations };
    }
    default:
      return assertNever(verdict);
  }
}

/** A pod created with the gate is always labelled gated, so that the controller releases it. */
function undecided(pod: PodView, { kind, isScored }: AdmissionVerdict): PodChanges {
  // When gating, keep an earlier call's record: it shows the controller which terms are Archway's.
  const keepsRecord = kind === "gate" && archwaysRequirement(pod) !== undefined;
  return {
    ...NO_CHANGES,
    labels: new Map([
      ...STRIPPED.labels,
      [PodLabel.preferredNodeAffinity, isScored ? AffinityLabel.notSet : undefined],
      [PodLabel.nodeAffinity, AffinityLabel.notSet],
      [PodLabel.gate, kind === "gate" || isGated(pod) ? GateLabel.gated : GateLabel.notSet],
    ]),
    annotations: keepsRecord ? NO_CHANGES.annotations : STRIPPED.annotations,
  };
}
