// The conditions in the status of any kind. Lists of conditions are always written as a whole, so parsing keeps members
// that are not known here.
import * as z from "zod";
import { listAt } from "../json.ts";
import { renderTime } from "./time.ts";

const ConditionSchema = z.looseObject({
  type: z.string().min(1),
  status: z.enum(["True", "False", "Unknown"]),
  reason: z.string().catch(""),
  message: z.string().catch(""),
  lastTransitionTime: z.string().catch(""),
  observedGeneration: z.exactOptional(z.number()),
});

export type Condition = Readonly<z.output<typeof ConditionSchema>>;

export type NewCondition = Pick<Condition, "type" | "status" | "reason" | "message" | "observedGeneration">;

export function parseConditions(status: unknown): readonly Condition[] {
  return (listAt(status, "conditions") ?? []).flatMap((raw) => ConditionSchema.safeParse(raw).data ?? []);
}

export function findCondition<C extends Pick<Condition, "type">>(
  conditions: readonly C[],
  type: string,
): C | undefined {
  return conditions.find((condition) => condition.type === type);
}

export function isTrue(conditions: readonly Pick<Condition, "type" | "status">[], type: string): boolean {
  return findCondition(conditions, type)?.status === "True";
}

type Timed = Pick<Condition, "type" | "status"> & { readonly lastTransitionTime?: string | undefined };

/** Adds `lastTransitionTime`: the previous time if the status has not changed, else now. */
export function withTime<C extends Pick<Condition, "type" | "status">>(
  condition: C,
  previous: readonly Timed[],
  nowMs: number,
): C & Pick<Condition, "lastTransitionTime"> {
  const before = findCondition(previous, condition.type);
  const since = before?.status === condition.status ? before.lastTransitionTime : undefined;
  return { ...condition, lastTransitionTime: since || renderTime(nowMs) };
}

/** Replaces the condition of the same type; a condition of a new type is put at `position`. */
export function replaceCondition<C extends Pick<Condition, "type">>(
  conditions: readonly C[],
  condition: C,
  position: "end" | "front" = "end",
): readonly C[] {
  const before = findCondition(conditions, condition.type);
  if (before !== undefined) return conditions.map((one) => one === before ? condition : one);
  return position === "end" ? [...conditions, condition] : [condition, ...conditions];
}

export function setCondition(
  previous: readonly Condition[],
  condition: NewCondition,
  nowMs: number,
): readonly Condition[] {
  const before = findCondition(previous, condition.type);
  const { status, reason, message, observedGeneration } = condition;
  const isSame = before?.status === status && before.reason === reason && before.message === message &&
    before.observedGeneration === observedGeneration;
  if (isSame) return previous;
  return replaceCondition(previous, withTime(condition, previous, nowMs));
}

/** Most names in a sentence of a condition. */
export const MAX_NAMED = 3;

export function nameSome(names: readonly string[], max: number = MAX_NAMED): string {
  const more = names.length - max;
  return `${names.slice(0, max).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
