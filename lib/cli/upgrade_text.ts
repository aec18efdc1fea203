// What `archway upgrade` shows: where a plan stands, and what it would do. Pure.
import type { MachineConfigPool } from "../vocabulary/machines.ts";
import { renderDuration } from "../vocabulary/duration.ts";
import type { UpgradeInput } from "../upgrades/cluster/plan_input.ts";
import { summarizePools } from "../upgrades/decide/pools.ts";
import { historyEntryOf, isStepDone } from "../upgrades/decide/status_changes.ts";
import { stepStateOf } from "../upgrades/decide/progress.ts";
import { isCommenced, isMigration } from "../upgrades/decide/release/target.ts";
import { type PlanValidation, validatePlan, validationReads } from "../upgrades/decide/release/validate.ts";
import { decideSchedule } from "../upgrades/decide/phases/plan_state.ts";
import { COMMENCE_STEP } from "../upgrades/decide/steps/results.ts";
import { upgraderFor } from "../upgrades/decide/steps/upgraders.ts";
import { MINUTE_MS } from "../vocabulary/time.ts";
import type { ClusterOperator } from "../upgrades/decide/types/cluster.ts";
import type { ReadingName, UpgradeFacts } from "../upgrades/decide/types/observed.ts";
import type { StepCondition, UpgradeConfig, UpgradeSpec } from "../upgrades/decide/types/plan.ts";
import { renderTable } from "./output.ts";

interface DescribedStatus {
  readonly version: string;
  readonly architecture: string;
  readonly phase: string;
  readonly startTime: string;
  readonly completeTime: string;
  readonly steps: readonly {
    readonly step: string;
    readonly state: "done" | "skipped" | "waiting";
    readonly since: string;
    readonly message: string;
  }[];
  readonly conditions: readonly { readonly type: string; readonly status: string; readonly message: string }[];
}

interface DescribedPlan {
  readonly version: string;
  readonly architecture: string;
  readonly profile: string;
  readonly begins: string;
  readonly steps: readonly string[];
  readonly inTheWay: readonly string[];
  /** Sources outside of the cluster that would say more, and were not read. */
  readonly notAsked: readonly string[];
}

export function describeStatus({ spec, status: { conditions, history: [entry] } }: UpgradeConfig): DescribedStatus {
  const { desired: { version, architecture } } = spec;
  return {
    version: entry?.version ?? version,
    architecture: entry?.architecture ?? architecture,
    phase: entry?.phase ?? "New",
    startTime: entry?.startTime ?? "",
    completeTime: entry?.completeTime ?? "",
    steps: (entry?.conditions ?? []).toReversed().map((condition) => stepOf(condition, spec)),
    conditions: conditions.map(({ type, status, message }) => ({ type, status, message })),
  };
}

function stepOf(condition: StepCondition, spec: UpgradeSpec): DescribedStatus["steps"][number] {
  const { type, startTime, completeTime } = condition;
  const { state, message } = stepStateOf(condition, spec);
  return { step: type, state, since: (state === "waiting" ? startTime : completeTime) ?? "", message };
}

/** What `spec.suspend` does to the plan now: it holds back what has not begun. */
export function effectOfSuspend({ spec, status }: UpgradeConfig): string {
  const entry = historyEntryOf(status, spec.desired);
  if (entry?.phase === "Upgraded" || entry?.phase === "Failed") return `no effect, its upgrade is ${entry.phase}`;
  const hasBegun = entry !== undefined && isStepDone(entry, COMMENCE_STEP);
  return hasBegun ? "no effect, the ClusterVersion was asked already and the upgrade goes on" : "nothing begins";
}

export function describePlan(
  input: UpgradeInput,
  { operators, pools }: {
    readonly operators: readonly ClusterOperator[];
    readonly pools: readonly MachineConfigPool[];
  },
): DescribedPlan {
  const { facts, nowMs, known } = input;
  const desired = known?.spec.desired ?? { version: "", architecture: "", channel: "", image: "" };
  const isMoving = facts !== undefined && isMigration(desired, facts.clusterVersion);
  const entry = known === undefined ? undefined : historyEntryOf(known.status, desired);
  const profile = entry?.profile ?? (isMoving ? "multiarch-migration" : "type");
  const { name, steps, hasWindow } = upgraderFor(profile, known?.spec.type ?? "OSD");
  const degraded = operators.filter(({ isAvailable, isDegraded }) => isDegraded || !isAvailable).map((one) => one.name);
  const summary = summarizePools(pools);
  const begin = facts === undefined ? UNKNOWN : beginOf(facts, { nowMs, hasWindow });
  return {
    version: desired.version,
    architecture: desired.architecture,
    profile: name,
    begins: begin.kind === "never" ? `never: ${begin.why}` : begin.text,
    steps: [...new Set(steps.map(({ id }) => id))],
    inTheWay: [
      ...unreadOf(input),
      ...begin.kind === "never" ? [begin.why] : [],
      ...facts === undefined ? [] : problemsOf(facts),
      ...degraded.length === 0 ? [] : [`degraded or unavailable: ${degraded.join(", ")}`],
      ...summary.degraded.length === 0 ? [] : [`degraded pools: ${summary.degraded.join(", ")}`],
      ...isMoving && summary.paused.length > 0 ? [`paused pools: ${summary.paused.join(", ")}`] : [],
    ],
    notAsked: facts === undefined || hasBegun(facts) ? [] : validationReads(facts).map((name) => UNREAD[name] ?? name),
  };
}

function unreadOf({ config, clusterVersion }: UpgradeInput): readonly string[] {
  return [
    ...config.kind === "unparsable" ? config.problems : [],
    ...config.kind === "unknown" ? [`the settings cannot be read: ${config.why}`] : [],
    ...clusterVersion.kind === "unknown" ? [`the ClusterVersion cannot be read: ${clusterVersion.why}`] : [],
  ];
}

const UNREAD: Readonly<Partial<Record<ReadingName, string>>> = {
  payload: "the registry, about spec.desired.image",
  graph: "the update graph, about spec.desired.version in another channel",
};

function hasBegun({ plan, clusterVersion }: UpgradeFacts): boolean {
  return isCommenced(plan.spec.desired, clusterVersion);
}

function problemsOf(facts: UpgradeFacts): readonly string[] {
  if (hasBegun(facts)) return [];
  const validation = judge(facts);
  return [
    ...validation.kind === "invalid" ? [validation.message] : [],
    ...facts.plan.spec.suspend ? ["spec.suspend is true"] : [],
  ];
}

/** Validates by the cluster alone and assumes good answers from outside of it, where only the upgrade itself asks. */
function judge(facts: UpgradeFacts): PlanValidation {
  const { image, version } = facts.plan.spec.desired;
  // A plan with an image and no version later gets the version of the image.
  const payload = { image, version: version || "of the image", isIndex: true, architectures: [] };
  return validatePlan({
    ...facts,
    read: {
      payload: { kind: "observed", value: payload },
      graph: { kind: "observed", value: [{ version, image: "" }] },
    },
  });
}

type Begin = { readonly kind: "known"; readonly text: string } | { readonly kind: "never"; readonly why: string };

const UNKNOWN: Begin = { kind: "known", text: "is not known" };

function beginOf(
  facts: UpgradeFacts,
  { nowMs, hasWindow }: { readonly nowMs: number; readonly hasWindow: boolean },
): Begin {
  const { plan: { spec, status }, config } = facts;
  const { phase, startTime = "", completeTime = "" } = historyEntryOf(status, spec.desired) ?? {};
  const begins = (text: string): Begin => ({ kind: "known", text });
  if (phase === "Upgraded") return begins(`has begun ${startTime}, is complete since ${completeTime}`);
  if (phase === "Failed") return { kind: "never", why: "it has failed" };
  if (hasBegun(facts)) return begins(`has begun ${startTime}`.trim());
  const validation = judge(facts);
  if (validation.kind === "nothingToDo") return begins(`not needed, ${validation.message}`);
  const windowMs = hasWindow ? config.upgradeWindow.timeoutMinutes * MINUTE_MS : 0;
  const { isBreached, isReady, untilMs } = decideSchedule(spec.upgradeAt, { nowMs, windowMs });
  if (isBreached) return { kind: "never", why: `its window after ${spec.upgradeAt} is over` };
  return begins(isReady ? "now" : `${spec.upgradeAt}, in ${renderDuration(untilMs)}`);
}

export function renderStatusText(
  { version, architecture, phase, steps, conditions }: DescribedStatus,
  width?: number,
): string {
  const target = architecture === "" ? version : `${version} ${architecture}`;
  return [
    `Upgrade to ${target}: ${phase}\n`,
    ...steps.length === 0
      ? []
      : [renderTable(["STEP", "STATE", "SINCE", "MESSAGE"], steps.map((row) => Object.values(row)), width)],
    ...conditions.length === 0
      ? []
      : [renderTable(["CONDITION", "STATUS", "MESSAGE"], conditions.map((row) => Object.values(row)), width)],
  ].join("\n");
}

export function renderPlanned(plan: DescribedPlan): string {
  const { version, architecture, profile, begins, steps, inTheWay, notAsked } = plan;
  const target = architecture === "" ? version : `${version} ${architecture}`;
  return [
    `Upgrade to ${target} (${profile}). Begin: ${begins}.\n`,
    renderTable(["STEPS"], steps.map((step) => [step])),
    inTheWay.length === 0 ? "Nothing is in the way.\n" : renderTable(["IN THE WAY"], inTheWay.map((one) => [one])),
    ...notAsked.map((one) => `Not asked: ${one}.\n`),
    "Nothing was changed.\n",
  ].join("\n");
}
