// What image builds read from the cluster, as one reconcile sees it: objects reduced to what decisions depend on.
import type { MachineSet } from "../../vocabulary/machines.ts";
import type { Meta } from "../../vocabulary/meta.ts";
import type { Node } from "../../vocabulary/node.ts";
import type { KnownArchitecture } from "../../arch.ts";
import type { ChildConfig, ChildImage } from "../../publishing/decide/child.ts";

export interface ContainerFile {
  readonly arch: KnownArchitecture | "NoArch";
  readonly content: string;
}

/** What builds and their Jobs depend on of a Node: changes of anything else are ignored. */
export interface BuildNode
  extends Pick<Node, "name" | "labels" | "taints" | "reportedArchitecture" | "os" | "isSchedulable"> {
  /** Images that the node runs and is to run, by the machine config daemon's annotations; empty: none. */
  readonly currentImage: string;
  readonly desiredImage: string;
}

export interface BuildMachineSet extends Pick<MachineSet, "nodeLabels"> {
  /** `kubernetes.io/arch` that it announces to the cluster autoscaler; empty where it announces none. */
  readonly arch: string;
}

export interface StartingPod {
  /** What the kubelet reports as wrong; may be empty. */
  readonly complaints: readonly string[];
  /** Volumes of optional inputs that may not be mounted yet. */
  readonly volumes: readonly string[];
}

export interface DigestObservation {
  readonly meta: Meta;
  readonly digest: string;
  readonly jobUid: string;
}

export type SecretState = "usable" | "absent" | "not for a registry";

export interface ChildObject extends Pick<Meta, "name" | "uid" | "resourceVersion" | "labels" | "owners"> {
  readonly resource: "configMaps" | "secrets";
}

export interface ClusterSettings {
  /** `status.desired.architecture` of the ClusterVersion; empty: not multi-architecture. */
  readonly payloadArchitecture: string;
  readonly proxy: { readonly http?: string; readonly https?: string; readonly no?: string };
  readonly trustBundle: string;
}

export type RegistryQuestion =
  /** The image behind a reference that must be of one architecture: its digest and what its own config says. */
  | { readonly kind: "image"; readonly reference: string }
  | { readonly kind: "platforms"; readonly reference: string }
  | { readonly kind: "tag"; readonly reference: string }
  /** Whether the push secret may push there: `registry/repository`. */
  | { readonly kind: "push"; readonly repository: string };

/** The answer of a registry. Unknown is never taken for absent: it must cause neither a build nor a deletion. */
export type RegistryAnswer =
  | { readonly kind: "image" }
    & Pick<ChildImage, "digest" | "mediaType" | "size" | "platform">
    & Pick<ChildConfig, "labels">
  /** Architectures of its Linux images; digest of the index or manifest. */
  | { readonly kind: "platforms"; readonly architectures: readonly string[]; readonly digest: string }
  | { readonly kind: "exists"; readonly digest: string }
  | { readonly kind: "granted" }
  | { readonly kind: "absent" }
  | { readonly kind: "denied"; readonly message: string }
  /** The reference exists, but is not an image of one architecture, or can never be read. */
  | { readonly kind: "unusable"; readonly message: string }
  | { readonly kind: "unknown"; readonly message: string; readonly retryAfterMs?: number | undefined };

export interface RegistryWait {
  readonly kind: "wait";
  readonly message: string;
  readonly retryAfterMs?: number | undefined;
}

export function questionKey(question: RegistryQuestion): string {
  return `${question.kind} ${question.kind === "push" ? question.repository : question.reference}`;
}
