// Phases New and Pending: validates the plan until it is due. Before the upgrade begins, the policy source is read once
// more.
import { withPlanCondition } from "../status_changes.ts";
import { type PlanValidation, validatePlan, validationReads } from "../release/validate.ts";
import {
  apply,
  decideSchedule,
  failed,
  finished,
  type PlanState,
  REQUEUE_MS,
  save,
  withEntry,
  withStatus,
} from "./plan_state.ts";
import { upgraderFor } from "../steps/upgraders.ts";
import { MINUTE_MS, renderTime } from "../../../vocabulary/time.ts";
import { assertNever } from "../../../parsed.ts";
import type { Effect } from "../types/effects.ts";
import type { Coroutine, ReconcileEnd } from "../types/steps.ts";
import { giveUp } from "./give_up.ts";
import { requestEffects, requestReadings } from "../steps/run.ts";
import { reconcileUpgrading } from "./upgrading.ts";
import { decideHealthBefore } from "../health_decision.ts";
import { withNotified } from "../notifications/notify.ts";

/** A plan that is due within this time is reconciled exactly when it is due, any other at the regular interval. */
const SOON_MS = 5 * MINUTE_MS;

export function* reconcilePending(state: PlanState): Coroutine<ReconcileEnd> {
  const validation = validatePlan({ ...state.facts, read: yield* requestReadings(validationReads(state.facts)) });
  if (validation.kind === "adoptVersion") return yield* adopt(validation.version);
  const failure = yield* apply([validationMetric(validation)]);
  if (failure !== undefined) return failed(failure);
  const judged = withValidation(state, validation);
  switch (validation.kind) {
    case "invalid":
      yield* save(judged);
      return validation.retry === "backoff" ? failed(validation.message) : finished(SOON_MS);
    case "nothingToDo":
      yield* save(judged);
      return finished();
    case "valid":
      return yield* reconcileValid(judged);
    default:
      return assertNever(validation);
  }
}

/** Writes the version of its image into the plan, which triggers the next reconcile. */
function* adopt(version: string): Coroutine<ReconcileEnd> {
  const failure = yield* apply([{ kind: "setDesiredVersion", version }]);
  return failure === undefined ? finished() : failed(failure);
}

function withValidation(state: PlanState, validation: Exclude<PlanValidation, { kind: "adoptVersion" }>): PlanState {
  const options = { generation: state.facts.plan.generation, nowMs: state.nowMs };
  const change = validation.kind === "valid"
    ? { status: "True", reason: "Valid", message: "The plan can be carried out." } as const
    : validation.kind === "nothingToDo"
    ? { status: "True", reason: "NothingToDo", message: validation.message } as const
    : { status: "False", reason: "Invalid", message: validation.message } as const;
  return withStatus(state, withPlanCondition(state.status, { type: "Valid", ...change }, options));
}

function validationMetric({ kind }: PlanValidation): Effect {
  const metric = "upgradeoperator_upgradeconfig_validation_failed";
  return { kind: "setMetric", metric, labels: {}, value: kind === "invalid" ? 1 : 0 };
}

function* reconcileValid(state: PlanState): Coroutine<ReconcileEnd> {
  const { plan, config } = state.facts;
  const windowMs = config.upgradeWindow.timeoutMinutes * MINUTE_MS;
  const schedule = decideSchedule(plan.spec.upgradeAt, { nowMs: state.nowMs, windowMs });
  if (!schedule.isReady) {
    yield* save(state);
    return finished(schedule.untilMs > 0 && schedule.untilMs < SOON_MS ? schedule.untilMs : undefined);
  }
  const { hasWindow } = upgraderFor(state.entry.profile, plan.spec.type);
  if (hasWindow && schedule.isBreached) return yield* giveUp(state);
  return yield* begin(state);
}

function* begin(state: PlanState): Coroutine<ReconcileEnd> {
  const { policy } = yield* requestReadings(["policy"]);
  if (policy?.kind !== "observed") return failed(`Cannot ask the policy source: ${policy?.why ?? "no answer"}`);
  if (policy.value.kind === "changed") {
    yield* save(withEntry(state, { phase: "New" }));
    return finished();
  }
  const begun = withEntry(state, { phase: "Upgrading", startTime: renderTime(state.nowMs) });
  yield* save(begun);
  return yield* reconcileUpgrading(begun);
}

/** Upgrades that are farther away than this are checked beforehand. */
const EARLY_MS = 120 * MINUTE_MS;

export function* reconcileNew(state: PlanState): Coroutine<ReconcileEnd> {
  const { plan, config } = state.facts;
  const { untilMs } = decideSchedule(plan.spec.upgradeAt, { nowMs: state.nowMs, windowMs: 0 });
  const isChecked = untilMs > EARLY_MS && config.featureGates.has("PreHealthCheck");
  const checked = isChecked ? yield* checkEarly(state) : state;
  yield* save(withEntry(checked, { phase: "Pending" }));
  return finished(REQUEUE_MS);
}

function* checkEarly(state: PlanState): Coroutine<PlanState> {
  const { health } = yield* requestReadings(["health"]);
  if (health?.kind !== "observed") return state;
  const context = { ...state.facts, entry: state.entry, results: health.value };
  const { done } = yield* requestEffects(decideHealthBefore(context).effects);
  return withEntry(state, withNotified(state.entry, done, state.nowMs));
}
