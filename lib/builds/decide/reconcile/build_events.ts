// The events of a build that goes on: what became of it, of its Jobs and of what is published.
import type { BuildEvent } from "../effects.ts";
import type { MachineOSBuild } from "../observed.ts";
import { isHeldUp } from "../status/aggregate.ts";
import { stateOfBuild } from "../status/conditions.ts";
import type { ArchBuild, ArchState, BuildRecord, MosbState } from "../types.ts";
import { messageOf, nextStateOf } from "./build_status.ts";
import { normal, warning } from "./part.ts";

const STATE_EVENTS: Readonly<Record<MosbState, string>> = {
  initial: "BuildStarted",
  Prepared: "BuildPreparing",
  Building: "BuildBuilding",
  Succeeded: "BuildCompleted",
  Failed: "BuildFailed",
  Interrupted: "BuildInterrupted",
};

/** Of the Job of an architecture that comes to a state. */
const JOB_EVENTS: Readonly<Partial<Record<ArchState, string>>> = {
  Building: "JobStarted",
  Succeeded: "JobCompleted",
  Failed: "JobFailed",
  Interrupted: "JobDeleted",
};

export function buildEvents(build: MachineOSBuild, record: BuildRecord, before: BuildRecord): readonly BuildEvent[] {
  const { name } = build.meta;
  const { archs } = record;
  const changed = archs.filter(({ arch, state }) => before.archs.find((one) => one.arch === arch)?.state !== state);
  const events = [...changed.flatMap((one) => archEvents(name, one)), ...waitEvents(name, record, before)];
  const [from, to] = [stateOfBuild(build), nextStateOf(build, record)];
  if (from === to) return events;
  const event = isBad(to)
    ? warning(["build", name], STATE_EVENTS[to], messageOf(to, record))
    : normal(["build", name], STATE_EVENTS[to], `The build for ${archs.map(({ arch }) => arch).join(", ")}: ${to}.`);
  return [...events, ...(to === "Succeeded" ? assembledEvents(name, record) : []), event];
}

function isBad(state: ArchState | MosbState): boolean {
  return state === "Failed" || state === "Interrupted";
}

function archEvents(name: string, { arch, state, job, reason = "", message = "" }: ArchBuild): readonly BuildEvent[] {
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
    const isSaid = message === undefined || before.archs.find((one) => one.arch === arch)?.message === message;
    return isSaid ? [] : [warning(["build", name], "ArchBuildWaiting", `${arch}: ${message}`)];
  });
}

/** One image is published as it is: nothing was put together. */
function assembledEvents(name: string, { archs, index }: BuildRecord): readonly BuildEvent[] {
  if (index.kind !== "published" || index.reference.endsWith(`@${index.children[0] ?? ""}`)) return [];
  const message = `The index of ${archs.map(({ arch }) => arch).join(", ")}: ${index.reference}.`;
  return [normal(["build", name], "IndexAssembled", message)];
}
