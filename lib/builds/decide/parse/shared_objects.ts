// The parts of other objects that builds read: shared settings, the payload, the other builder, pods that wait.
import type { ClusterSettings } from "../observed.ts";
import type { JobObservation } from "./job.ts";
import { decodeBase64, listAt, memberOf, numberAt, objectAt, textAt } from "../../../json.ts";
import type { KubeObject } from "../../../k8s/types.ts";
import { isTrue, parseConditions } from "../../../vocabulary/condition.ts";
import { OPTIONAL_INPUTS } from "../optional_inputs.ts";

export interface WaitingPod {
  readonly jobUid: string;
  readonly waits: PodWait;
}

export function parseWaitingPod(pod: KubeObject): WaitingPod | undefined {
  const jobUid = pod.metadata.ownerReferences?.find(({ kind }) => kind === "Job")?.uid;
  const waits = parsePodWait(pod);
  return jobUid === undefined || waits === undefined ? undefined : { jobUid, waits };
}

export function parseControllerConfig({ spec }: KubeObject): Pick<ClusterSettings, "proxy" | "trustBundle"> {
  const proxy = objectAt(spec, "proxy") ?? {};
  return {
    proxy: {
      ...present("http", textAt(proxy, "httpProxy")),
      ...present("https", textAt(proxy, "httpsProxy")),
      ...present("no", textAt(proxy, "noProxy")),
    },
    trustBundle: decoded(textAt(spec, "additionalTrustBundle")),
  };
}

function present<Key extends string>(key: Key, value: string): { readonly [K in Key]?: string } | Record<never, never> {
  return value === "" ? {} : { [key]: value };
}

/** Fields of bytes are base64 in the API; any other text is used as it is. */
function decoded(text: string): string {
  try {
    return decodeBase64(text);
  } catch {
    return text;
  }
}

export function parsePayloadArchitecture({ status }: KubeObject): string {
  return textAt(objectAt(status, "desired"), "architecture");
}

/** Whether a Deployment has a pod, ready or not. Its `spec` does not say so: the webhook may refuse its pods. */
export function isRunningDeployment({ status }: KubeObject): boolean {
  return numberAt(status, "replicas") > 0;
}

export type PodWait = Pick<JobObservation, "starting" | "unschedulable">;

/** Reasons for which every container waits at first. */
const USUAL: readonly string[] = ["", "PodInitializing", "ContainerCreating"];
/** The kubelet alternates between these while an image cannot be pulled. */
const NO_IMAGE: readonly string[] = ["ErrImagePull", "ImagePullBackOff"];

export function parsePodWait(pod: KubeObject): PodWait | undefined {
  const [spec, status] = [objectAt(pod, "spec"), objectAt(pod, "status")];
  if (textAt(status, "phase") !== "Pending") return undefined;
  const conditions = parseConditions(status);
  const unschedulable = conditions.find(({ type, reason, status }) =>
    type === "PodScheduled" && status === "False" && reason === "Unschedulable"
  );
  if (unschedulable !== undefined) return { unschedulable: unschedulable.message };
  if (textAt(spec, "nodeName") === "") return undefined;
  const complaints = ["initContainerStatuses", "containerStatuses"].flatMap((list) =>
    (listAt(status, list) ?? []).flatMap(complaintOf)
  );
  // Containers start after every volume is mounted.
  const volumes = isTrue(conditions, "PodReadyToStartContainers") ? [] : optionalVolumes(spec);
  if (complaints.length === 0 && volumes.length === 0) return undefined;
  return { starting: { complaints, volumes } };
}

function complaintOf(container: unknown): readonly string[] {
  const waiting = objectAt(objectAt(container, "state"), "waiting");
  const reason = textAt(waiting, "reason");
  if (USUAL.includes(reason)) return [];
  if (NO_IMAGE.includes(reason)) return [`the image ${textAt(container, "image")} cannot be pulled`];
  return [`${reason}: ${textAt(waiting, "message")}`.slice(0, MAX_COMPLAINT)];
}

const MAX_COMPLAINT = 500;

function optionalVolumes(spec: unknown): readonly string[] {
  const names = (listAt(spec, "volumes") ?? []).map((volume) => memberOf(volume, "name"));
  return OPTIONAL_INPUTS.map(({ volume }) => volume).filter((volume) => names.includes(volume));
}
