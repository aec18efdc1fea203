// The status of a pod: as the API server makes it, and with what scheduler and kubelet say.
import { isDeepStrictEqual } from "node:util";
import { isObject, type JsonObject } from "../lib/json.ts";
import type { KubeObject } from "../lib/k8s/types.ts";
import { listAt, objectAt, timestamp } from "./json_value.ts";

interface PodCondition extends JsonObject {
  readonly type: string;
  readonly status: "True" | "False";
}

/** Of a pod that was just created: Pending, and held when it has scheduling gates. */
export function newPodStatus(pod: KubeObject, nowMs: number): JsonObject {
  const status = { phase: "Pending", qosClass: "BestEffort" };
  if (listAt(pod, "spec", "schedulingGates").length === 0) return status;
  const message = "Scheduling is blocked due to non-empty scheduling gates";
  return withCondition(status, { type: "PodScheduled", status: "False", reason: "SchedulingGated", message }, nowMs);
}

/** The status with one condition set; unchanged, transition time included, when it says so already. */
export function withCondition(status: unknown, condition: PodCondition, nowMs: number): JsonObject {
  const conditions = listAt(status, "conditions").filter(isObject);
  const others = conditions.filter(({ type }) => type !== condition.type);
  const [said] = conditions.filter(({ type }) => type === condition.type);
  const times = { lastProbeTime: null, lastTransitionTime: said?.["lastTransitionTime"] };
  if (isDeepStrictEqual(said, { ...condition, ...times })) return objectAt(status);
  return {
    ...objectAt(status),
    conditions: [...others, { ...condition, ...times, lastTransitionTime: timestamp(nowMs) }],
  };
}
