// The events of a build that goes on: what became of it, of its Jobs and of what is published.
import type { BuildEvent } from "../effects.ts";
import type { MachineOSBuild } from "../observed.ts";
import { isRunning } from "../status/aggregate.ts";
import { stateOfBuild } from "../status/conditions.ts";
import type { ArchBuild, ArchState, BuildRecord, MosbState } from "../types.ts";
import { messageOf, nextStateOf } from "./build_status.ts";

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

/** Events of a build that changes its state, and of architectures that do. */
export function buildEvents(
  { build, record }: { readonly build: MachineOSBuild; readonly record: BuildRecord },
  before: BuildRecord,
): readonly BuildEvent[] {
  const { name } = build.meta;
  const changed = record.archs.filter(({ arch, state }) =>
    before.archs.find((one) => one.arch === arch)?.state !== state
  );
  const archs = [...changed.flatMap((one) => archEvents(name, one)), ...waitEvents(name, record, before)];
  const [from, to] = [stateOfBuild(build), nextStateOf({ build, record })];
  if (from === to) return archs;
  const isBad = to === "Failed" || to === "Interrupted";
  const message = isBad
    ? messageOf(to, record)
    : `The build for ${record.archs.map(({ arch }) => arch).join(", ")}: ${to}.`;
  const event: BuildEvent = {
    on: "build",
    name,
    type: isBad ? "Warning" : "Normal",
    reason: STATE_EVENTS[to],
    message,
  };
  return [...archs, ...(to === "Succeeded" ? assembledEvents(name, record) : []), event];
}

function archEvents(name: string, { arch, state, job, reason = "", message = "" }: ArchBuild): readonly BuildEvent[] {
  const isBad = state === "Failed" || state === "Interrupted";
  const type = isBad ? "Warning" : "Normal";
  const jobReason = JOB_EVENTS[state];
  const ofJob: readonly BuildEvent[] = job === undefined || jobReason === undefined ? [] : [{
    on: "build",
    name,
    type,
    reason: jobReason,
    message: `Job "${job.name}" for ${arch}: ${isBad ? message : state}.`,
  }];
  const failed = `The image for ${arch} cannot be built: ${reason}: ${message}`;
  return state === "Failed"
    ? [...ofJob, { on: "build", name, type, reason: "ArchBuildFailed", message: failed }]
    : ofJob;
}

/** Of pods that cannot start, once for each reason. */
function waitEvents(name: string, { archs }: BuildRecord, before: BuildRecord): readonly BuildEvent[] {
  return archs.filter(isRunning).flatMap(({ arch, message }): readonly BuildEvent[] => {
    const isSaid = message === undefined || before.archs.find((one) => one.arch === arch)?.message === message;
    return isSaid
      ? []
      : [{ on: "build", name, type: "Warning", reason: "ArchBuildWaiting", message: `${arch}: ${message}` }];
  });
}

/** One image is published as it is: nothing was put together. */
function assembledEvents(name: string, { archs, index }: BuildRecord): readonly BuildEvent[] {
  if (index.kind !== "published" || index.reference.endsWith(`@${index.children[0] ?? ""}`)) return [];
  const message = `The index of ${archs.map(({ arch }) => arch).join(", ")}: ${index.reference}.`;
  return [{ on: "build", name, type: "Normal", reason: "IndexAssembled", message }];
}
