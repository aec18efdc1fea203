// Which terms of a pod's node affinity an earlier decision wrote and may narrow; all others are the user's. A recorded
// term must be exactly what Archway writes, because annotations can be copied to other pods.
import { NO_SUPPORTED_ARCH, NODE_ARCH_LABEL, PodAnnotation } from "../../../names.ts";
import type { DecisionRecord, PreferredTerm } from "../decision_types.ts";
import { entryOf, type JsonObject, listAt, memberOf, objectAt, textAt } from "../../../json.ts";
import type { PodView } from "./pod_view.ts";
import { expressionsOf, preferredArchitectures } from "./constraints.ts";

/** Archway's earlier decision that is still in the pod's required terms. */
export interface ArchwaysRequirement {
  readonly record: DecisionRecord;
  /** The architectures that the decision wrote into a term; undefined for a user's term. */
  readonly architecturesOf: (term: JsonObject) => readonly string[] | undefined;
}

/** Found if one term has the recorded requirement or all terms divide it, and no nodeSelector names an architecture. */
export function archwaysRequirement(pod: PodView): ArchwaysRequirement | undefined {
  const { record, requiredTerms: terms = [] } = pod;
  if (record === undefined || terms.length === 0 || entryOf(pod.nodeSelector, NODE_ARCH_LABEL) !== undefined) return;
  if (terms.some((term) => carries(term, record))) {
    return { record, architecturesOf: (term) => carries(term, record) ? record.architectures : undefined };
  }
  const recorded = new Set(record.architectures);
  const parts = new Map(terms.map((term) => [term, partOf(term, recorded)]));
  const all = [...parts.values()];
  const isShared = record.decision === "place" && all.every((part) => part !== undefined) &&
    isSame(all.flat().toSorted(), record.architectures);
  return isShared ? { record, architecturesOf: (term) => parts.get(term) } : undefined;
}

/** The pod without an earlier decision's architecture requirement, even if a queue has added a nodeSelector since. */
export function withoutArchwaysRequirement(pod: PodView): PodView {
  if (archwaysRequirement({ ...pod, nodeSelector: undefined }) === undefined) return pod;
  const requiredTerms = pod.requiredTerms?.map((term) => ({
    matchExpressions: expressionsOf(term).filter((expression) => textAt(expression, "key") !== NODE_ARCH_LABEL),
  }));
  return { ...pod, record: undefined, requiredTerms };
}

/** Splits preferred terms into Archway's and the user's. Archway's are in its annotation and have its form. */
export function splitPreferredTerms(
  pod: PodView,
): { readonly own: readonly PreferredTerm[]; readonly users: readonly JsonObject[] } {
  const recorded = (entryOf(pod.annotations, PodAnnotation.preferredSources) ?? "").split(",");
  const applied = new Set(
    recorded.filter((entry) => !entry.endsWith(":skipped")).map((entry) => entry.split(":", 2).join(":")),
  );
  const own: PreferredTerm[] = [];
  const users: JsonObject[] = [];
  for (const term of pod.preferredTerms ?? []) {
    const made = asMadeByUs(term);
    if (made !== undefined && applied.has(`${made.architecture}:${made.weight}`)) own.push(made);
    else users.push(term);
  }
  return { own, users };
}

function carries(term: JsonObject, { decision, architectures }: DecisionRecord): boolean {
  if (decision === "user-constrained" || decision === "release") return false;
  const nowhere = decision === "nowhere";
  return expressionsOf(term).some((expression) => {
    const key = textAt(expression, "key");
    const operator = textAt(expression, "operator");
    if (nowhere) return key === NO_SUPPORTED_ARCH && operator === "Exists";
    return key === NODE_ARCH_LABEL && operator === "In" && isSame(listAt(expression, "values") ?? [], architectures);
  });
}

/** The values of a term's first architecture expression, if all are recorded. */
function partOf(term: JsonObject, recorded: ReadonlySet<string>): readonly string[] | undefined {
  const first = expressionsOf(term).find((one) => textAt(one, "key") === NODE_ARCH_LABEL);
  if (first === undefined || textAt(first, "operator") !== "In") return undefined;
  const values = (listAt(first, "values") ?? []).filter((value) => typeof value === "string");
  return values.length > 0 && values.every((value) => recorded.has(value)) ? values : undefined;
}

function isSame(left: readonly unknown[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((value, index) => value === right[index]);
}

function asMadeByUs(term: JsonObject): PreferredTerm | undefined {
  const weight = memberOf(term, "weight");
  const preference = objectAt(term, "preference");
  const expressions = preference === undefined ? [] : expressionsOf(preference);
  const [architecture, ...more] = preferredArchitectures([term]);
  const plain = typeof weight === "number" && expressions.length === 1 && more.length === 0 &&
    textAt(expressions[0], "operator") === "In" && listAt(preference, "matchFields") === undefined;
  return plain && architecture !== undefined ? { weight, architecture } : undefined;
}
