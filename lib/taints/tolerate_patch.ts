// The patch that gives a stored pod the tolerations it lacks. Additions are legal on every pod, bound ones included.
import type { V1Toleration } from "@kubernetes/client-node";
import type { JsonPatch } from "../k8s/patch.ts";
import type { Wire } from "../k8s/wire.ts";
import type { PodNeed } from "./types.ts";

/** The patch for a need; the pod must be the same, and where the list is made it must be unchanged. */
export function toleratePatch({ pod, missing }: PodNeed): JsonPatch {
  const added: readonly Wire<V1Toleration>[] = missing;
  const identity: JsonPatch = pod.uid === "" ? [] : [{ op: "test", path: "/metadata/uid", value: pod.uid }];
  if (pod.tolerations === undefined) {
    return [
      ...identity,
      { op: "test", path: "/metadata/resourceVersion", value: pod.resourceVersion },
      { op: "add", path: "/spec/tolerations", value: added },
    ];
  }
  return [...identity, ...added.map((value) => ({ op: "add", path: "/spec/tolerations/-", value } as const))];
}
