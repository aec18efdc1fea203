// What a report reads of the template of a workload, and the architectures that it allows itself among that, by its nodeSelector
// and its required node affinity.
import { entryOf, type JsonObject, textAt } from "../json.ts";
import { NODE_ARCH_LABEL } from "../names.ts";
import { operatingSystemOf } from "../placement/images.ts";
import { expressionsOf, holdsForLabel } from "../placement/patch/constraints.ts";
import { ownRequirement } from "../placement/patch/own_terms.ts";
import { pullScopeOf } from "../placement/pod_refs.ts";
import type { PodView } from "../placement/types.ts";
import type { TemplateFacts } from "./types.ts";

/** The label, and its name before Kubernetes 1.14, which kubelets still set. */
const ARCH_LABELS: readonly string[] = [NODE_ARCH_LABEL, "beta.kubernetes.io/arch"];

/** Reduces a pod, or the pod of a template, to what a report about the candidates reads of it. */
export function templateFacts(pod: PodView, candidates: readonly string[]): TemplateFacts {
  return { scope: pullScopeOf(pod), os: operatingSystemOf(pod), constrainedTo: ownConstraint(pod, candidates) };
}

/**
 * Those of the candidates that the pod allows; undefined when it says nothing of architectures, or says only what Archway
 * has written into it.
 */
export function ownConstraint(pod: PodView, candidates: readonly string[]): readonly string[] | undefined {
  const terms = pod.requiredTerms ?? [];
  const isSelected = ARCH_LABELS.some((label) => entryOf(pod.nodeSelector, label) !== undefined);
  if (!isSelected && !terms.some((term) => expressionsOf(term).some(isAboutArchitecture))) return undefined;
  if (ownRequirement(pod) !== undefined) return undefined;
  return candidates.filter((architecture) =>
    ARCH_LABELS.every((label) => (entryOf(pod.nodeSelector, label) ?? architecture) === architecture) &&
    (terms.length === 0 || terms.some((term) => allows(term, architecture)))
  );
}

/** Terms are alternatives; the expressions of one hold together. Expressions about other labels exclude no architecture. */
function allows(term: JsonObject, architecture: string): boolean {
  return expressionsOf(term).filter(isAboutArchitecture).every((expression) => holdsForLabel(expression, architecture));
}

function isAboutArchitecture(expression: unknown): boolean {
  return ARCH_LABELS.includes(textAt(expression, "key"));
}
