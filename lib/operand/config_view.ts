// What the operator reads of a ClusterPodPlacementConfig: tolerant, because even a config that placement cannot use must
// be able to leave.
import * as z from "zod";
import type { KubeObject } from "../k8s/types.ts";

/** A condition of a custom resource's status, as metav1.Condition has it. */
export interface Condition {
  /** What is said. */
  readonly type: string;
  /** Whether it is so. */
  readonly status: "True" | "False" | "Unknown";
  /** One word for machines. */
  readonly reason: string;
  /** A sentence for users. */
  readonly message: string;
  /** RFC 3339, whole seconds. */
  readonly lastTransitionTime: string;
  /** Generation of the config it is said of. */
  readonly observedGeneration?: number;
}

/** The ClusterPodPlacementConfig as the operator sees it. */
export interface OperandConfig {
  /** Distinguishes a config from a later one of the same name. */
  readonly uid: string;
  /** Version that was read: guards writes. */
  readonly resourceVersion: string;
  /** Counts changes of the spec. */
  readonly generation: number;
  /** When deletion was requested (epoch ms); undefined while it was not. */
  readonly deletingSinceMs: number | undefined;
  /** All of them, in their order. */
  readonly finalizers: readonly string[];
  /** As written; undefined when absent or not an object. */
  readonly namespaceSelector: Readonly<Record<string, unknown>> | undefined;
  /** Whether the execFormatErrorMonitor plugin is on. */
  readonly enoexecEnabled: boolean;
  /** Those that can be read. */
  readonly conditions: readonly Condition[];
}

const condition = z.object({
  type: z.string(),
  status: z.enum(["True", "False", "Unknown"]),
  reason: z.string().catch(""),
  message: z.string().catch(""),
  lastTransitionTime: z.string().catch(""),
  observedGeneration: z.number().optional().catch(undefined),
});
const members = z.object({
  spec: z.object({
    namespaceSelector: z.record(z.string(), z.unknown()).optional().catch(undefined),
    plugins: z.object({
      execFormatErrorMonitor: z.object({ enabled: z.boolean().catch(false) }).optional().catch(undefined),
    }).optional().catch(undefined),
  }).optional().catch(undefined),
  status: z.object({ conditions: z.array(z.unknown()).optional().catch(undefined) }).optional().catch(undefined),
});

/** Reads an object of kind ClusterPodPlacementConfig. Unreadable members count as absent; never throws. */
export function parseOperandConfig(object: KubeObject): OperandConfig {
  const { metadata } = object;
  const { spec, status } = members.parse({ spec: object.spec, status: object.status });
  const since = Date.parse(metadata.deletionTimestamp ?? "");
  return {
    uid: metadata.uid ?? "",
    resourceVersion: metadata.resourceVersion ?? "",
    generation: metadata.generation ?? 0,
    deletingSinceMs: Number.isNaN(since) ? undefined : since,
    finalizers: metadata.finalizers ?? [],
    namespaceSelector: spec?.namespaceSelector,
    enoexecEnabled: spec?.plugins?.execFormatErrorMonitor?.enabled ?? false,
    conditions: (status?.conditions ?? []).flatMap(parseCondition),
  };
}

function parseCondition(raw: unknown): readonly Condition[] {
  const parsed = condition.safeParse(raw);
  if (!parsed.success) return [];
  const { observedGeneration, ...rest } = parsed.data;
  return [observedGeneration === undefined ? rest : { ...rest, observedGeneration }];
}
