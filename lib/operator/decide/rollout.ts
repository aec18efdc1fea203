// How far a Deployment has come: available at all, rolled out in full, and whether old replicas are left.
import * as z from "zod";
import { objectAt } from "../../json.ts";
import type { KubeObject } from "../../k8s/types.ts";

export interface Rollout {
  readonly available: boolean;
  /** Every replica is of the newest generation and ready. */
  readonly upToDate: boolean;
  /** No replica of an older template is left, but for those that are terminating. */
  readonly uniform: boolean;
}

const count = z.number().catch(0);
const deployment = z.object({
  spec: z.object({ replicas: z.number().optional().catch(undefined) }).catch({}),
  status: z.object({
    observedGeneration: count,
    replicas: count,
    updatedReplicas: count,
    readyReplicas: count,
    availableReplicas: count,
    unavailableReplicas: count,
  }),
});

/** Reads the status of a Deployment; one that is being deleted counts as none of these. */
export function parseRollout(object: KubeObject): Rollout {
  const { spec, status } = deployment.parse({ spec: object.spec, status: objectAt(object, "status") ?? {} });
  const leaving = object.metadata.deletionTimestamp !== undefined;
  const counts = [status.updatedReplicas, status.replicas, status.availableReplicas, status.readyReplicas];
  return {
    available: status.availableReplicas > 0 && !leaving,
    upToDate: !leaving && spec.replicas !== undefined && counts.every((replicas) => replicas === spec.replicas) &&
      status.unavailableReplicas === 0 && status.observedGeneration === object.metadata.generation,
    uniform: !leaving && status.observedGeneration === object.metadata.generation &&
      status.replicas > 0 && status.updatedReplicas === status.replicas,
  };
}
