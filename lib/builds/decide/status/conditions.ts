// The conditions of a MachineOSBuild: five that the machine config operator reads, and two of Archway's own. Once one of the
// ends is true the API server lets none of them change.
import { type Condition, isTrue, type NewCondition, withTime } from "../../../cluster/condition.ts";
import type { MachineOSBuild } from "../observed.ts";
import type { ArchBuild, IndexState, MosbState } from "../types.ts";
import { BuildCondition } from "../names.ts";
import { isDone, isHeldUp, isRunning } from "./aggregate.ts";

/** Upstream condition types, in their order. */
export const STATES = ["Prepared", "Building", "Failed", "Interrupted", "Succeeded"] as const;
const ENDS = ["Succeeded", "Failed", "Interrupted"] as const;

const SAID: Readonly<Record<typeof STATES[number], readonly [string, string]>> = {
  Prepared: ["Prepared", "Build Prepared and Pending"],
  Building: ["Building", "Image Build In Progress"],
  Failed: ["Failed", "Build Failed"],
  Interrupted: ["Interrupted", "Build Interrupted"],
  Succeeded: ["Ready", "Build Ready"],
};

export function stateOfBuild({ status }: Pick<MachineOSBuild, "status">): MosbState {
  const { conditions } = status;
  const end = ENDS.find((type) => isTrue(conditions, type));
  if (end !== undefined) return end;
  return isTrue(conditions, "Building") ? "Building" : isTrue(conditions, "Prepared") ? "Prepared" : "initial";
}

export interface ConditionsInput {
  readonly state: MosbState;
  /** In one sentence; empty: the usual one. */
  readonly message: string;
  readonly archs: readonly ArchBuild[];
  readonly index: IndexState;
  readonly previous: readonly Condition[];
  readonly nowMs: number;
}

/** All seven. A condition whose status stays keeps its time. */
export function renderConditions(input: ConditionsInput): readonly Condition[] {
  const { state, message, archs, index } = input;
  const upstream = STATES.map((type): NewCondition => {
    const [reason, usual] = SAID[type];
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
      type: BuildCondition.archsComplete,
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
