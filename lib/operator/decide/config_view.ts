// What the operator reads of a ClusterPodPlacementConfig: tolerant, because even a config that placement cannot use must
// be able to leave.
import * as z from "zod";
import { type Condition, parseConditions } from "../../cluster/condition.ts";
import { parseTime } from "../../cluster/time.ts";
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

const members = z.object({
  spec: z.object({
    namespaceSelector: z.record(z.string(), z.unknown()).optional().catch(undefined),
    plugins: z.object({
      execFormatErrorMonitor: z.object({ enabled: z.boolean().catch(false) }).optional().catch(undefined),
    }).optional().catch(undefined),
  }).optional().catch(undefined),
});

/** Reads an object of kind ClusterPodPlacementConfig. Unreadable members count as absent; never throws. */
export function parseOperandConfig(object: KubeObject): OperandConfig {
  const { metadata } = object;
  const { spec } = members.parse({ spec: object.spec });
  return {
    uid: metadata.uid ?? "",
    resourceVersion: metadata.resourceVersion ?? "",
    generation: metadata.generation ?? 0,
    deletingSinceMs: parseTime(metadata.deletionTimestamp),
    finalizers: metadata.finalizers ?? [],
    namespaceSelector: spec?.namespaceSelector,
    enoexecEnabled: spec?.plugins?.execFormatErrorMonitor?.enabled ?? false,
    conditions: parseConditions(object.status),
  };
}
