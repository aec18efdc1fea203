// The types of a report about a cluster: workloads, the architectures that their images support, and what blocks one.
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
  /** Those of them that are mounted as volumes and run in no container. */
  readonly volumes: readonly string[];
}

export interface ImageSupport {
  readonly image: string;
  /** Empty when it could not be inspected. */
  readonly digest: string;
  /** The image's architectures for the operating system of the workload; all candidates for data that runs anywhere. */
  readonly architectures: readonly string[];
  /** Those on which its program was seen to fail although the image names them. */
  readonly failedOn: readonly string[];
  readonly failure?: Pick<RegistryFailure, "kind" | "reason" | "message"> | undefined;
}

export interface WorkloadSupport extends WorkloadName, Pick<TemplateFacts, "constrainedTo"> {
  readonly images: readonly ImageSupport[];
  /** Where it runs, of the candidates or of those that it names. An image that could not be inspected excludes none. */
  readonly architectures: readonly string[];
  readonly isKnown: boolean;
}

/** One reason why a workload does not run on an architecture, or why that is not known. */
export type Blocker =
  | { readonly kind: "lacking"; readonly image: string; readonly architectures: readonly string[] }
  | { readonly kind: "failed"; readonly image: string }
  | { readonly kind: "constrained"; readonly to: readonly string[] }
  | { readonly kind: "unknown"; readonly image: string; readonly reason: string };
