// What the operator reads of a ClusterPodPlacementConfig. Parsing is tolerant: a faulty config must be deletable, too.
import * as z from "zod";
import { parseConditions } from "../../vocabulary/condition.ts";
import { kubeObject } from "../../vocabulary/schema.ts";
import { parseTime } from "../../vocabulary/time.ts";
import { memberOf, objectAt } from "../../json.ts";
import type { KubeObject } from "../../k8s/types.ts";

const OperandConfigSchema = kubeObject.transform(({ metadata, spec, status }) => ({
  /** Distinguishes a config from a later one of the same name. */
  uid: metadata.uid ?? "",
  /** Version that was read: guards writes. */
  resourceVersion: metadata.resourceVersion ?? "",
  generation: metadata.generation ?? 0,
  /** When deletion was requested (epoch ms); undefined while it was not. */
  deletingSinceMs: parseTime(metadata.deletionTimestamp),
  finalizers: metadata.finalizers ?? [],
  /** As written; undefined when absent or not an object. */
  namespaceSelector: objectAt(spec, "namespaceSelector"),
  monitorsExecFormat: memberOf(objectAt(objectAt(spec, "plugins"), "execFormatErrorMonitor"), "enabled") === true,
  conditions: parseConditions(status),
}));

export type OperandConfig = Readonly<z.output<typeof OperandConfigSchema>>;

/** Reads an object of kind ClusterPodPlacementConfig. Unreadable members count as absent; never throws. */
export function parseOperandConfig(object: KubeObject): OperandConfig {
  return OperandConfigSchema.parse(object);
}
