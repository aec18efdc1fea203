// One reconcile of an UpgradeConfig:
//
//        (no entry) ──► New ──► Pending ──► Upgrading ──► Upgraded
//             │          ▲         │  │         │
//             │          └─────────┘  └─────────┴──► Failed    (did not begin in time, or lost its target)
//             └─ already requested ────────────►
//
// Pending goes back to New when the policy source has another plan, Upgrading to Pending when the plan is postponed.
// Once the update was requested there is no way back; before, deleting the plan or `suspend` stops everything.
import { isDeepStrictEqual } from "node:util";
import { drainModeCondition } from "./drain/advise.ts";
import { historyEntryOf, isStepDone, withHistoryEntry, withPlanCondition } from "./status_changes.ts";
import { isCommenced, isMigration, isReleaseOf, lostRequest, precedingVersionOf } from "./release/target.ts";
import { asFailed, cleanUp, removals } from "./phases/give_up.ts";
import { reconcileNew, reconcilePending } from "./phases/pending.ts";
import { apply, failed, finished, type PlanState, REQUEUE_MS, save, withStatus } from "./phases/plan_state.ts";
import { reconcileUpgraded, reconcileUpgrading } from "./phases/upgrading.ts";
import { COMMENCE_STEP, hasCommenced } from "./steps/results.ts";
import { requestReadings } from "./steps/run.ts";
import { assertNever } from "../../parsed.ts";
import type { ClusterVersion } from "./types/cluster.ts";
import type { Observation, UpgradeFacts } from "./types/observed.ts";
import type { ConfigReading } from "./types/operator_config.ts";
import type { DesiredRelease, HistoryEntry, UpgradeConfig, UpgradeStatus } from "./types/plan.ts";
import type { Coroutine, Reconcile, ReconcileEnd } from "./types/steps.ts";
import { memberOf } from "../../json.ts";
import { renderTime } from "../../vocabulary/time.ts";

export interface ReconcileInput {
  readonly plan: Observation<UpgradeConfig> | { readonly kind: "absent" };
  readonly clusterVersion: Observation<ClusterVersion>;
  readonly config: ConfigReading;
  /** The API server forbade every removal of a pod that was tried last (403). */
  readonly isDrainForbidden: boolean;
  readonly nowMs: number;
}

export function* reconcile(input: ReconcileInput): Reconcile {
  const { plan, clusterVersion, config, isDrainForbidden: isForbidden, nowMs } = input;
  if (plan.kind === "absent") return yield* reconcileAbsent();
  if (plan.kind === "unknown") return failed(`Cannot read the UpgradeConfig: ${plan.why}`);
  if (clusterVersion.kind === "unknown") return failed(`Cannot read the ClusterVersion: ${clusterVersion.why}`);
  if (config.kind === "unknown") return failed(`Cannot read the configuration: ${config.why}`);
  const status = withConfigValid(plan.value, { config, nowMs });
  if (config.kind === "unparsable") {
    yield { kind: "save", status };
    return failed(`The configuration is invalid: ${config.problems.join("; ")}`);
  }
  const facts = { plan: plan.value, clusterVersion: clusterVersion.value, config: config.config };
  const drain = drainModeCondition(facts.plan.spec, { config: facts.config, isForbidden });
  const { generation } = facts.plan;
  return yield* reconcilePlan({ facts, status: withPlanCondition(status, drain, { generation, nowMs }), nowMs });
}

function* reconcilePlan({ facts, status, nowMs }: Omit<PlanState, "entry">): Coroutine<ReconcileEnd> {
  const { desired } = facts.plan.spec;
  if (desired.version === "") return yield* reconcileWithoutVersion({ facts, status, nowMs });
  const known = historyEntryOf(status, desired);
  const entry = known ?? newEntry(facts, nowMs);
  const state: PlanState = { facts, entry, status: withHistoryEntry(status, entry), nowMs };
  const isBegun = hasCommenced({ ...facts, entry });
  const isOpen = ["New", "Pending", "Upgrading"].includes(entry.phase);
  if (facts.plan.spec.suspend && !isBegun && isOpen) return yield* reconcileSuspended(state);
  const resumed = withStatus(state, {
    ...state.status,
    conditions: state.status.conditions.filter(({ type }) => type !== "Suspended"),
  });
  const retired = yield* retireOthers(resumed);
  if (retired.kind !== "retired") return retired;
  if (known === undefined) yield* save(retired.state);
  return yield* reconcilePhase(retired.state);
}

function* reconcilePhase(state: PlanState): Coroutine<ReconcileEnd> {
  const { phase } = state.entry;
  switch (phase) {
    case "New":
      return yield* reconcileNew(state);
    case "Pending":
      return yield* reconcilePending(state);
    case "Upgrading":
      return yield* reconcileUpgrading(state);
    case "Upgraded":
      yield* save(state);
      return yield* reconcileUpgraded(state);
    case "Failed":
    case "Unknown":
      return finished();
    default:
      return assertNever(phase);
  }
}

function newEntry({ plan, clusterVersion }: UpgradeFacts, nowMs: number): HistoryEntry {
  const { desired } = plan.spec;
  const hasBegun = isCommenced(desired, clusterVersion);
  // If something else began the migration, the ClusterVersion may already have the new architecture.
  const isMoving = isMigration(desired, clusterVersion) ||
    (hasBegun && desired.architecture === "Multi" && clusterVersion.history[0]?.state === "Partial");
  return {
    version: desired.version,
    architecture: desired.architecture,
    precedingVersion: precedingVersionOf(desired, clusterVersion),
    phase: hasBegun ? "Upgrading" : "New",
    startTime: hasBegun ? renderTime(nowMs) : undefined,
    profile: isMoving ? "multiarch-migration" : "type",
    conditions: [],
    notifications: [],
  };
}

/** A plan that names only an image gets the version of the image; a plan that names nothing is invalid. */
function* reconcileWithoutVersion({ facts, status, nowMs }: Omit<PlanState, "entry">): Coroutine<ReconcileEnd> {
  const state: PlanState = { facts, status, entry: newEntry(facts, nowMs), nowMs };
  return yield* facts.plan.spec.suspend ? reconcileSuspended(state) : reconcilePending(state);
}

/** A suspended plan does nothing and takes nothing back, so that it can go on where it stopped. */
function* reconcileSuspended(state: PlanState): Coroutine<ReconcileEnd> {
  const { plan } = state.facts;
  yield* save(withStatus(
    state,
    withPlanCondition(state.status, {
      type: "Suspended",
      status: "True",
      reason: "Suspended",
      message: "Nothing is done while spec.suspend is true.",
    }, { generation: plan.generation, nowMs: state.nowMs }),
  ));
  return finished();
}

/**
 * Ends upgrades to targets that the plan no longer names: removes what was prepared for them, and marks them Failed.
 */
function* retireOthers(state: PlanState): Coroutine<{ kind: "retired"; state: PlanState } | ReconcileEnd> {
  const others = state.status.history.filter((entry) => entry !== state.entry && entry.phase === "Upgrading");
  if (others.length === 0) return { kind: "retired", state };
  const open = yield* cleanUp(others);
  if (open !== undefined) return open;
  const message = `The plan names another target, ${state.entry.version}, since.`;
  const status = others.reduce(
    (result, other) => withHistoryEntry(result, asFailed(other, { message, nowMs: state.nowMs })),
    state.status,
  );
  const retired = withStatus(state, status);
  yield* save(retired);
  return { kind: "retired", state: retired };
}

/** Without a plan, removes what an upgrade may have left behind, as far as that can be read. */
function* reconcileAbsent(): Coroutine<ReconcileEnd> {
  const failure = yield* apply([{ kind: "clearMetrics", group: "ephemeral" }]);
  if (failure !== undefined) return failed(failure);
  const found = yield* requestReadings(["silences", "capacityLeft", "smoke"]);
  const left = removals(found);
  const unremoved = yield* apply(left);
  return unremoved === undefined ? finished(left.length > 0 ? REQUEUE_MS : undefined) : failed(unremoved, REQUEUE_MS);
}

function withConfigValid(
  plan: UpgradeConfig,
  { config, nowMs }: { readonly config: Exclude<ConfigReading, { kind: "unknown" }>; readonly nowMs: number },
): UpgradeStatus {
  const change = config.kind === "parsed"
    ? { status: "True", reason: "Valid", message: config.warnings.join("; ") || "The configuration is valid." } as const
    : { status: "False", reason: "Invalid", message: config.problems.join("; ") } as const;
  return withPlanCondition(plan.status, { type: "ConfigValid", ...change }, { generation: plan.generation, nowMs });
}

/** Whether an update of the plan needs a reconcile. An update of the status does not: a reconcile wrote it. */
export function wantsReconcile({ before, after }: { readonly before: unknown; readonly after: unknown }): boolean {
  if (before === undefined || after === undefined) return false;
  return isDeepStrictEqual(memberOf(before, "status"), memberOf(after, "status"));
}

/** The plan. Its target is an earlier one as long as the cluster still moves to that at the plan's request. */
export function withTargetUnderWay(plan: UpgradeConfig, clusterVersion: ClusterVersion): UpgradeConfig {
  const { spec, status } = plan;
  const begun = status.history.find((entry) => entry.phase === "Upgrading" && isStepDone(entry, COMMENCE_STEP));
  if (begun === undefined || historyEntryOf(status, spec.desired) === begun) return plan;
  const desired: DesiredRelease = { version: begun.version, architecture: begun.architecture, channel: "", image: "" };
  const isUnderWay = isReleaseOf(desired, clusterVersion.desired) && lostRequest(desired, clusterVersion) === undefined;
  return isUnderWay ? { ...plan, spec: { ...spec, desired } } : plan;
}
