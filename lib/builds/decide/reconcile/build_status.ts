// The status of a MachineOSBuild that follows from its record, and the one patch that writes it.
import { parseTime, renderTime } from "../../../vocabulary/time.ts";
import type { JsonObject } from "../../../json.ts";
import { digestOf } from "../../../oci/reference.ts";
import { annotationPatch, type BuildEffect, type BuildEvent, normal, statusPatch, warning } from "../effects.ts";
import type { MachineOSBuild } from "../parse/machine_os_config.ts";
import { canonical } from "../plan/build_keys.ts";
import { aggregate, isHeldUp, isTerminal, isTransition, renderConditions, stateOfBuild } from "../status/aggregate.ts";
import { renderArchitectureStatus } from "../status/record.ts";
import type { ArchitectureBuild, ArchitectureState, BuildRecord, MachineOSBuildState } from "../types.ts";
import { ArchwayAnnotation, McoAnnotation } from "../names.ts";
import type { BuildFacts } from "../facts.ts";
import type { BuildSubject } from "./decision_part.ts";

/** The state that a build is in once the writes below are done. */
export function nextStateOf(build: MachineOSBuild, { archs, index }: BuildRecord): MachineOSBuildState {
  const before = stateOfBuild(build);
  const after = aggregate(archs, index);
  return isTransition(before, after) ? after : before;
}

export function buildStatusEffects({ build, plan, facts }: BuildSubject, record: BuildRecord): readonly BuildEffect[] {
  const { name, uid, annotations: current } = build.meta;
  if (isTerminal(stateOfBuild(build))) return [];
  const patch = changedStatusOf(build, record, facts);
  const single = plan.mode === "single" ? record.archs[0]?.job?.uid : undefined;
  const annotations = {
    [ArchwayAnnotation.architectureStatus]: renderArchitectureStatus(record.archs),
    ...(single === undefined ? {} : { [McoAnnotation.jobUid]: single }),
  };
  const isCurrent = Object.entries(annotations).every(([key, value]) => current[key] === value);
  return [
    ...(isCurrent ? [] : [annotationPatch("builds", { name, uid }, annotations)]),
    ...(patch === undefined ? [] : [statusPatch("builds", { name, uid }, patch)]),
  ];
}

function changedStatusOf(
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

/** Start and end are written once each. The end is at least a second after the start, whatever the clocks say. */
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

/** For a failure, which architectures failed and why; for a running build, what its architectures wait for. */
export function messageOf(state: MachineOSBuildState, { archs, index }: BuildRecord): string {
  const parts = isBad(state)
    ? archs.filter((one) => isBad(one.state))
      .map(({ arch, reason, message }) => `${arch}: ${reason ?? "Failed"}: ${message ?? ""}`)
    : archs.filter(isHeldUp).flatMap(({ arch, message }) => message === undefined ? [] : [`${arch}: ${message}`]);
  const published = isBad(state) && index.kind === "failed" ? [`${index.reason}: ${index.message}`] : [];
  return [...parts, ...published].join(" ").slice(0, MAX_MESSAGE);
}

/** Most characters of a message. The API server allows more, but nobody would read them. */
const MAX_MESSAGE = 4_000;

const STATE_EVENTS: Readonly<Record<MachineOSBuildState, string>> = {
  initial: "BuildStarted",
  Prepared: "BuildPreparing",
  Building: "BuildBuilding",
  Succeeded: "BuildCompleted",
  Failed: "BuildFailed",
  Interrupted: "BuildInterrupted",
};

/** Reasons of events about an architecture's Job, by the state that the architecture reaches. */
const JOB_EVENTS: Readonly<Partial<Record<ArchitectureState, string>>> = {
  Building: "JobStarted",
  Succeeded: "JobCompleted",
  Failed: "JobFailed",
  Interrupted: "JobDeleted",
};

export function buildEvents(build: MachineOSBuild, record: BuildRecord, before: BuildRecord): readonly BuildEvent[] {
  const { name } = build.meta;
  const { archs } = record;
  const changed = archs.filter(({ arch, state }) => before.archs.find((one) => one.arch === arch)?.state !== state);
  const events = [...changed.flatMap((one) => architectureEvents(name, one)), ...waitEvents(name, record, before)];
  const [from, to] = [stateOfBuild(build), nextStateOf(build, record)];
  if (from === to) return events;
  const event = isBad(to)
    ? warning(["build", name], STATE_EVENTS[to], messageOf(to, record))
    : normal(["build", name], STATE_EVENTS[to], `The build for ${archs.map(({ arch }) => arch).join(", ")}: ${to}.`);
  return [...events, ...(to === "Succeeded" ? publishedEvents(name, record) : []), event];
}

function isBad(state: ArchitectureState | MachineOSBuildState): boolean {
  return state === "Failed" || state === "Interrupted";
}

function architectureEvents(
  name: string,
  { arch, state, job, reason = "", message = "" }: ArchitectureBuild,
): readonly BuildEvent[] {
  const jobReason = JOB_EVENTS[state];
  const ofJob = job === undefined || jobReason === undefined ? [] : [(isBad(state) ? warning : normal)(
    ["build", name],
    jobReason,
    `Job "${job.name}" for ${arch}: ${isBad(state) ? message : state}.`,
  )];
  if (state !== "Failed") return ofJob;
  const failed = `The image for ${arch} cannot be built: ${reason}: ${message}`;
  return [...ofJob, warning(["build", name], "ArchBuildFailed", failed)];
}

function waitEvents(name: string, { archs }: BuildRecord, before: BuildRecord): readonly BuildEvent[] {
  return archs.filter(isHeldUp).flatMap(({ arch, message }) => {
    const isReported = message === undefined || before.archs.find((one) => one.arch === arch)?.message === message;
    return isReported ? [] : [warning(["build", name], "ArchBuildWaiting", `${arch}: ${message}`)];
  });
}

/** No events for a single image, which is published as it is. */
function publishedEvents(name: string, { archs, index }: BuildRecord): readonly BuildEvent[] {
  if (index.kind !== "published" || digestOf(index.reference) === index.children[0]) return [];
  const message = `The index of ${archs.map(({ arch }) => arch).join(", ")}: ${index.reference}.`;
  return [normal(["build", name], "IndexAssembled", message)];
}
