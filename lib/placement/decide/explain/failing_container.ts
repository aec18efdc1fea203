// The container that keeps a scheduled pod from running, by the pod's status: a phase of Running says nothing of it.
import { listAt, memberOf, objectAt, textAt } from "../../../json.ts";

/** A container that does not run, though it should. */
export interface FailingContainer {
  readonly name: string;
  /** As `kubectl get pods` shows it: `CrashLoopBackOff`, `ImagePullBackOff`, `Error`. */
  readonly reason: string;
  /** What the kubelet says; may be empty. */
  readonly message: string;
  /** Whether it has run, so that there is output of it. */
  readonly hasRun: boolean;
}

/** Reasons to wait that every pod has for a moment. */
const STARTING: readonly string[] = ["", "PodInitializing", "ContainerCreating"];

/** The first of a pod's init containers and containers that waits or has ended because of a failure. */
export function failingContainer(pod: unknown): FailingContainer | undefined {
  const status = objectAt(pod, "status");
  if (textAt(status, "phase") === "Succeeded") return undefined;
  const statuses = ["initContainerStatuses", "containerStatuses"].flatMap((list) => listAt(status, list) ?? []);
  return statuses.map(failureOf).find((failure) => failure !== undefined);
}

function failureOf(container: unknown): FailingContainer | undefined {
  const name = textAt(container, "name");
  const state = objectAt(container, "state");
  const [waiting, terminated] = [objectAt(state, "waiting"), objectAt(state, "terminated")];
  const wait = textAt(waiting, "reason");
  if (!STARTING.includes(wait)) {
    return { name, reason: wait, message: textAt(waiting, "message"), hasRun: wait === "CrashLoopBackOff" };
  }
  const exitCode = memberOf(terminated, "exitCode");
  if (typeof exitCode !== "number" || exitCode === 0) return undefined;
  const reason = textAt(terminated, "reason") || "Error";
  return { name, reason, message: textAt(terminated, "message"), hasRun: true };
}
