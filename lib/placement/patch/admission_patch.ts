// Verdict of the webhook → minimal RFC 6902 patch of the new pod. Nothing is patched that is already so.
import type { JsonPatch } from "../../k8s/patch.ts";
import { AffinityLabel, GateLabel, PodLabel } from "../../names.ts";
import { unreachable } from "../../unreachable.ts";
import type { AdmissionVerdict, PlacementDecision } from "../decision_types.ts";
import type { PodView } from "../types.ts";
import { utf8Length } from "../../json.ts";
import { isGated } from "./constraints.ts";
import { type MetadataChanges, metadataOf, STRIPPED_METADATA } from "./metadata_changes.ts";
import { ownRequirement } from "./own_terms.ts";
import { addGate, decisionOperations, metadataOperations, removeGate, tolerationOperations } from "./pod_patch.ts";

/** The largest object that etcd stores by default, less what its encoding may add (bytes). */
const MAX_OBJECT_BYTES = 1_500_000;

/**
 * Whether a pod is certainly small enough to be stored with a patch. The review that brought the pod is larger than the
 * pod as it is stored. A pod of which this is not certain must be admitted as it is: it may fit without the patch alone.
 */
export function isStorable(
  { reviewBytes, patch }: { readonly reviewBytes: number; readonly patch: JsonPatch },
): boolean {
  return patch.length === 0 || reviewBytes + utf8Length(JSON.stringify(patch)) <= MAX_OBJECT_BYTES;
}

/** The patch that carries a verdict out on a pod that is being created; empty when nothing changes. */
export function admissionPatch(pod: PodView, verdict: AdmissionVerdict): JsonPatch {
  switch (verdict.kind) {
    case "ignore":
      return [...tolerationOperations(pod, verdict.tolerations), ...undecidedPatch(pod, verdict)];
    case "gate":
      return [...undecidedPatch(pod, verdict), ...addGate(pod)];
    case "place":
      return placePatch(pod, verdict.decision);
    case "pass":
      return [
        ...tolerationOperations(pod, verdict.tolerations),
        ...(verdict.reason === "GatingStopped" && ownRequirement(pod) === undefined
          ? undecidedPatch(pod, verdict)
          : []),
      ];
    default:
      return unreachable(verdict);
  }
}

function placePatch(pod: PodView, decision: PlacementDecision): JsonPatch {
  const { labels, annotations } = metadataOf(decision);
  const metadata: MetadataChanges = {
    labels: new Map([...STRIPPED_METADATA.labels, ...labels]),
    annotations: new Map([...STRIPPED_METADATA.annotations, ...annotations]),
  };
  return [...decisionOperations(pod, { decision, metadata }), ...removeGate(pod)];
}

function undecidedPatch(pod: PodView, verdict: AdmissionVerdict): JsonPatch {
  return metadataOperations(pod, undecidedMetadata(pod, verdict));
}

/**
 * The labels of a pod about which nothing is decided. A pod that brings the gate itself is labelled gated
 * whatever the verdict, so that the controller sees it and releases it.
 */
function undecidedMetadata(pod: PodView, verdict: AdmissionVerdict): MetadataChanges {
  const gated = verdict.kind === "gate" || isGated(pod);
  // The record of our own earlier call stays on a pod that we now gate: it shows the controller which terms are Archway's.
  const keepsRecord = verdict.kind === "gate" && ownRequirement(pod) !== undefined;
  return {
    labels: new Map([
      ...STRIPPED_METADATA.labels,
      [PodLabel.preferredNodeAffinity, verdict.nodeAffinityScoring ? AffinityLabel.notSet : undefined],
      [PodLabel.nodeAffinity, AffinityLabel.notSet],
      [PodLabel.gate, gated ? GateLabel.gated : GateLabel.notSet],
    ]),
    annotations: keepsRecord ? new Map() : STRIPPED_METADATA.annotations,
  };
}
