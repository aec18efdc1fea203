// The status of a MachineOSBuild as its record says it, and the patch that brings it there: one write, and only when
// something changed.
import type { JsonObject } from "../../json.ts";
import type { Effect } from "../effects.ts";
import type { MachineOSBuild } from "../observed.ts";
import { timeOf } from "../parse/meta.ts";
import { canonical } from "../plan/canonical.ts";
import { aggregate, isRunning, isTerminal, isTransition } from "../status/aggregate.ts";
import { renderConditions, stateOfBuild, timeText } from "../status/conditions.ts";
import { renderArchStatus } from "../status/record.ts";
import type { BuildPlan, BuildRecord, MosbState } from "../types.ts";
import { ArchwayAnnotation, McoAnnotation } from "../names.ts";

/** What a status is rendered from. */
export interface BuildStatusInput {
  readonly build: MachineOSBuild;
  readonly plan: BuildPlan;
  readonly record: BuildRecord;
  readonly namespace: string;
  readonly nowMs: number;
}

/** The state that a build is in once the writes below are done. */
export function nextStateOf({ build, record }: Pick<BuildStatusInput, "build" | "record">): MosbState {
  const before = stateOfBuild(build);
  const after = aggregate(record.archs, record.index);
  return isTransition(before, after) ? after : before;
}

/** The writes; none once a build has ended, or while nothing changes. */
export function buildStatusEffects(input: BuildStatusInput): readonly Effect[] {
  const { build, plan, record } = input;
  const target = { resource: "builds", name: build.meta.name, uid: build.meta.uid } as const;
  if (isTerminal(stateOfBuild(build))) return [];
  const patch = statusPatch(input);
  const single = plan.mode === "single" ? record.archs[0]?.job?.uid : undefined;
  const annotations = {
    [ArchwayAnnotation.archStatus]: renderArchStatus(record.archs),
    ...(single === undefined ? {} : { [McoAnnotation.jobUid]: single }),
  };
  const isSaid = Object.entries(annotations).every(([key, value]) => build.meta.annotations[key] === value);
  return [
    ...(isSaid ? [] : [{ kind: "patch annotations", target, annotations } as const]),
    ...(patch === undefined ? [] : [{ kind: "patch status", target, patch } as const]),
  ];
}

function statusPatch(input: BuildStatusInput): JsonObject | undefined {
  const { build: { status }, record, nowMs } = input;
  const state = nextStateOf(input);
  const { archs, index } = record;
  const message = messageOf(state, record);
  const conditions = renderConditions({ state, message, archs, index, previous: status.conditions, nowMs });
  const jobs = archs.flatMap(({ job }) => job === undefined ? [] : [job.name]);
  const { namespace } = input;
  const reference = (name: string): JsonObject => ({ group: "batch", resource: "jobs", name, namespace });
  const [first] = jobs;
  const next: JsonObject = {
    conditions,
    ...(first === undefined ? {} : { builder: { imageBuilderType: "Job", job: reference(first) } }),
    ...(jobs.length === 0 ? {} : { relatedObjects: jobs.map(reference) }),
    ...timesOf(input, state),
    ...(state === "Succeeded" && index.kind === "published" ? { digestedImagePushSpec: index.reference } : {}),
  };
  const isSame = canonical(conditions) === canonical(status.conditions) && (first ?? status.job) === status.job &&
    canonical(jobs) === canonical(status.relatedObjects.map(({ name }) => name)) &&
    !Object.hasOwn(next, "buildStart") && !Object.hasOwn(next, "buildEnd");
  return isSame ? undefined : next;
}

/** Both are written once; the end is at least a second after the start, whatever clocks say. */
function timesOf({ build: { status }, record, nowMs }: BuildStatusInput, state: MosbState): JsonObject {
  if (state === "initial") return {};
  const started = record.archs.flatMap(({ startedAt }) => timeOf(startedAt) ?? []);
  const startMs = timeOf(status.buildStart) ?? (started.length === 0 ? nowMs : Math.min(...started));
  const endMs = Math.max(nowMs, startMs + 1_000);
  return {
    ...(status.buildStart === undefined ? { buildStart: timeText(startMs) } : {}),
    ...(isTerminal(state) && status.buildEnd === undefined ? { buildEnd: timeText(endMs) } : {}),
  };
}

/** What people read of a state: of a failure which architectures, and why; of a build that goes on what keeps its pods. */
export function messageOf(state: MosbState, { archs, index }: BuildRecord): string {
  const isBad = state === "Failed" || state === "Interrupted";
  const parts = isBad
    ? archs.filter((one) => one.state === "Failed" || one.state === "Interrupted")
      .map(({ arch, reason, message }) => `${arch}: ${reason ?? "Failed"}: ${message ?? ""}`)
    : archs.filter(isRunning).flatMap(({ arch, message }) => message === undefined ? [] : [`${arch}: ${message}`]);
  const published = isBad && index.kind === "failed" ? [`${index.reason}: ${index.message}`] : [];
  return [...parts, ...published].join(" ").slice(0, MAX_MESSAGE);
}

/** The API server allows more; people read less. */
const MAX_MESSAGE = 4_000;
