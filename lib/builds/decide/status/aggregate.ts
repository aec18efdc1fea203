// From the states of the architectures to the state of the whole build.
import type { ArchBuild, ArchState, IndexState, MosbState } from "../types.ts";

const RUNNING: readonly ArchState[] = ["Preparing", "Building"];
const DONE: readonly ArchState[] = ["Succeeded", "Reused"];

export function isDone({ state }: Pick<ArchBuild, "state">): boolean {
  return DONE.includes(state);
}

export function isRunning({ state }: Pick<ArchBuild, "state">): boolean {
  return RUNNING.includes(state);
}

/** Whether a message says what keeps it from going on: its pod, or a registry. */
export function isHeldUp(one: Pick<ArchBuild, "state" | "unansweredSince">): boolean {
  return isRunning(one) || one.state === "Pending" && one.unansweredSince !== undefined;
}

/** The state of a build. Succeeded only where every architecture is done and the whole is published. */
export function aggregate(archs: readonly Pick<ArchBuild, "state">[], index: IndexState): MosbState {
  const has = (state: ArchState): boolean => archs.some((one) => one.state === state);
  if (archs.every(({ state }) => state === "Pending")) return "initial";
  if (archs.every(isDone)) {
    return index.kind === "published" ? "Succeeded" : index.kind === "failed" ? "Failed" : "Building";
  }
  if (has("Failed") || has("Interrupted")) {
    if (archs.some(isRunning)) return "Building";
    return has("Failed") ? "Failed" : "Interrupted";
  }
  return has("Building") || has("Succeeded") ? "Building" : "Prepared";
}

export function isTerminal(state: MosbState): boolean {
  return state === "Succeeded" || state === "Failed" || state === "Interrupted";
}

const ORDER: Readonly<Record<MosbState, number>> = {
  initial: 0,
  Prepared: 1,
  Building: 2,
  Succeeded: 3,
  Failed: 3,
  Interrupted: 3,
};

/** Whether a build may go from one state to another: forward only, and never out of an end. */
export function isTransition(from: MosbState, to: MosbState): boolean {
  return !isTerminal(from) && ORDER[to] > ORDER[from];
}
