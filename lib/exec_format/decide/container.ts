// The containers of a stored pod as their status shows them: what they run, how they ended, and which one an ID names.
import { parseTime } from "../../vocabulary/time.ts";
import { isObject, type JsonObject, listAt, objectAt, textAt } from "../../json.ts";
import type { KubeObject } from "../../k8s/types.ts";

interface ContainerEnd {
  /** ID of the container that ended; may be empty. */
  readonly id: string;
  readonly exitCode: number;
  readonly ranForMs: number | undefined;
  /** By the kubelet's clock (epoch ms); undefined when the status does not say. */
  readonly atMs: number | undefined;
  /** What the kubelet kept of its last output; usually empty. */
  readonly message: string;
}

export interface PodContainer {
  readonly name: string;
  /** The image in the spec: the status may name another reference of the same image. */
  readonly image: string;
  /** `registry/repository@digest` as the runtime names what it runs; may be empty. */
  readonly imageId: string;
  readonly ids: readonly string[];
  readonly waitingMessage: string;
  readonly end: ContainerEnd | undefined;
  /** The ends that the status shows, the latest first. */
  readonly ends: readonly ContainerEnd[];
  /** Whether it runs the image's own program on the image's own files: the pod changes neither. */
  readonly runsImageUnchanged: boolean;
}

const LISTS = [
  ["initContainers", "initContainerStatuses"],
  ["containers", "containerStatuses"],
  ["ephemeralContainers", "ephemeralContainerStatuses"],
] as const;

/** Init, main and ephemeral containers. A container without status has no IDs. */
export function podContainers(pod: KubeObject): readonly PodContainer[] {
  return LISTS.flatMap(([specs, statuses]) => {
    const known = listAt(objectAt(pod, "status"), statuses) ?? [];
    return (listAt(objectAt(pod, "spec"), specs) ?? []).filter(isObject).map((spec) => {
      const name = textAt(spec, "name");
      const status = known.find((candidate) => textAt(candidate, "name") === name);
      return readContainer(spec, { status, isIsolated: isIsolated(objectAt(pod, "spec")) });
    });
  });
}

function readContainer(
  spec: JsonObject,
  { status, isIsolated }: { readonly status: unknown; readonly isIsolated: boolean },
): PodContainer {
  const state = objectAt(status, "state");
  const [now, before] = [objectAt(state, "terminated"), objectAt(objectAt(status, "lastState"), "terminated")];
  const ids = [textAt(status, "containerID"), textAt(now, "containerID"), textAt(before, "containerID")];
  const latest = now === undefined ? [] : [readEnd(now, textAt(status, "containerID"))];
  const ends = [...latest, ...before === undefined ? [] : [readEnd(before, "")]];
  return {
    name: textAt(spec, "name"),
    image: textAt(spec, "image"),
    imageId: textAt(status, "imageID"),
    ids: [...new Set(ids.filter((id) => id !== ""))],
    waitingMessage: textAt(objectAt(state, "waiting"), "message"),
    end: ends[0],
    ends,
    runsImageUnchanged: isIsolated && runsImageUnchanged(spec),
  };
}

function readEnd(ended: JsonObject, id: string): ContainerEnd {
  const [startedMs, atMs] = [parseTime(ended["startedAt"]), parseTime(ended["finishedAt"])];
  return {
    id: textAt(ended, "containerID") || id,
    exitCode: typeof ended["exitCode"] === "number" ? ended["exitCode"] : 0,
    ranForMs: startedMs === undefined || atMs === undefined ? undefined : atMs - startedMs,
    atMs,
    message: textAt(ended, "message"),
  };
}

/** The mount of every pod's token: it holds no program. */
const TOKEN_PATH = "/var/run/secrets/kubernetes.io/serviceaccount";
/** The default `terminationMessagePath`. At another path the kubelet mounts a file over what the image has there. */
const MESSAGE_PATH = "/dev/termination-log";

function runsImageUnchanged(spec: JsonObject): boolean {
  const mounts = (listAt(spec, "volumeMounts") ?? []).filter((mount) => textAt(mount, "mountPath") !== TOKEN_PATH);
  const isUnset = (name: string): boolean => (listAt(spec, name) ?? []).length === 0;
  return ["command", "args", "env", "envFrom", "volumeDevices"].every(isUnset) && mounts.length === 0 &&
    ["workingDir", "targetContainerName"].every((name) => textAt(spec, name) === "") &&
    ["", MESSAGE_PATH].includes(textAt(spec, "terminationMessagePath")) &&
    spec["stdin"] !== true && !hasHooksOrProbes(spec) && !hasProfileOfNode(spec);
}

/** Whether hooks or probes run a program, whose failure looks like one of the container's. */
function hasHooksOrProbes(spec: JsonObject): boolean {
  const hooks = ["postStart", "preStop"].map((name) => objectAt(objectAt(spec, "lifecycle"), name));
  const probes = ["startupProbe", "livenessProbe", "readinessProbe"].map((name) => objectAt(spec, name));
  return [...hooks, ...probes].some((handler) => objectAt(handler, "exec") !== undefined);
}

/** Whether a seccomp profile of the node applies, which can make system calls fail with any error. */
function hasProfileOfNode(spec: unknown): boolean {
  return textAt(objectAt(objectAt(spec, "securityContext"), "seccompProfile"), "type") === "Localhost";
}

/** Whether the pod lets nothing reach into its containers: processes, host names, interpreters (binfmt_misc). */
function isIsolated(spec: JsonObject | undefined): boolean {
  const hasNames = (listAt(spec, "hostAliases") ?? []).length > 0 || objectAt(spec, "dnsConfig") !== undefined;
  const hasShared = spec?.["shareProcessNamespace"] === true || spec?.["hostPID"] === true ||
    spec?.["hostUsers"] === false;
  return !hasNames && !hasShared && !hasProfileOfNode(spec);
}

/** The container that an ID names; its `end` is that of this ID. */
export function findContainer(containers: readonly PodContainer[], containerId: string): PodContainer | undefined {
  const found = containers.find(({ ids }) => ids.includes(containerId));
  return found && { ...found, end: found.ends.find(({ id }) => id === containerId) };
}
