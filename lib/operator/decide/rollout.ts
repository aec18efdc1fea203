// How far a Deployment has come: available at all, rolled out in full, and whether old replicas are left.
import * as z from "zod";
import { memberOf, numberAt } from "../../json.ts";
import type { KubeObject } from "../../k8s/types.ts";
import { kubeObject } from "../../vocabulary/schema.ts";

const RolloutSchema = kubeObject.transform(({ metadata, spec, status }) => {
  const wanted = memberOf(spec, "replicas");
  const isPresent = metadata.deletionTimestamp === undefined;
  const isObserved = isPresent && numberAt(status, "observedGeneration") === metadata.generation;
  const counts = ["updatedReplicas", "replicas", "availableReplicas", "readyReplicas"];
  return {
    available: isPresent && numberAt(status, "availableReplicas") > 0,
    /** Every replica is of the newest generation and ready. */
    upToDate: isObserved && typeof wanted === "number" && counts.every((name) => numberAt(status, name) === wanted) &&
      numberAt(status, "unavailableReplicas") === 0,
    /** No replica of an older template is left, but for those that are terminating. */
    uniform: isObserved && numberAt(status, "replicas") > 0 &&
      numberAt(status, "updatedReplicas") === numberAt(status, "replicas"),
  };
});

export type Rollout = Readonly<z.output<typeof RolloutSchema>>;

/** Reads the status of a Deployment. While the Deployment is being deleted, every member is false. */
export function parseRollout(object: KubeObject): Rollout {
  return RolloutSchema.parse(object);
}
