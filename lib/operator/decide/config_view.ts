// What the operator reads of a ClusterPodPlacementConfig. It is tolerant, because a faulty one must be deletable, too.
import { type Condition, parseConditions } from "../../vocabulary/condition.ts";
import { parseTime } from "../../vocabulary/time.ts";
import { memberOf, objectAt } from "../../json.ts";
import type { KubeObject } from "../../k8s/types.ts";

export interface OperandConfig {
  /** Distinguishes a config from a later one of the same name. */
  readonly uid: string;
  /** Version that was read: guards writes. */
  readonly resourceVersion: string;
  readonly generation: number;
  /** When deletion was requested (epoch ms); undefined while it was not. */
  readonly deletingSinceMs: number | undefined;
  readonly finalizers: readonly string[];
  /** As written; undefined when absent or not an object. */
  readonly namespaceSelector: Readonly<Record<string, unknown>> | undefined;
  readonly enoexecEnabled: boolean;
  readonly conditions: readonly Condition[];
}

/** Reads an object of kind ClusterPodPlacementConfig. Unreadable members count as absent; never throws. */
export function parseOperandConfig(object: KubeObject): OperandConfig {
  const { metadata } = object;
  const spec = objectAt(object, "spec");
  return {
    uid: metadata.uid ?? "",
    resourceVersion: metadata.resourceVersion ?? "",
    generation: metadata.generation ?? 0,
    deletingSinceMs: parseTime(metadata.deletionTimestamp),
    finalizers: metadata.finalizers ?? [],
    namespaceSelector: objectAt(spec, "namespaceSelector"),
    enoexecEnabled: memberOf(objectAt(objectAt(spec, "plugins"), "execFormatErrorMonitor"), "enabled") === true,
    conditions: parseConditions(object.status),
  };
}
