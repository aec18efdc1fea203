// Metadata and conditions of any object, as image builds read them.
import * as z from "zod";
import { listAt } from "../../json.ts";
import type { KubeObject } from "../../k8s/types.ts";
import type { Condition, ObservedMeta } from "../observed.ts";

/** Members that are not known here stay: a list of conditions is only ever replaced as a whole. */
const condition = z.looseObject({
  type: z.string().min(1).max(316),
  status: z.enum(["True", "False", "Unknown"]),
  reason: z.string().catch(""),
  message: z.string().catch(""),
  lastTransitionTime: z.string().catch(""),
});

/** More than any of these kinds may have. */
const MAX_CONDITIONS = 64;

/** Reads metadata; what is absent reads as empty. */
export function parseMeta({ metadata }: KubeObject): ObservedMeta {
  return {
    name: metadata.name,
    uid: metadata.uid ?? "",
    resourceVersion: metadata.resourceVersion ?? "",
    generation: metadata.generation ?? 0,
    createdMs: timeOf(metadata.creationTimestamp) ?? 0,
    labels: metadata.labels ?? {},
    annotations: metadata.annotations ?? {},
    finalizers: metadata.finalizers ?? [],
    owners: (metadata.ownerReferences ?? []).map(({ kind, name, uid }) => ({ kind, name, uid })),
    isDeleting: metadata.deletionTimestamp !== undefined,
  };
}

/** Reads `conditions` of a status; those that cannot be read are left out. */
export function parseConditions(status: unknown): readonly Condition[] {
  return (listAt(status, "conditions") ?? []).slice(0, MAX_CONDITIONS).flatMap((raw) => {
    const parsed = condition.safeParse(raw);
    return parsed.success ? [parsed.data] : [];
  });
}

/** A time as the API writes it, in epoch milliseconds; undefined for anything else. */
export function timeOf(text: unknown): number | undefined {
  const time = typeof text === "string" ? Date.parse(text) : NaN;
  return Number.isNaN(time) ? undefined : time;
}

/** Whether a condition of that type is true. */
export function isTrue(conditions: readonly Condition[], type: string): boolean {
  return conditions.some((one) => one.type === type && one.status === "True");
}
