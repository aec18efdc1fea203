// What a report reads of the template of a workload, and the architectures that it allows itself among that.
import { operatingSystemOf } from "../placement/decide/images.ts";
import { allowedArchitectures } from "../placement/decide/patch/constraints.ts";
import { ownRequirement } from "../placement/decide/patch/own_terms.ts";
import { pullScopeOf } from "../placement/decide/pod_refs.ts";
import type { PodView } from "../placement/decide/types.ts";
import type { TemplateFacts } from "./types.ts";

/** Reduces a pod, or the pod of a template, to what a report about the candidates reads of it. */
export function templateFacts(pod: PodView, candidates: readonly string[]): TemplateFacts {
  return { scope: pullScopeOf(pod), os: operatingSystemOf(pod), constrainedTo: ownConstraint(pod, candidates) };
}

/**
 * Those of the candidates that the pod allows; undefined when it says nothing of architectures, or says only what Archway
 * has written into it.
 */
export function ownConstraint(pod: PodView, candidates: readonly string[]): readonly string[] | undefined {
  return ownRequirement(pod) === undefined ? allowedArchitectures(pod, candidates) : undefined;
}
