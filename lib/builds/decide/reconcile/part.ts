// Parts of a decision, how they are joined, and constructors of effects and events.
import type { JsonObject } from "../../../json.ts";
import type { BuildEvent, Effect, ObjectTarget, PartialDecision } from "../effects.ts";
import type { BuildFacts } from "../facts.ts";
import type { MachineOSBuild } from "../observed.ts";
import type { BuildPlan } from "../types.ts";

/** What a decision is about; `build`: the plan's, where there is one. */
export interface Scope<Build = MachineOSBuild> {
  readonly facts: BuildFacts;
  readonly plan: BuildPlan;
  readonly build: Build;
}

export function part(given: Partial<PartialDecision> = {}): PartialDecision {
  return { questions: [], effects: [], events: [], ...given };
}

export function joinParts(parts: readonly PartialDecision[]): PartialDecision {
  const times = parts.flatMap(({ wakeAtMs }) => wakeAtMs === undefined ? [] : [wakeAtMs]);
  return {
    questions: parts.flatMap(({ questions }) => questions),
    effects: parts.flatMap(({ effects }) => effects),
    events: parts.flatMap(({ events }) => events),
    wakeAtMs: times.length === 0 ? undefined : Math.min(...times),
  };
}

/** Wait (ms) before reading again what is not watched, or a registry that gave no answer and no time. */
export const ASK_AGAIN_MS = 30_000;

/** Deletes this object, but not a later one of the same name. */
export function deletion(
  resource: ObjectTarget["resource"],
  { name, uid }: { readonly name: string; readonly uid: string },
  propagation: "Foreground" | "Background",
): Effect {
  return { kind: "delete", target: { resource, name, uid }, propagation };
}

/** Null removes an annotation. */
export function annotate(
  resource: ObjectTarget["resource"],
  { name, uid }: Omit<ObjectTarget, "resource">,
  annotations: Readonly<Record<string, string | null>>,
): Effect {
  return { kind: "patch", target: { resource, name, uid }, patch: { metadata: { annotations } } };
}

export function patchStatus(
  resource: ObjectTarget["resource"],
  target: Omit<ObjectTarget, "resource">,
  patch: JsonObject,
): Effect {
  return { kind: "patch status", target: { resource, ...target }, patch };
}

type Subject = readonly [on: BuildEvent["on"], name: string];

export function normal([on, name]: Subject, reason: string, message: string): BuildEvent {
  return { on, name, type: "Normal", reason, message };
}

export function warning([on, name]: Subject, reason: string, message: string): BuildEvent {
  return { on, name, type: "Warning", reason, message };
}
