// What the status of a Job means for a build. The first row that holds counts.
import { isTrue } from "../../../cluster/condition.ts";
import type { JobObservation } from "../observed.ts";
import type { FailureReason } from "../types.ts";

/** Pods of a Job that may fail before it has failed. */
export const MAX_FAILED_PODS = 3;

/** The exit code with which a builder says that the text cannot be built, however often it is tried. */
export const BAD_CONTAINERFILE_EXIT_CODE = 65;

export type JobState =
  | { readonly kind: "Prepared" | "Building" | "Succeeded" | "Interrupted" }
  | { readonly kind: "Failed"; readonly reason: FailureReason; readonly message: string };

export function jobStateOf(job: JobObservation): JobState {
  const { active, succeeded, failed, uncounted, conditions } = job;
  if (job.meta.isDeleting && succeeded === 0 && failed <= MAX_FAILED_PODS) return { kind: "Interrupted" };
  // A Job that ran out of time, or whose pod said that there is no use, has fewer failed pods than its limit.
  if (isTrue(conditions, "Failed")) return failedState(job);
  if (succeeded > 0) {
    return { kind: conditions.length === 0 || isTrue(conditions, "Complete") ? "Succeeded" : "Building" };
  }
  if (failed > MAX_FAILED_PODS) return failedState(job);
  return { kind: active + failed + uncounted === 0 ? "Prepared" : "Building" };
}

function failedState({ meta, conditions, failed }: JobObservation): JobState {
  const said = conditions.find(({ type, status }) => type === "Failed" && status === "True");
  const isLate = said?.reason === "DeadlineExceeded";
  const isPermanent = said?.reason === "PodFailurePolicy";
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
