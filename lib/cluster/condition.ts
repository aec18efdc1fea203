// The conditions of a status, of any kind. A list of them is only ever replaced as a whole, so members that are not known here stay.
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

export function withTime(condition: NewCondition, previous: readonly Condition[], nowMs: number): Condition {
  const before = findCondition(previous, condition.type);
  const stays = before?.status === condition.status && before.lastTransitionTime !== "";
  return { ...condition, lastTransitionTime: stays ? before.lastTransitionTime : renderTime(nowMs) };
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
  const next = withTime(condition, previous, nowMs);
  return before === undefined ? [...previous, next] : previous.map((one) => one === before ? next : one);
}

/** Names in a sentence: it is part of a condition. */
export const MAX_NAMED = 3;

export function nameSome(names: readonly string[]): string {
  const more = names.length - MAX_NAMED;
  return `${names.slice(0, MAX_NAMED).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
