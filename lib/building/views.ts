// The parts of other objects that builds read: shared settings of the machine config operator, the payload, its own builder,
// and pods that no node takes. Pure.
import type { ClusterSettings } from "../image_builds/observed.ts";
import { unschedulableOf } from "../image_builds/parse/job.ts";
import { memberOf, objectAt, textAt } from "../json.ts";
import type { KubeObject } from "../k8s/types.ts";

/** A pod of a build for which there is no node. */
export interface WaitingPod {
  readonly jobUid: string;
  /** The scheduler's message. */
  readonly message: string;
}

/** Reads a pod; undefined unless it waits for a node. */
export function unschedulablePod(pod: KubeObject): WaitingPod | undefined {
  const jobUid = pod.metadata.ownerReferences?.find(({ kind }) => kind === "Job")?.uid;
  const message = unschedulableOf(pod);
  return jobUid === undefined || message === undefined ? undefined : { jobUid, message };
}

/** Proxy and trust bundle of a ControllerConfig. */
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

/** `status.desired.architecture` of a ClusterVersion. */
export function parsePayload({ status }: KubeObject): string {
  return textAt(objectAt(status, "desired"), "architecture");
}

/** Whether a Deployment has a ready replica. */
export function isReadyDeployment({ status }: KubeObject): boolean {
  const ready = memberOf(status, "readyReplicas");
  return typeof ready === "number" && ready > 0;
}
