// From the states of the architectures to the state of the whole build.
import type {
  ArchitectureBuild,
  ArchitectureState,
  BuildFailureReason,
  IndexState,
  MachineOSBuildState,
} from "../types.ts";
import { type Condition, isTrue, type NewCondition, withTime } from "../../../vocabulary/condition.ts";
import type { JobObservation } from "../parse/job.ts";
import type { MachineOSBuild } from "../parse/machine_os_config.ts";
import { BuildCondition } from "../names.ts";

const RUNNING: readonly ArchitectureState[] = ["Preparing", "Building"];
const DONE: readonly ArchitectureState[] = ["Succeeded", "Reused"];

export function isDone({ state }: Pick<ArchitectureBuild, "state">): boolean {
  return DONE.includes(state);
}

export function isRunning({ state }: Pick<ArchitectureBuild, "state">): boolean {
  return RUNNING.includes(state);
}

/** Whether the architecture's message, if it has one, says what it waits for. */
export function isHeldUp(one: Pick<ArchitectureBuild, "state" | "unansweredSince">): boolean {
  return isRunning(one) || one.state === "Pending" && one.unansweredSince !== undefined;
}

/** The state of a build. Succeeded only where every architecture is done and the whole is published. */
export function aggregate(archs: readonly Pick<ArchitectureBuild, "state">[], index: IndexState): MachineOSBuildState {
  const has = (state: ArchitectureState): boolean => archs.some((one) => one.state === state);
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

export function isTerminal(state: MachineOSBuildState): boolean {
  return state === "Succeeded" || state === "Failed" || state === "Interrupted";
}

const ORDER: Readonly<Record<MachineOSBuildState, number>> = {
  initial: 0,
  Prepared: 1,
  Building: 2,
  Succeeded: 3,
  Failed: 3,
  Interrupted: 3,
};

/** Whether a build may go from one state to another: only forward, and never out of a terminal state. */
export function isTransition(from: MachineOSBuildState, to: MachineOSBuildState): boolean {
  return !isTerminal(from) && ORDER[to] > ORDER[from];
}

export const MAX_FAILED_PODS = 3;

/** The exit code of a builder for a Containerfile that cannot be built, however often it is tried. */
export const BAD_CONTAINERFILE_EXIT_CODE = 65;

type JobState =
  | { readonly kind: "Prepared" | "Building" | "Succeeded" | "Interrupted" }
  | { readonly kind: "Failed"; readonly reason: BuildFailureReason; readonly message: string };

export function jobStateOf(job: JobObservation): JobState {
  const { active, succeeded, failed, uncounted, conditions } = job;
  if (job.meta.isDeleting && succeeded === 0 && failed <= MAX_FAILED_PODS) return { kind: "Interrupted" };
  // A Job that exceeded its deadline, or ended with the exit code above, has fewer failed pods than its limit.
  if (isTrue(conditions, "Failed")) return failedState(job);
  if (succeeded > 0) {
    return { kind: conditions.length === 0 || isTrue(conditions, "Complete") ? "Succeeded" : "Building" };
  }
  if (failed > MAX_FAILED_PODS) return failedState(job);
  return { kind: active + failed + uncounted === 0 ? "Prepared" : "Building" };
}

function failedState({ meta, conditions, failed }: JobObservation): JobState {
  const condition = conditions.find(({ type, status }) => type === "Failed" && status === "True");
  const isLate = condition?.reason === "DeadlineExceeded";
  const isPermanent = condition?.reason === "PodFailurePolicy";
  const what = isLate
    ? "it took longer than its deadline"
    : isPermanent
    ? "its builder says that the Containerfile cannot be built"
    : `${Math.max(failed, 1)} of its pods failed`;
  return {
    kind: "Failed",
    reason: isLate ? "DeadlineExceeded" : isPermanent ? "InvalidContainerfile" : "BuildFailed",
    message: `Job "${meta.name}" failed: ${what}. Look at the logs of its pods.`,
  };
}

export const STATES = ["Prepared", "Building", "Failed", "Interrupted", "Succeeded"] as const;
const TERMINAL_STATES = ["Succeeded", "Failed", "Interrupted"] as const;

const REASONS: Readonly<Record<typeof STATES[number], readonly [string, string]>> = {
  Prepared: ["Prepared", "Build Prepared and Pending"],
  Building: ["Building", "Image Build In Progress"],
  Failed: ["Failed", "Build Failed"],
  Interrupted: ["Interrupted", "Build Interrupted"],
  Succeeded: ["Ready", "Build Ready"],
};

export function stateOfBuild(
  { status: { conditions } }: { readonly status: Pick<MachineOSBuild["status"], "conditions"> },
): MachineOSBuildState {
  const end = TERMINAL_STATES.find((type) => isTrue(conditions, type));
  if (end !== undefined) return end;
  return isTrue(conditions, "Building") ? "Building" : isTrue(conditions, "Prepared") ? "Prepared" : "initial";
}

interface ConditionsInput {
  readonly state: MachineOSBuildState;
  /** One sentence for the condition of the state; empty: the usual one. */
  readonly message: string;
  readonly archs: readonly ArchitectureBuild[];
  readonly index: IndexState;
  readonly previous: readonly Condition[];
  readonly nowMs: number;
}

/** All seven conditions. A condition whose status stays keeps its `lastTransitionTime`. */
export function renderConditions(input: ConditionsInput): readonly Condition[] {
  const { state, message, archs, index } = input;
  const upstream = STATES.map((type): NewCondition => {
    const [reason, usual] = REASONS[type];
    const isState = type === state;
    return { type, status: isState ? "True" : "False", reason, message: isState && message !== "" ? message : usual };
  });
  const done = archs.filter(isDone).length;
  const isComplete = done === archs.length && archs.length > 0;
  const silent = archs.filter((one) => isHeldUp(one) && !isRunning(one));
  const waits = silent.map(({ arch, message = "" }) => ` ${arch}: ${message}`).join("");
  const isPublished = index.kind === "published";
  const own: readonly NewCondition[] = [
    {
      type: BuildCondition.architecturesComplete,
      status: isComplete ? "True" : "False",
      reason: isComplete ? "AllArchitectures" : silent.length > 0 ? "RegistryUnavailable" : "Waiting",
      message: `${done} of ${archs.length} architectures are done.${waits}`,
    },
    {
      type: BuildCondition.published,
      status: isPublished ? "True" : "False",
      reason: isPublished ? "Published" : index.kind === "failed" ? index.reason : "Waiting",
      message: isPublished
        ? `${index.reference} is published.`
        : index.kind === "absent"
        ? "Nothing is published yet."
        : index.message,
    },
  ];
  return [...upstream, ...own].map((condition) => withTime(condition, input.previous, input.nowMs));
}
