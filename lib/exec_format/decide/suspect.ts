// Containers that look as if their program were of another architecture, from the pod's status alone. A refused pull
// names its cause. After a refused start the container only ends at once with 1 or 255, as any failing program may.
// Then the image's architectures, or the container's last output, must confirm it.
import { isObject, listAt, objectAt, textAt } from "../../json.ts";
import type { KubeObject } from "../../k8s/types.ts";
import { type PodContainer, podContainers } from "./container.ts";

type Suspicion =
  /** The runtime refused the image: it has nothing for the node. Certain. */
  | "pull"
  /** The container's last output names an exec format error. Certain. */
  | "message"
  | "ended";

export interface Suspect {
  readonly container: PodContainer;
  readonly suspicion: Suspicion;
}

interface SuspectFacts {
  readonly architecture: string;
  /** Those of the image and those that the RuntimeClass emulates; undefined when the image could not be inspected. */
  readonly imageArchitectures: readonly string[] | undefined;
  readonly lastLogLine: string | undefined;
}

const NO_PLATFORM = "no match for platform in manifest";
const REFUSED = /exec format error/i;
/** Exit codes of runc after a refused start: 1 up to version 1.1, 255 from 1.2 on. */
const EXIT_CODES: readonly number[] = [1, 255];
/** Longest run (ms) of a container that ended at once. Times are whole seconds, so the run may seem to last two. */
const AT_ONCE_MS = 2_000;

export function findSuspects(pod: KubeObject): readonly Suspect[] {
  return podContainers(pod).flatMap((container): readonly Suspect[] => {
    if (container.waitingMessage.includes(NO_PLATFORM)) return [{ container, suspicion: "pull" }];
    if (!endedAtOnce(container)) return [];
    return [{ container, suspicion: REFUSED.test(container.end?.message ?? "") ? "message" : "ended" }];
  });
}

/** Whether the container ended like one whose program the kernel refused. */
export function endedAtOnce({ end }: PodContainer): boolean {
  return end !== undefined && EXIT_CODES.includes(end.exitCode) && end.ranForMs !== undefined &&
    end.ranForMs >= 0 && end.ranForMs <= AT_ONCE_MS;
}

export function isConfirmed({ suspicion }: Suspect, facts: SuspectFacts): boolean {
  const { architecture, imageArchitectures, lastLogLine } = facts;
  if (suspicion !== "ended") return true;
  if (REFUSED.test(lastLogLine ?? "")) return true;
  return architecture !== "" && imageArchitectures !== undefined && !imageArchitectures.includes(architecture);
}

/** Whether any container of a pod has a status that must be checked; cheap, for whole lists of pods. */
export function hasSuspectStatus(pod: KubeObject): boolean {
  const status = objectAt(pod, "status");
  return ["initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"]
    .some((list) => (listAt(status, list) ?? []).some((one) => isObject(one) && needsCheck(one)));
}

function needsCheck(status: Readonly<Record<string, unknown>>): boolean {
  const ended = objectAt(objectAt(status, "state"), "terminated") ??
    objectAt(objectAt(status, "lastState"), "terminated");
  return typeof ended?.["exitCode"] === "number" && EXIT_CODES.includes(ended["exitCode"]);
}

const MAX_NAME_LENGTH = 253;
const NAME = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;
const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** The pod of a core/v1 Event, as `namespace/name`; undefined for an invalid name, since users may write events. */
export function podOfEvent(event: KubeObject): string | undefined {
  const object = objectAt(event, "involvedObject");
  const [namespace, name] = [textAt(object, "namespace"), textAt(object, "name")];
  if (name.length > MAX_NAME_LENGTH || !NAME.test(name) || !NAMESPACE.test(namespace)) return undefined;
  return `${namespace}/${name}`;
}
