// JSON of pods and PodDisruptionBudgets → what drain help reads of them.
import { memberOf, objectAt, textAt } from "../../json.ts";
import type { KubeObject, ObjectMeta } from "../../k8s/types.ts";
import { parseSelector } from "../../k8s/label_selector.ts";
import type { DrainBudget, DrainPod } from "./types.ts";

/** On the pods that a kubelet makes for static ones. */
const MIRROR = "kubernetes.io/config.mirror";

/** Reads a pod. */
export function parseDrainPod(object: KubeObject): DrainPod {
  const { metadata } = object;
  return {
    namespace: metadata.namespace ?? "",
    name: metadata.name,
    uid: metadata.uid ?? "",
    nodeName: textAt(objectAt(object, "spec"), "nodeName"),
    labels: metadata.labels ?? {},
    isBoundToNode: isBoundToNode(metadata),
    finalizers: metadata.finalizers ?? [],
    isTerminating: metadata.deletionTimestamp !== undefined,
  };
}

/**
 * Of a DaemonSet, or the mirror of a static pod: what a drain passes over. As with a drain itself the controller counts alone:
 * whoever makes a pod can name any object among its other owners.
 */
function isBoundToNode({ ownerReferences = [], annotations = {} }: ObjectMeta): boolean {
  const controller = ownerReferences.find((owner) => owner.controller === true);
  return controller?.kind === "DaemonSet" || annotations[MIRROR] !== undefined;
}

/**
 * Reads a PodDisruptionBudget. One without a selector selects nothing; an empty one every pod of its namespace. So does one
 * whose selector is beyond what is read: a pod that may be protected counts as protected.
 */
export function parseBudget(object: KubeObject): DrainBudget {
  const raw = memberOf(objectAt(object, "spec"), "selector");
  const selector = raw === undefined || raw === null ? undefined : parseSelector(raw);
  return {
    namespace: object.metadata.namespace ?? "",
    name: object.metadata.name,
    selector: selector?.kind === "unparsable" ? { kind: "everything" } : selector,
  };
}
