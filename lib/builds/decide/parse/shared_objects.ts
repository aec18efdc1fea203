// The parts of other objects that builds read: shared settings of the machine config operator, the payload, its own builder,
// and pods that wait. Pure.
import type { ClusterSettings } from "../observed.ts";
import { parsePodWait, type PodWait } from "./pod.ts";
import { memberOf, objectAt, textAt } from "../../../json.ts";
import type { KubeObject } from "../../../k8s/types.ts";

export interface WaitingPod {
  readonly jobUid: string;
  readonly waits: PodWait;
}

/** Reads a pod; undefined unless it waits for something that can be said. */
export function waitingPod(pod: KubeObject): WaitingPod | undefined {
  const jobUid = pod.metadata.ownerReferences?.find(({ kind }) => kind === "Job")?.uid;
  const waits = parsePodWait(pod);
  return jobUid === undefined || waits === undefined ? undefined : { jobUid, waits };
}

export function parseSharedInputs({ spec }: KubeObject): Pick<ClusterSettings, "proxy" | "trustBundle"> {
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

/** Bytes are base64 in the API; a text that is none of it stands as it is. */
function decoded(text: string): string {
  try {
    return new TextDecoder().decode(Uint8Array.fromBase64(text));
  } catch {
    return text;
  }
}

export function parsePayload({ status }: KubeObject): string {
  return textAt(objectAt(status, "desired"), "architecture");
}

/** Whether a Deployment has a replica, ready or not; how many it should have says nothing where its pods are refused. */
export function isRunningDeployment({ status }: KubeObject): boolean {
  const replicas = memberOf(status, "replicas");
  return typeof replicas === "number" && replicas > 0;
}
