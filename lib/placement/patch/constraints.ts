// What a pod's own node affinity already says of architectures: rules R and P (§1.3), and which terms are ours.
import { NO_SUPPORTED_ARCH, NODE_ARCH_LABEL, PodAnnotation, SCHEDULING_GATE } from "../../names.ts";
import type { RawObject } from "../config_types.ts";
import type { DecisionRecord } from "../decision_types.ts";
import type { PreferredTerm } from "../plan_types.ts";
import { entryOf, listAt, memberOf, objectAt, textAt } from "../raw.ts";
import { parseRecord } from "./record.ts";
import type { PodView } from "../types.ts";

/** Whether the pod carries Archway's scheduling gate. */
export function isGated(pod: PodView): boolean {
  return pod.gates?.includes(SCHEDULING_GATE) === true;
}

/** Rule R: the architecture is already constrained by the nodeSelector or in every required term. */
export function hasRequiredArchitecture(pod: PodView): boolean {
  if (entryOf(pod.nodeSelector, NODE_ARCH_LABEL) !== undefined) return true;
  return pod.requiredTerms !== undefined && pod.requiredTerms.every((term) => hasExpression(term, NODE_ARCH_LABEL));
}

/** Rule P: a preferred term speaks of the architecture. */
export function hasPreferredArchitecture(pod: PodView): boolean {
  return (pod.preferredTerms ?? []).some(prefersArchitecture);
}

/** Whether a required term has an expression on this key; its matchFields never count. */
export function hasExpression(term: RawObject, key: string): boolean {
  return expressionsOf(term).some((expression) => textAt(expression, "key") === key);
}

/** Whether a required term is empty: it matches no node, and the API server refuses to fill it (§10). */
export function isEmptyTerm(term: RawObject): boolean {
  return expressionsOf(term).length === 0 && (listAt(term, "matchFields") ?? []).length === 0;
}

/** Whether a preferred term has an expression on the architecture. */
export function prefersArchitecture(term: RawObject): boolean {
  const preference = objectAt(term, "preference");
  return preference !== undefined && hasExpression(preference, NODE_ARCH_LABEL);
}

/** The architectures that the given preferred terms name, whatever their operator. */
export function preferredArchitectures(terms: readonly RawObject[]): readonly string[] {
  return terms.flatMap((term) => expressionsOf(objectAt(term, "preference") ?? {}))
    .filter((expression) => textAt(expression, "key") === NODE_ARCH_LABEL)
    .flatMap((expression) => listAt(expression, "values") ?? [])
    .filter((value) => typeof value === "string");
}

/**
 * The pod's preferred terms, told apart: those that Archway itself added (the audit annotation says so, and they look
 * exactly as it makes them) and the user's (D9).
 */
export function splitPreferredTerms(
  pod: PodView,
): { readonly own: readonly PreferredTerm[]; readonly users: readonly RawObject[] } {
  const terms = pod.preferredTerms ?? [];
  const audit = (entryOf(pod.annotations, PodAnnotation.preferredSources) ?? "").split(",");
  if (terms.length === 0 || audit.length === 0) return { own: [], users: terms };
  const own: PreferredTerm[] = [];
  const users: RawObject[] = [];
  for (const term of terms) {
    const made = asMadeByUs(term);
    const audited = made !== undefined &&
      audit.some((entry) => entry.startsWith(`${made.architecture}:${made.weight}:`) && !entry.endsWith(":skipped"));
    if (made !== undefined && audited) own.push(made);
    else users.push(term);
  }
  return { own, users };
}

/**
 * The record of an earlier decision of ours that the pod's required terms still show: some term carries exactly the
 * recorded requirement, and the user's nodeSelector says nothing. undefined when there is none, or none that fits.
 */
export function ownRequirement(pod: PodView): DecisionRecord | undefined {
  const text = entryOf(pod.annotations, PodAnnotation.decision);
  if (text === undefined || entryOf(pod.nodeSelector, NODE_ARCH_LABEL) !== undefined) return undefined;
  const record = parseRecord(text);
  const terms = pod.requiredTerms ?? [];
  if (record === undefined) return undefined;
  return terms.some((term) => carries(term, record)) || isInParts(terms, record) ? record : undefined;
}

/** The architectures that an earlier decision of ours wrote into this term of the pod; undefined when it is the user's. */
export function ownArchitectures(pod: PodView, term: RawObject): readonly string[] | undefined {
  const record = ownRequirement(pod);
  if (record === undefined) return undefined;
  if (carries(term, record)) return record.architectures;
  return isInParts(pod.requiredTerms ?? [], record) ? partOf(term, record) : undefined;
}

/** Whether the terms share the recorded architectures out among them, as where some need a label besides (variants). */
function isInParts(terms: readonly RawObject[], record: DecisionRecord): boolean {
  if (record.decision !== "place") return false;
  const parts = terms.map((term) => partOf(term, record));
  return parts.every((part) => part !== undefined) && sameTexts(parts.flat().toSorted(), record.architectures);
}

/** The values of a term's first expression on the architecture, when all are recorded ones. */
function partOf(term: RawObject, { architectures }: DecisionRecord): readonly string[] | undefined {
  const first = expressionsOf(term).find((one) => textAt(one, "key") === NODE_ARCH_LABEL);
  if (first === undefined || memberOf(first, "operator") !== "In") return undefined;
  const values = listAt(first, "values") ?? [];
  const known = architectures.filter((name) => values.includes(name));
  return known.length === values.length ? known : undefined;
}

/** Whether the architecture in the pod's required terms is, at least in part, an earlier decision of ours. */
export function isConstrainedByUs(pod: PodView): boolean {
  return ownRequirement(pod) !== undefined;
}

/** Whether a required term carries exactly the requirement that a record speaks of. */
function carries(term: RawObject, record: DecisionRecord): boolean {
  if (record.decision === "preset" || record.decision === "release") return false;
  const nowhere = record.decision === "nowhere";
  return expressionsOf(term).some((expression) => {
    const key = textAt(expression, "key");
    const values = listAt(expression, "values") ?? [];
    if (nowhere) return key === NO_SUPPORTED_ARCH && memberOf(expression, "operator") === "Exists";
    return key === NODE_ARCH_LABEL && memberOf(expression, "operator") === "In" &&
      sameTexts(values, record.architectures);
  });
}

/** The expressions of a term or preference; a malformed list reads as empty. */
export function expressionsOf(term: RawObject): readonly unknown[] {
  return listAt(term, "matchExpressions") ?? [];
}

function sameTexts(left: readonly unknown[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((value, index) => value === right[index]);
}

function asMadeByUs(term: RawObject): PreferredTerm | undefined {
  const weight = memberOf(term, "weight");
  const preference = objectAt(term, "preference");
  const expressions = preference === undefined ? [] : expressionsOf(preference);
  const [architecture, ...more] = preferredArchitectures([term]);
  const plain = typeof weight === "number" && expressions.length === 1 && more.length === 0 &&
    textAt(expressions[0], "operator") === "In" && listAt(preference, "matchFields") === undefined;
  return plain && architecture !== undefined ? { weight, architecture } : undefined;
}
