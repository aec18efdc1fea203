// The types of a report about a cluster: workloads, the architectures of their images, and what blocks a workload.
import type { RegistryFailure } from "../../oci/errors.ts";
import type { PullIdentity } from "../../vocabulary/pull_identity.ts";

export interface WorkloadName {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** As users name a workload: `Deployment shop/web`. */
export function workloadNameOf({ kind, namespace, name }: WorkloadName): string {
  return `${kind} ${namespace}/${name}`;
}

/** What is kept of a template's pod; the rest may be more than a megabyte. */
export interface TemplateFacts {
  readonly identity: PullIdentity;
  readonly os: string;
  readonly runtimeClassName: string;
  /** The architectures that the user's own constraints allow; absent when they name none. */
  readonly constrainedTo?: readonly string[] | undefined;
}

export interface Workload extends WorkloadName, TemplateFacts {
  /** Distinct images: those of the template, then those that only its running pods have. */
  readonly images: readonly string[];
  /** The images that are mounted as volumes and run in no container. */
  readonly volumes: readonly string[];
}

export interface ImageSupport {
  readonly image: string;
  /** Empty when it could not be inspected. */
  readonly digest: string;
  /** The image's architectures for the workload's operating system and RuntimeClass; all for mere data. */
  readonly architectures: readonly string[];
  /** Architectures that the image names, but on which its program was seen to fail. */
  readonly failedOn: readonly string[];
  readonly failure?: Pick<RegistryFailure, "kind" | "reason" | "message"> | undefined;
}

export interface WorkloadSupport extends WorkloadName, Pick<TemplateFacts, "constrainedTo"> {
  readonly images: readonly ImageSupport[];
  /** The candidates, or architectures of its constraint, on which it runs. An uninspected image excludes none. */
  readonly architectures: readonly string[];
  readonly isKnown: boolean;
}

/** One reason why a workload does not run on an architecture, or why that is not known. */
export type Blocker =
  | { readonly kind: "lacking"; readonly image: string; readonly architectures: readonly string[] }
  | { readonly kind: "failed"; readonly image: string }
  | { readonly kind: "constrained"; readonly to: readonly string[] }
  | { readonly kind: "unknown"; readonly image: string; readonly reason: string };
