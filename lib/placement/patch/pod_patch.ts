// The operations that carry a decision out on a pod, whether it is being created (admission_patch.ts) or is stored
// (release_patch.ts): affinity, tolerations, labels, annotations, gate. Nothing is patched that is already so.
import type { V1PodSchedulingGate, V1Toleration } from "@kubernetes/client-node";
import { type JsonPatch, type PatchOperation, pointer } from "../../k8s/patch.ts";
import type { Wire } from "../../k8s/wire.ts";
import { PodAnnotation, SCHEDULING_GATE } from "../../names.ts";
import { unreachable } from "../../unreachable.ts";
import type { PlacementDecision, TolerationPlan } from "../decision_types.ts";
import { entryOf, utf8Length } from "../../json.ts";
import type { PodView } from "../types.ts";
import {
  type AffinityAddition,
  affinityOperations,
  architectureRequirement,
  NOWHERE_REQUIREMENT,
  plainAddition,
  requiredAddition,
} from "./affinity.ts";
import { type Changes, mapOperations, type MetadataChanges } from "./metadata_changes.ts";

/** The path of the labels in a pod. */
export const LABELS = "/metadata/labels";

/** The path of the annotations in a pod. */
export const ANNOTATIONS = "/metadata/annotations";

/**
 * The most bytes that keys and values of a pod's annotations may have after a patch. The API server refuses a pod with
 * more than 262 144; the rest is left to webhooks that are called later.
 */
export const MAX_ANNOTATION_BYTES = 262_144 - 16_384;

/** Annotations that are left out, in this order, when all of them together would exceed the limit. */
const OPTIONAL_ANNOTATIONS = [PodAnnotation.decision, PodAnnotation.preferredSources, PodAnnotation.inspectError];

/** The operations of a decision but for the gate's. */
export function decisionOperations(
  pod: PodView,
  { decision, metadata }: { readonly decision: PlacementDecision; readonly metadata: MetadataChanges },
): JsonPatch {
  return [
    ...affinityOperations(pod, affinityAddition(decision)),
    ...tolerationOperations(pod, tolerationsOf(decision)),
    ...metadataOperations(pod, metadata),
  ];
}

/** The operations for labels and annotations. */
export function metadataOperations(pod: PodView, { labels, annotations }: MetadataChanges): JsonPatch {
  return [
    ...mapOperations(LABELS, { held: pod.labels, changes: labels }),
    ...mapOperations(ANNOTATIONS, { held: pod.annotations, changes: fitAnnotations(pod, annotations) }),
  ];
}

/** The operations that add Archway's gate after those of others; none when the pod has it. */
export function addGate(pod: PodView): JsonPatch {
  if (pod.gates?.includes(SCHEDULING_GATE) === true) return [];
  const gate: Wire<V1PodSchedulingGate> = { name: SCHEDULING_GATE };
  if (pod.gates === undefined) return [{ op: "add", path: "/spec/schedulingGates", value: [gate] }];
  return [{ op: "add", path: "/spec/schedulingGates/-", value: gate }];
}

/** The operations that take Archway's gate out; others keep their order. Each is pinned by its name. */
export function removeGate(pod: PodView): JsonPatch {
  const indices = (pod.gates ?? []).flatMap((gate, index) => gate === SCHEDULING_GATE ? [index] : []).reverse();
  return indices.flatMap((index): JsonPatch => [
    { op: "test", path: pointer("spec", "schedulingGates", index, "name"), value: SCHEDULING_GATE },
    { op: "remove", path: pointer("spec", "schedulingGates", index) },
  ]);
}

/** What a decision adds to the node affinity. */
function affinityAddition(decision: PlacementDecision): AffinityAddition {
  if (decision.kind === "ignore") return { preferred: [] };
  const preferred = decision.preferences.terms;
  switch (decision.kind) {
    case "place":
      return decision.required.kind === "in"
        ? { required: requiredAddition(decision.required), preferred }
        : { preferred };
    case "nowhere":
      return { required: plainAddition(NOWHERE_REQUIREMENT), preferred };
    case "fallback":
      return { required: plainAddition(architectureRequirement([decision.architecture])), preferred };
    case "retry":
    case "release":
      return { preferred };
    default:
      return unreachable(decision);
  }
}

function tolerationsOf(decision: PlacementDecision): readonly TolerationPlan[] {
  return decision.kind === "nowhere" || decision.kind === "retry" ? [] : decision.tolerations ?? [];
}

/** The operations that append tolerations. */
export function tolerationOperations(pod: PodView, plans: readonly TolerationPlan[]): JsonPatch {
  if (plans.length === 0) return [];
  const tolerations: readonly Wire<V1Toleration>[] = plans;
  if (pod.tolerations === undefined) return [{ op: "add", path: "/spec/tolerations", value: tolerations }];
  return tolerations.map((value): PatchOperation => ({ op: "add", path: "/spec/tolerations/-", value }));
}

/** The changes without what would make the annotations longer than the API server accepts. */
function fitAnnotations(pod: PodView, changes: Changes): Changes {
  const fitting = new Map(changes);
  for (const key of OPTIONAL_ANNOTATIONS) {
    if (pod.annotationBytes + growth(pod, fitting) <= MAX_ANNOTATION_BYTES) break;
    if (fitting.get(key) !== undefined) fitting.set(key, undefined);
  }
  return fitting;
}

function growth({ annotations }: PodView, changes: Changes): number {
  return [...changes].reduce((bytes, [key, value]) => {
    const before = entryOf(annotations, key);
    const entryBytes = (text: string | undefined): number =>
      text === undefined ? 0 : utf8Length(key) + utf8Length(text);
    return bytes + entryBytes(value) - entryBytes(before);
  }, 0);
}
