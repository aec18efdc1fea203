// What is to become of an ENoExecEvent, from the pod and the node that it names. The first rule that holds decides.
//
// | what holds                                        | decision                                       |
// |---------------------------------------------------|------------------------------------------------|
// | it is being deleted                               | nothing: a finalizer holds it                  |
// | it is too old                                     | delete it                                      |
// | it names no pod                                   | wait for its status, then keep it, marked      |
// | its pod is gone, or is another one of that name   | delete it; mark it where a finalizer holds it  |
// | its pod is on another node, or the node is gone   | the same                                       |
// | the pod's status is behind: no such container, or | wait, for seconds                              |
// | none that has ended                               |                                                |
// | otherwise                                         | report                                         |
import type { KubeObject } from "../../k8s/types.ts";
import { NODE_ARCH_LABEL } from "../../names.ts";
import { objectAt, textAt } from "../../json.ts";
import { findContainer, type PodContainer, podContainers } from "./container.ts";
import type { EnoexecEvent } from "./enoexec_event.ts";

/** Values of the error label, as the MTO has them. */
export type EnoexecError = "pod-not-found" | "node-not-found" | "reconciliation-error";

export interface EnoexecFacts {
  readonly event: EnoexecEvent;
  readonly pod: KubeObject | undefined;
  readonly node: KubeObject | undefined;
  /** Since the event was created, by the clock of the API server (ms). */
  readonly ageMs: number;
}

export type EnoexecDecision =
  | { readonly kind: "leave" }
  | { readonly kind: "wait"; readonly afterMs: number }
  | { readonly kind: "keep"; readonly error: EnoexecError; readonly afterMs: number }
  | { readonly kind: "expire" }
  | { readonly kind: "dismiss"; readonly error: EnoexecError }
  | {
    readonly kind: "report";
    readonly pod: KubeObject;
    readonly container: PodContainer | undefined;
    /** Architecture of the node; empty when the node does not report it. */
    readonly architecture: string;
  };

/** Wait (ms) for the event's status, which is a second write, and for the kubelet to report the container. */
const GRACE_MS = 10_000;
/** Wait (ms) for the pod's status to show the end of a container whose entry point failed. */
const ENDED_MS = 2_000;
const RETRY_MS = 500;

/** No event stays longer, whatever became of it (ms). */
export const EVENT_TTL_MS = 3_600_000;

export function decideEnoexecEvent({ event, pod, node, ageMs }: EnoexecFacts): EnoexecDecision {
  const isYoung = ageMs < GRACE_MS;
  if (event.isDeleting) return { kind: "leave" };
  if (ageMs >= EVENT_TTL_MS) return { kind: "expire" };
  if (event.podName === "") {
    return isYoung ? retryLater : { kind: "keep", error: "pod-not-found", afterMs: EVENT_TTL_MS - ageMs };
  }
  if (pod === undefined || isAnother(event, pod)) return { kind: "dismiss", error: "pod-not-found" };
  const isElsewhere = textAt(objectAt(pod, "spec"), "nodeName") !== event.nodeName;
  if (isElsewhere || node === undefined) return { kind: "dismiss", error: "node-not-found" };
  const container = findContainer(podContainers(pod), event.containerID);
  if (container === undefined && isYoung) return retryLater;
  if (container !== undefined && container.end === undefined && ageMs < ENDED_MS) return retryLater;
  return { kind: "report", pod, container, architecture: architectureOf(node) };
}

const retryLater: EnoexecDecision = { kind: "wait", afterMs: RETRY_MS };

/** Whether the pod is a later one of the same name. Events of the MTO's daemon have no pod UID. */
function isAnother({ podUid }: EnoexecEvent, pod: KubeObject): boolean {
  return podUid !== "" && pod.metadata.uid !== undefined && pod.metadata.uid !== podUid;
}

export function architectureOf(node: KubeObject): string {
  return node.metadata.labels?.[NODE_ARCH_LABEL] ?? "";
}
