// Decision → the one JSON Patch that carries it out on a stored pod. `test` operations pin what the decision read, so
// that unrelated writers do not conflict and a changed pod is decided anew. Source: design §5 "One write a pod", §10.
import { type JsonPatch, type PatchOperation, pointer } from "../../k8s/patch.ts";
import { GateLabel, NODE_ARCH_LABEL, PodAnnotation, PodLabel, SCHEDULING_GATE } from "../../names.ts";
import { unreachable } from "../../unreachable.ts";
import {
  type AffinityAddition,
  affinityOperations,
  architectureRequirement,
  NOWHERE_REQUIREMENT,
  plainAddition,
  PREFERRED_TERMS_POINTER,
  REQUIRED_TERMS_POINTER,
  requiredAddition,
} from "./affinity.ts";
import { isGated } from "./constraints.ts";
import type { PlacementDecision } from "../decision_types.ts";
import { clip } from "../failures.ts";
import { mapOperations, marksOf, type MetadataChanges } from "./metadata_changes.ts";
import type { TolerationPlan } from "../plan_types.ts";
import { entryOf } from "../raw.ts";
import type { PodView } from "../types.ts";

const LABELS = "/metadata/labels";
const ANNOTATIONS = "/metadata/annotations";

/**
 * The patch for a decision; empty when there is nothing to do. A failed `test` (422 without causes) means: read the pod
 * again and decide anew.
 */
export function releasePatch(pod: PodView, decision: PlacementDecision): JsonPatch {
  if (!isGated(pod) || pod.deleting) return [];
  const marks = marksOf(decision);
  const changes = [
    ...affinityOperations(pod, affinityAddition(decision)),
    ...tolerationOperations(pod, tolerationsOf(decision)),
    ...markOperations(pod, marks),
    ...(decision.kind === "retry" ? [] : removeGate(pod)),
  ];
  return changes.length === 0 ? [] : [...guards(pod, { decision, changes }), ...changes];
}

/**
 * The smallest release: gate, gate label and an annotation that says why there is no more. For a pod whose full patch
 * the server refused (D3, DV-44).
 */
export function bareReleasePatch(pod: PodView, reason: string): JsonPatch {
  if (!isGated(pod)) return [];
  const marks: MetadataChanges = {
    labels: new Map([[PodLabel.gate, GateLabel.removed]]),
    annotations: new Map([[PodAnnotation.inspectError, clip(reason, 256)]]),
  };
  const changes = [...markOperations(pod, marks), ...removeGate(pod)];
  return [...identityGuards(pod, changes), ...changes];
}

/** What a decision adds to the node affinity. Shared with the admission patch. */
export function affinityAddition(decision: PlacementDecision): AffinityAddition {
  if (decision.kind === "ignore") return { preferred: [] };
  const preferred = decision.preferences.terms;
  switch (decision.kind) {
    case "place":
      return decision.required.kind === "preset"
        ? { preferred }
        : { required: requiredAddition(decision.required), preferred };
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

/** The operations that append tolerations. */
export function tolerationOperations(pod: PodView, plans: readonly TolerationPlan[]): JsonPatch {
  if (plans.length === 0) return [];
  if (pod.tolerations === undefined) return [{ op: "add", path: "/spec/tolerations", value: plans }];
  return plans.map((value): PatchOperation => ({ op: "add", path: "/spec/tolerations/-", value }));
}

/** The operations for labels and annotations. */
export function markOperations(pod: PodView, marks: MetadataChanges): JsonPatch {
  return [
    ...mapOperations(LABELS, { held: pod.labels, changes: marks.labels }),
    ...mapOperations(ANNOTATIONS, { held: pod.annotations, changes: marks.annotations }),
  ];
}

/** The operations that take Archway's gate out; others keep their order. Each is pinned by its name. */
export function removeGate(pod: PodView): JsonPatch {
  const indices = (pod.gates ?? []).flatMap((gate, index) => gate === SCHEDULING_GATE ? [index] : []).reverse();
  return indices.flatMap((index): JsonPatch => [
    { op: "test", path: pointer("spec", "schedulingGates", index, "name"), value: SCHEDULING_GATE },
    { op: "remove", path: pointer("spec", "schedulingGates", index) },
  ]);
}

/** The tolerations a decision adds. */
export function tolerationsOf(decision: PlacementDecision): readonly TolerationPlan[] {
  return decision.kind === "place" || decision.kind === "fallback" ? decision.tolerations : [];
}

function guards(
  pod: PodView,
  { decision, changes }: { readonly decision: PlacementDecision; readonly changes: JsonPatch },
): JsonPatch {
  const identity = identityGuards(pod, changes);
  if (decision.kind === "ignore") return identity;
  const read: PatchOperation[] = [];
  // A retry leaves the gate on: the marks of a failure shall not reach a pod that somebody has released meanwhile.
  if (decision.kind === "retry") read.push(...removeGate(pod).filter(({ op }) => op === "test"));
  const selected = entryOf(pod.nodeSelector, NODE_ARCH_LABEL);
  if (selected !== undefined) read.push(test(pointer("spec", "nodeSelector", NODE_ARCH_LABEL), selected));
  if (pod.hasRequiredTermsList) read.push(test(REQUIRED_TERMS_POINTER, pod.requiredTerms));
  if (pod.preferredTerms !== undefined) read.push(test(PREFERRED_TERMS_POINTER, pod.preferredTerms));
  for (const { image, imagePointer } of pod.containers) {
    if (image !== "") read.push(test(imagePointer, image));
  }
  return [...identity, ...read];
}

/**
 * The same pod as was read. A missing parent cannot be tested, and making it would undo what somebody else made there
 * meanwhile; only then the whole pod must be unchanged.
 */
function identityGuards(pod: PodView, changes: JsonPatch): JsonPatch {
  const makesParent = changes.some(({ op, path }) =>
    op === "add" && (path === LABELS || path === ANNOTATIONS || path.startsWith("/spec/") && !isAppended(path))
  );
  return [
    ...(pod.uid === "" ? [] : [test("/metadata/uid", pod.uid)]),
    ...(makesParent && pod.resourceVersion !== "" ? [test("/metadata/resourceVersion", pod.resourceVersion)] : []),
  ];
}

function isAppended(path: string): boolean {
  return path.endsWith("/-") || path.startsWith(`${REQUIRED_TERMS_POINTER}/`);
}

function test(path: string, value: unknown): PatchOperation {
  return { op: "test", path, value };
}
