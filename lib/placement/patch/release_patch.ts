// Decision → the one JSON Patch that carries it out on a stored pod. `test` operations pin what the decision read, so
// that unrelated writers do not conflict and a changed pod is decided again.
import { type JsonPatch, type PatchOperation, pointer } from "../../k8s/patch.ts";
import { GateLabel, NODE_ARCH_LABEL, PodAnnotation, PodLabel } from "../../names.ts";
import type { PlacementDecision } from "../decision_types.ts";
import { clip } from "../failures.ts";
import { entryOf } from "../../json.ts";
import type { PodView } from "../types.ts";
import { PREFERRED_TERMS_POINTER, REQUIRED_TERMS_POINTER } from "./affinity.ts";
import { isGated } from "./constraints.ts";
import { type MetadataChanges, metadataOf } from "./metadata_changes.ts";
import { ANNOTATIONS, decisionOperations, LABELS, metadataOperations, removeGate } from "./pod_patch.ts";

/**
 * The patch for a decision; empty when there is nothing to do. A failed `test` (422 without causes) means: read the pod
 * and decide again.
 */
export function releasePatch(pod: PodView, decision: PlacementDecision): JsonPatch {
  if (!isGated(pod) || pod.deleting) return [];
  const changes = [
    ...decisionOperations(pod, { decision, metadata: metadataOf(decision) }),
    ...(decision.kind === "retry" ? [] : removeGate(pod)),
  ];
  return changes.length === 0 ? [] : [...guards(pod, { decision, changes }), ...changes];
}

/**
 * The smallest release: gate, gate label and an annotation that says why there is no more. For a pod whose full patch
 * the server refused (DV-44).
 */
export function bareReleasePatch(pod: PodView, reason: string): JsonPatch {
  if (!isGated(pod)) return [];
  const metadata: MetadataChanges = {
    labels: new Map([[PodLabel.gate, GateLabel.removed]]),
    annotations: new Map([[PodAnnotation.inspectError, clip(reason, 256)]]),
  };
  const changes = [...metadataOperations(pod, metadata), ...removeGate(pod)];
  return [...identityGuards(pod, changes), ...changes];
}

function guards(
  pod: PodView,
  { decision, changes }: { readonly decision: PlacementDecision; readonly changes: JsonPatch },
): JsonPatch {
  const identity = identityGuards(pod, changes);
  if (decision.kind === "ignore") return identity;
  const read: PatchOperation[] = [];
  // A retry leaves the gate on: its labels must not reach a pod that was released by another client in between.
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
 * Tests that the pod is the one that was read. A missing parent cannot be tested, and adding it would overwrite one that
 * another client has added in between; in that case the resourceVersion is tested, so the whole pod must be unchanged.
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
