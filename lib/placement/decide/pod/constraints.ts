// The architectures a pod already requires in its nodeSelector and node affinity, including Archway's terms.
import { KNOWN_ARCHITECTURES } from "../../../arch.ts";
import { NODE_ARCH_LABEL, SCHEDULING_GATE } from "../../../names.ts";
import { meetsRequirement, parseRequirement } from "../../../vocabulary/label_selector.ts";
import { entryOf, type JsonObject, listAt, objectAt, textAt } from "../../../json.ts";
import type { PodView } from "./pod_view.ts";

/** The label, and its name before Kubernetes 1.14, which kubelets still set. */
const ARCH_LABELS: readonly string[] = [NODE_ARCH_LABEL, "beta.kubernetes.io/arch"];

export function isGated(pod: PodView): boolean {
  return pod.gates?.includes(SCHEDULING_GATE) === true;
}

/** Rule R: the architecture is already constrained by the nodeSelector or in every required term. */
export function hasRequiredArchitecture(pod: PodView): boolean {
  if (entryOf(pod.nodeSelector, NODE_ARCH_LABEL) !== undefined) return true;
  return pod.requiredTerms !== undefined && pod.requiredTerms.every((term) => hasExpression(term, NODE_ARCH_LABEL));
}

/** Rule P: a preferred term names the architecture. */
export function hasPreferredArchitecture(pod: PodView): boolean {
  return (pod.preferredTerms ?? []).some(prefersArchitecture);
}

/** Whether a required term has an expression on this key; its matchFields never count. */
export function hasExpression(term: JsonObject, key: string): boolean {
  return expressionsOf(term).some((expression) => textAt(expression, "key") === key);
}

/** Whether a required term is empty. It matches no node, and the API server refuses additions. */
export function isEmptyTerm(term: JsonObject): boolean {
  return expressionsOf(term).length === 0 && (listAt(term, "matchFields") ?? []).length === 0;
}

export function prefersArchitecture(term: JsonObject): boolean {
  const preference = objectAt(term, "preference");
  return preference !== undefined && hasExpression(preference, NODE_ARCH_LABEL);
}

/** The architectures that the given preferred terms name, whatever their operator. */
export function preferredArchitectures(terms: readonly JsonObject[]): readonly string[] {
  return terms.flatMap((term) => expressionsOf(objectAt(term, "preference") ?? {}))
    .filter((expression) => textAt(expression, "key") === NODE_ARCH_LABEL)
    .flatMap((expression) => listAt(expression, "values") ?? [])
    .filter((value) => typeof value === "string");
}

/** `value`: undefined for a node without the label. Gt and Lt, which label selectors lack, count as true. */
function holdsForLabel(expression: unknown, value: string | undefined): boolean {
  const requirement = parseRequirement(expression);
  return requirement === undefined || meetsRequirement(value, requirement);
}

/** The candidates that nodeSelector and required affinity allow; undefined when they name no architecture. */
export function allowedArchitectures(pod: PodView, candidates: readonly string[]): readonly string[] | undefined {
  const terms = pod.requiredTerms ?? [];
  const isSelected = ARCH_LABELS.some((label) => entryOf(pod.nodeSelector, label) !== undefined);
  if (!isSelected && !terms.some((term) => expressionsOf(term).some(isAboutArchitecture))) return undefined;
  return candidates.filter((architecture) =>
    ARCH_LABELS.every((label) => (entryOf(pod.nodeSelector, label) ?? architecture) === architecture) &&
    (terms.length === 0 || terms.some((term) => allows(term, architecture)))
  );
}

/** Most architectures that a pod's creator may name: more than any cluster has. */
const MAX_NAMED = 16;

/** {@link allowedArchitectures} of the candidates and the architectures that the pod names. */
export function pinnedArchitectures(
  pod: PodView,
  candidates: readonly string[] = KNOWN_ARCHITECTURES,
): readonly string[] | undefined {
  const selected = ARCH_LABELS.flatMap((label) => entryOf(pod.nodeSelector, label) ?? []);
  const listed = (pod.requiredTerms ?? []).flatMap(expressionsOf).filter(isAboutArchitecture)
    .flatMap((expression) => listAt(expression, "values") ?? []).filter((value) => typeof value === "string");
  const named = [...new Set([...selected, ...listed])].slice(0, MAX_NAMED);
  return allowedArchitectures(pod, [...new Set([...candidates, ...named])].sort());
}

/** Terms are ORed, the expressions of a term ANDed. Expressions about other labels exclude no architecture. */
export function allows(term: JsonObject, architecture: string): boolean {
  return expressionsOf(term).filter(isAboutArchitecture).every((expression) => holdsForLabel(expression, architecture));
}

function isAboutArchitecture(expression: unknown): boolean {
  return ARCH_LABELS.includes(textAt(expression, "key"));
}

/** The expressions of a term or preference; a malformed list reads as empty. */
export function expressionsOf(term: JsonObject): readonly unknown[] {
  return listAt(term, "matchExpressions") ?? [];
}
