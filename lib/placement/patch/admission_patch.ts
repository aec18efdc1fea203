// Verdict of the webhook → minimal RFC 6902 patch of the new pod. Nothing is patched that is already so. Source: §1.4.
import type { JsonPatch } from "../../k8s/patch.ts";
import { AffinityLabel, GateLabel, PodLabel, SCHEDULING_GATE } from "../../names.ts";
import { unreachable } from "../../unreachable.ts";
import { affinityOperations } from "./affinity.ts";
import { isGated } from "./constraints.ts";
import { isConstrainedByUs } from "./own_terms.ts";
import type { GateVerdict, PlacementDecision } from "../decision_types.ts";
import { marksOf, type MetadataChanges, STRIPPED_METADATA } from "./metadata_changes.ts";
import { affinityAddition, markOperations, removeGate, tolerationOperations, tolerationsOf } from "./release_patch.ts";
import type { PodView } from "../types.ts";

/** The patch that carries a verdict out on a pod that is being created; empty when nothing changes. */
export function admissionPatch(pod: PodView, verdict: GateVerdict): JsonPatch {
  switch (verdict.kind) {
    case "ignore":
      return markOperations(pod, undecidedMetadata(pod, verdict));
    case "gate":
      return [...markOperations(pod, undecidedMetadata(pod, verdict)), ...addGate(pod)];
    case "place":
      return placePatch(pod, verdict.decision);
    case "pass":
      if (verdict.reason !== "GatingStopped" || isConstrainedByUs(pod)) return [];
      return markOperations(pod, undecidedMetadata(pod, verdict));
    default:
      return unreachable(verdict);
  }
}

function placePatch(pod: PodView, decision: PlacementDecision): JsonPatch {
  const { labels, annotations } = marksOf(decision);
  const marks: MetadataChanges = {
    labels: new Map([...STRIPPED_METADATA.labels, ...labels]),
    annotations: new Map([...STRIPPED_METADATA.annotations, ...annotations]),
  };
  return [
    ...affinityOperations(pod, affinityAddition(decision)),
    ...tolerationOperations(pod, tolerationsOf(decision)),
    ...markOperations(pod, marks),
    ...removeGate(pod),
  ];
}

/**
 * The labels of a pod about which nothing is decided (§1.2 steps 6–11). A pod that brings the gate itself is labelled
 * gated whatever the verdict, so that the controller sees it and lets it go.
 */
function undecidedMetadata(pod: PodView, verdict: GateVerdict): MetadataChanges {
  const gated = verdict.kind === "gate" || isGated(pod);
  // The record of our own earlier call stays on a pod that we now gate: it tells the controller whose the terms are.
  const keepsRecord = verdict.kind === "gate" && isConstrainedByUs(pod);
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

function addGate(pod: PodView): JsonPatch {
  if (isGated(pod)) return [];
  const gate = { name: SCHEDULING_GATE };
  if (pod.gates === undefined) return [{ op: "add", path: "/spec/schedulingGates", value: [gate] }];
  return [{ op: "add", path: "/spec/schedulingGates/-", value: gate }];
}
