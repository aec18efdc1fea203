// The status of a MachineOSBuild as its record says it, and the one patch that brings it there.
import { parseTime, renderTime } from "../../../cluster/time.ts";
import type { JsonObject } from "../../../json.ts";
import type { Effect } from "../effects.ts";
import type { MachineOSBuild } from "../observed.ts";
import { canonical } from "../plan/build_keys.ts";
import { aggregate, isHeldUp, isTerminal, isTransition } from "../status/aggregate.ts";
import { renderConditions, stateOfBuild } from "../status/conditions.ts";
import { renderArchStatus } from "../status/record.ts";
import type { BuildRecord, MosbState } from "../types.ts";
import { ArchwayAnnotation, McoAnnotation } from "../names.ts";
import type { BuildFacts } from "../facts.ts";
import { annotate, patchStatus, type Scope } from "./part.ts";

/** The state that a build is in once the writes below are done. */
export function nextStateOf(build: MachineOSBuild, { archs, index }: BuildRecord): MosbState {
  const before = stateOfBuild(build);
  const after = aggregate(archs, index);
  return isTransition(before, after) ? after : before;
}

export function buildStatusEffects({ build, plan, facts }: Scope, record: BuildRecord): readonly Effect[] {
  const { name, uid, annotations: said } = build.meta;
  if (isTerminal(stateOfBuild(build))) return [];
  const patch = statusPatch(build, record, facts);
  const single = plan.mode === "single" ? record.archs[0]?.job?.uid : undefined;
  const annotations = {
    [ArchwayAnnotation.archStatus]: renderArchStatus(record.archs),
    ...(single === undefined ? {} : { [McoAnnotation.jobUid]: single }),
  };
  const isSaid = Object.entries(annotations).every(([key, value]) => said[key] === value);
  return [
    ...(isSaid ? [] : [annotate("builds", { name, uid }, annotations)]),
    ...(patch === undefined ? [] : [patchStatus("builds", { name, uid }, patch)]),
  ];
}

function statusPatch(
  build: MachineOSBuild,
  record: BuildRecord,
  { nowMs, settings: { namespace } }: BuildFacts,
): JsonObject | undefined {
  const { status } = build;
  const state = nextStateOf(build, record);
  const { archs, index } = record;
  const message = messageOf(state, record);
  const conditions = renderConditions({ state, message, archs, index, previous: status.conditions, nowMs });
  const jobs = archs.flatMap(({ job }) => job === undefined ? [] : [job.name]);
  const reference = (name: string): JsonObject => ({ group: "batch", resource: "jobs", name, namespace });
  const [first] = jobs;
  const times = timesOf(build, record, nowMs);
  const isSame = canonical(conditions) === canonical(status.conditions) && (first ?? status.job) === status.job &&
    canonical(jobs) === canonical(status.relatedObjects) && Object.keys(times).length === 0;
  return isSame ? undefined : {
    conditions,
    ...(first === undefined ? {} : { builder: { imageBuilderType: "Job", job: reference(first) } }),
    ...(jobs.length === 0 ? {} : { relatedObjects: jobs.map(reference) }),
    ...times,
    ...(state === "Succeeded" && index.kind === "published" ? { digestedImagePushSpec: index.reference } : {}),
  };
}

/** Both are written once; the end is at least a second after the start, whatever clocks say. */
function timesOf(build: MachineOSBuild, record: BuildRecord, nowMs: number): JsonObject {
  const state = nextStateOf(build, record);
  if (state === "initial") return {};
  const { status } = build;
  const started = record.archs.flatMap(({ startedAt }) => parseTime(startedAt) ?? []);
  const startMs = parseTime(status.buildStart) ?? (started.length === 0 ? nowMs : Math.min(...started));
  const endMs = Math.max(nowMs, startMs + 1_000);
  return {
    ...(status.buildStart === undefined ? { buildStart: renderTime(startMs) } : {}),
    ...(isTerminal(state) && status.buildEnd === undefined ? { buildEnd: renderTime(endMs) } : {}),
  };
}

/** What people read of a state: of a failure which architectures, and why; of a build that goes on what keeps its pods. */
export function messageOf(state: MosbState, { archs, index }: BuildRecord): string {
  const isBad = state === "Failed" || state === "Interrupted";
  const parts = isBad
    ? archs.filter((one) => one.state === "Failed" || one.state === "Interrupted")
      .map(({ arch, reason, message }) => `${arch}: ${reason ?? "Failed"}: ${message ?? ""}`)
    : archs.filter(isHeldUp).flatMap(({ arch, message }) => message === undefined ? [] : [`${arch}: ${message}`]);
  const published = isBad && index.kind === "failed" ? [`${index.reason}: ${index.message}`] : [];
  return [...parts, ...published].join(" ").slice(0, MAX_MESSAGE);
}

/** The API server allows more; people read less. */
const MAX_MESSAGE = 4_000;
