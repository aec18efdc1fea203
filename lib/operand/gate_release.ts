// Lifting Archway's gate from a pod without deciding anything about it, as data: for leaving a cluster. Placement has
// patches of its own.
import { GateLabel, SCHEDULING_GATE } from "../names.ts";
import { type JsonPatch, pointer } from "../k8s/patch.ts";
import type { KubeObject } from "../k8s/types.ts";

/** The position of our gate among the pod's; -1 when it does not hold it. */
export function gateIndexOf(pod: KubeObject): number {
  return gatesOf(pod).findIndex((gate) => Reflect.get(Object(gate), "name") === SCHEDULING_GATE);
}

/** Removes only our gate, only if it is still where it was, and says so on the label. undefined = nothing to lift. */
export function renderGateRelease(pod: KubeObject): JsonPatch | undefined {
  const index = gateIndexOf(pod);
  if (index < 0) return undefined;
  const gate = pointer("spec", "schedulingGates", index);
  return [
    { op: "test", path: `${gate}/name`, value: SCHEDULING_GATE },
    { op: "remove", path: gate },
    pod.metadata.labels === undefined
      ? { op: "add", path: "/metadata/labels", value: { [SCHEDULING_GATE]: GateLabel.removed } }
      : { op: "add", path: pointer("metadata", "labels", SCHEDULING_GATE), value: GateLabel.removed },
  ];
}

function gatesOf(pod: KubeObject): readonly unknown[] {
  const gates: unknown = Reflect.get(Object(pod.spec), "schedulingGates");
  return Array.isArray(gates) ? gates : [];
}
