// The status of an UpgradeConfig, read and written. Entries keep members that are not read here, and their order: the newest
// is first.
import { entryOf, isObject, type JsonObject, listAt, memberOf, objectAt, textAt, textMapAt } from "../../../json.ts";
import { parseTime, renderTime } from "../../../cluster/time.ts";
import type {
  Baseline,
  History,
  NotificationState,
  Phase,
  PlanCondition,
  SentNotification,
  StepCondition,
  UpgradeStatus,
} from "../types/plan.ts";

const PHASES: readonly Phase[] = ["New", "Pending", "Upgrading", "Upgraded", "Failed"];
const MIGRATION = "multiarch-migration";

/** Members of a history entry that are read and written here. */
const OWN_MEMBERS = [
  "version",
  "architecture",
  "precedingVersion",
  "phase",
  "conditions",
  "startTime",
  "completeTime",
  "workerStartTime",
  "workerCompleteTime",
  "profile",
  "notifications",
  "baseline",
];

const PLAN_CONDITIONS: Readonly<Record<PlanCondition["type"], true>> = {
  ConfigValid: true,
  DrainMode: true,
  MultiArchCapable: true,
  PoolsPaused: true,
  Suspended: true,
  Valid: true,
};

const STATES: Readonly<Record<NotificationState, true>> = {
  StateStarted: true,
  StateCompleted: true,
  StateDelayed: true,
  StateFailed: true,
  StateScaleSkipped: true,
  StateSkipped: true,
  StateHealthCheckSL: true,
  StatePreHealthCheckSL: true,
  StateControlPlaneStartedSL: true,
  StateControlPlaneFinishedSL: true,
  StateWorkerPlaneFinishedSL: true,
  StateMultiArchCapable: true,
  StateMigrationStuck: true,
};

/** Reads `status`; an absent one is empty. */
export function parseStatus(status: unknown): UpgradeStatus {
  return {
    history: (listAt(status, "history") ?? []).filter(isObject).map(parseHistory),
    conditions: (listAt(status, "conditions") ?? []).flatMap(parsePlanCondition),
  };
}

/** Renders `status` as the API takes it. */
export function renderStatus({ history, conditions }: UpgradeStatus): JsonObject {
  return {
    history: history.map(renderHistory),
    ...(conditions.length === 0 ? {} : { conditions: conditions.map(renderPlanCondition) }),
  };
}

function parseHistory(entry: JsonObject): History {
  return {
    version: textAt(entry, "version"),
    architecture: textAt(entry, "architecture") === "Multi" ? "Multi" : "",
    precedingVersion: textAt(entry, "precedingVersion"),
    phase: PHASES.find((phase) => phase === textAt(entry, "phase")) ?? "Unknown",
    conditions: (listAt(entry, "conditions") ?? []).filter(isObject).map(parseCondition),
    startMs: parseTime(textAt(entry, "startTime")),
    completeMs: parseTime(textAt(entry, "completeTime")),
    workerStartMs: parseTime(textAt(entry, "workerStartTime")),
    workerCompleteMs: parseTime(textAt(entry, "workerCompleteTime")),
    profile: textAt(entry, "profile") === MIGRATION ? MIGRATION : "type",
    notifications: (listAt(entry, "notifications") ?? []).flatMap(parseNotification),
    baseline: parseBaseline(objectAt(entry, "baseline")),
    other: Object.fromEntries(Object.entries(entry).filter(([name]) => !OWN_MEMBERS.includes(name))),
  };
}

function renderHistory(entry: History): JsonObject {
  return withoutAbsent({
    ...entry.other,
    version: entry.version,
    architecture: entry.architecture === "" ? undefined : entry.architecture,
    precedingVersion: entry.precedingVersion === "" ? undefined : entry.precedingVersion,
    phase: entry.phase,
    conditions: entry.conditions.length === 0 ? undefined : entry.conditions.map(renderCondition),
    startTime: renderOptional(entry.startMs),
    completeTime: renderOptional(entry.completeMs),
    workerStartTime: renderOptional(entry.workerStartMs),
    workerCompleteTime: renderOptional(entry.workerCompleteMs),
    profile: entry.profile === MIGRATION ? MIGRATION : undefined,
    notifications: entry.notifications.length === 0
      ? undefined
      : entry.notifications.map(({ state, sentMs }) => ({ state, sentTime: renderTime(sentMs) })),
    baseline: entry.baseline,
  });
}

function parseCondition(condition: JsonObject): StepCondition {
  const status = textAt(condition, "status");
  return {
    type: textAt(condition, "type"),
    status: status === "True" || status === "False" ? status : "Unknown",
    reason: textAt(condition, "reason"),
    message: textAt(condition, "message"),
    lastProbeMs: parseTime(textAt(condition, "lastProbeTime")),
    lastTransitionMs: parseTime(textAt(condition, "lastTransitionTime")),
    startMs: parseTime(textAt(condition, "startTime")),
    completeMs: parseTime(textAt(condition, "completeTime")),
  };
}

function renderCondition(condition: StepCondition): JsonObject {
  return withoutAbsent({
    type: condition.type,
    status: condition.status,
    reason: condition.reason,
    message: condition.message,
    lastProbeTime: renderOptional(condition.lastProbeMs),
    lastTransitionTime: renderOptional(condition.lastTransitionMs),
    startTime: renderOptional(condition.startMs),
    completeTime: renderOptional(condition.completeMs),
  });
}

function parsePlanCondition(condition: unknown): readonly PlanCondition[] {
  const type = keyIn(PLAN_CONDITIONS, textAt(condition, "type"));
  if (type === undefined) return [];
  const generation = memberOf(condition, "observedGeneration");
  return [{
    type,
    status: textAt(condition, "status") === "True" ? "True" : "False",
    reason: textAt(condition, "reason"),
    message: textAt(condition, "message"),
    lastTransitionMs: parseTime(textAt(condition, "lastTransitionTime")) ?? 0,
    observedGeneration: typeof generation === "number" ? generation : 0,
  }];
}

function renderPlanCondition({ lastTransitionMs, ...condition }: PlanCondition): JsonObject {
  return { ...condition, lastTransitionTime: renderTime(lastTransitionMs) };
}

function parseNotification(notification: unknown): readonly SentNotification[] {
  const state = keyIn(STATES, textAt(notification, "state"));
  return state === undefined ? [] : [{ state, sentMs: parseTime(textAt(notification, "sentTime")) ?? 0 }];
}

function parseBaseline(baseline: JsonObject | undefined): Baseline | undefined {
  if (baseline === undefined) return undefined;
  return {
    image: textAt(baseline, "image"),
    operatorImages: textMapAt(baseline, "operatorImages") ?? {},
    renderedConfigs: textMapAt(baseline, "renderedConfigs") ?? {},
  };
}

function keyIn<Key extends string>(keys: Readonly<Record<Key, true>>, text: string): Key | undefined {
  const isKey = (name: string): name is Key => entryOf(keys, name) === true;
  return isKey(text) ? text : undefined;
}

function renderOptional(timeMs: number | undefined): string | undefined {
  return timeMs === undefined ? undefined : renderTime(timeMs);
}

function withoutAbsent(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}
