// JSON of pods and PodDisruptionBudgets → what drain help reads of them.
import { memberOf, objectAt, textAt } from "../../json.ts";
import type { KubeObject } from "../../k8s/types.ts";
import { parseSelector } from "../../k8s/label_selector.ts";
import type { DrainBudget, DrainPod } from "./types.ts";

/** Reads a pod. */
export function parseDrainPod(object: KubeObject): DrainPod {
  const { metadata } = object;
  const owners = metadata.ownerReferences ?? [];
  return {
    namespace: metadata.namespace ?? "",
    name: metadata.name,
    uid: metadata.uid ?? "",
    nodeName: textAt(objectAt(object, "spec"), "nodeName"),
    labels: metadata.labels ?? {},
    isBoundToNode: owners.some(({ kind }) => kind === "DaemonSet" || kind === "Node"),
    finalizers: metadata.finalizers ?? [],
    isTerminating: metadata.deletionTimestamp !== undefined,
  };
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
