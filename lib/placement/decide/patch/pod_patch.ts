// Changes of a new or stored pod → the minimal operations.
import type { V1PodSchedulingGate, V1Toleration } from "@kubernetes/client-node";
import { type JsonPatch, type PatchOperation, pointer } from "../../../k8s/patch.ts";
import type { Wire } from "../../../k8s/types.ts";
import { PodAnnotation, SCHEDULING_GATE } from "../../../names.ts";
import { entryOf, utf8Length } from "../../../json.ts";
import type { PodView } from "../pod/pod_view.ts";
import { affinityOperations } from "./affinity.ts";
import type { Changes, PodChanges } from "./changes.ts";
import { isGated } from "../pod/constraints.ts";
import type { AddedToleration } from "../../../vocabulary/taint.ts";

export const LABELS = "/metadata/labels";

export const ANNOTATIONS = "/metadata/annotations";

/** Limit of a pod's annotations after a patch (bytes). The API server's is 262 144; the rest is for later webhooks. */
export const MAX_ANNOTATION_BYTES = 262_144 - 16_384;

/** Annotations to omit, in this order, until the rest fits the limit. */
const OPTIONAL_ANNOTATIONS = [PodAnnotation.decision, PodAnnotation.preferredSources, PodAnnotation.inspectError];

export function renderChanges(pod: PodView, changes: PodChanges): JsonPatch {
  const { labels, annotations, tolerations, gate } = changes;
  return [
    ...affinityOperations(pod, changes),
    ...tolerationOperations(pod, tolerations),
    ...mapOperations(LABELS, pod.labels, labels),
    ...mapOperations(ANNOTATIONS, pod.annotations, fitAnnotations(pod, annotations)),
    ...gate === "added" ? addGate(pod) : gate === "removed" ? removeGate(pod) : [],
  ];
}

/** Appends the gate; empty when the pod has it. */
function addGate(pod: PodView): JsonPatch {
  if (isGated(pod)) return [];
  const gate: Wire<V1PodSchedulingGate> = { name: SCHEDULING_GATE };
  if (pod.gates === undefined) return [{ op: "add", path: "/spec/schedulingGates", value: [gate] }];
  return [{ op: "add", path: "/spec/schedulingGates/-", value: gate }];
}

/** Removes Archway's gate. A `test` pins it by name; other gates keep their order. */
export function removeGate(pod: PodView): JsonPatch {
  const indices = (pod.gates ?? []).flatMap((gate, index) => gate === SCHEDULING_GATE ? [index] : []).reverse();
  return indices.flatMap((index): JsonPatch => [
    { op: "test", path: pointer("spec", "schedulingGates", index, "name"), value: SCHEDULING_GATE },
    { op: "remove", path: pointer("spec", "schedulingGates", index) },
  ]);
}

function tolerationOperations(pod: PodView, added: readonly AddedToleration[]): JsonPatch {
  if (added.length === 0) return [];
  const tolerations: readonly Wire<V1Toleration>[] = added;
  if (pod.tolerations === undefined) return [{ op: "add", path: "/spec/tolerations", value: tolerations }];
  return tolerations.map((value): PatchOperation => ({ op: "add", path: "/spec/tolerations/-", value }));
}

/** The operations that change the map at `path` (`/metadata/labels`) from `held` to the wanted values. */
export function mapOperations(
  path: string,
  held: Readonly<Record<string, string>> | undefined,
  changes: Changes,
): JsonPatch {
  if (held === undefined) {
    const wanted = [...changes].filter(([, value]) => value !== undefined);
    return wanted.length === 0 ? [] : [{ op: "add", path, value: Object.fromEntries(wanted) }];
  }
  const operations: PatchOperation[] = [];
  for (const [key, value] of changes) {
    const before = entryOf(held, key);
    if (before === value) continue;
    const at = path + pointer(key);
    if (value === undefined) operations.push({ op: "remove", path: at });
    else operations.push({ op: before === undefined ? "add" : "replace", path: at, value });
  }
  return operations;
}

/** The changes without optional annotations that exceed the limit. */
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
