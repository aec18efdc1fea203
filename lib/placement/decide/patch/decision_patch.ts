// Decision → JSON Patch. Its `test` operations pin what the decision read.
import { entryOf } from "../../../json.ts";
import { type JsonPatch, type PatchOperation, pointer } from "../../../k8s/patch.ts";
import { GateLabel, NODE_ARCH_LABEL, PodAnnotation, PodLabel } from "../../../names.ts";
import type { PlacementDecision } from "../decision_types.ts";
import { clip } from "../failures.ts";
import type { PodView } from "../pod/pod_view.ts";
import { PREFERRED_TERMS_POINTER, REQUIRED_TERMS_POINTER } from "./affinity.ts";
import { type Changes, changesOf, NO_CHANGES } from "./changes.ts";
import { isGated } from "../pod/constraints.ts";
import { ANNOTATIONS, LABELS, removeGate, renderChanges } from "./pod_patch.ts";

/** Empty when there is nothing to do. A failed `test` (422 without causes) means: read the pod and decide again. */
export function decisionPatch(pod: PodView, decision: PlacementDecision): JsonPatch {
  if (!isGated(pod) || pod.isDeleting) return [];
  const changes = renderChanges(pod, changesOf(decision));
  return changes.length === 0 ? [] : [...identityGuards(pod, changes), ...guards(pod, decision), ...changes];
}

/** Removes the gate, sets its label, and adds the reason as an annotation: for a pod whose full patch was refused. */
export function bareReleasePatch(pod: PodView, reason: string): JsonPatch {
  const annotations = new Map([[PodAnnotation.inspectError, clip(reason, 256)]]);
  return reducedPatch(pod, new Map([[PodLabel.gate, GateLabel.removed]]), annotations);
}

/** Removes the gate, and sets its label if given. Empty when the pod lacks our gate. */
export function ungatePatch(pod: PodView, label: string | undefined): JsonPatch {
  const hasLabel = label !== undefined && pod.labels !== undefined;
  return reducedPatch(pod, new Map(hasLabel ? [[PodLabel.gate, label]] : []), NO_CHANGES.annotations);
}

function reducedPatch(pod: PodView, labels: Changes, annotations: Changes): JsonPatch {
  if (!isGated(pod)) return [];
  const changes = renderChanges(pod, { ...NO_CHANGES, labels, annotations, gate: "removed" });
  return [...identityGuards(pod, changes), ...changes];
}

function guards(pod: PodView, { kind }: PlacementDecision): JsonPatch {
  if (kind === "ignore") return [];
  // A retry keeps the gate: its labels must not reach a pod that another client has released.
  const read: PatchOperation[] = kind === "retry" ? removeGate(pod).filter(({ op }) => op === "test") : [];
  const selected = entryOf(pod.nodeSelector, NODE_ARCH_LABEL);
  if (selected !== undefined) read.push(test(pointer("spec", "nodeSelector", NODE_ARCH_LABEL), selected));
  if (pod.hasRequiredTermsList) read.push(test(REQUIRED_TERMS_POINTER, pod.requiredTerms));
  if (pod.preferredTerms !== undefined) read.push(test(PREFERRED_TERMS_POINTER, pod.preferredTerms));
  for (const { image, imagePointer } of pod.containers) {
    if (image !== "") read.push(test(imagePointer, image));
  }
  return read;
}

/** Pins the pod that was read. A missing parent cannot be tested, so adding one tests the resourceVersion. */
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
