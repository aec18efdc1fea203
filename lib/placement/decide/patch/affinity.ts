// JSON Patch operations that narrow a pod's node affinity. They only append expressions and terms.
import type {
  V1NodeAffinity,
  V1NodeSelectorRequirement,
  V1NodeSelectorTerm,
  V1PreferredSchedulingTerm,
} from "@kubernetes/client-node";
import type { LabelRequirement } from "../../../vocabulary/label_selector.ts";
import { type JsonPatch, type PatchOperation, pointer } from "../../../k8s/patch.ts";
import type { Wire } from "../../../k8s/types.ts";
import { NO_SUPPORTED_ARCH, NODE_ARCH_LABEL } from "../../../names.ts";
import { expressionsOf, hasExpression, isEmptyTerm } from "../pod/constraints.ts";
import { type ArchwaysRequirement, archwaysRequirement } from "../pod/archways_terms.ts";
import type { ArchitectureRequirement, PreferredTerm } from "../decision_types.ts";
import { type JsonObject, listAt } from "../../../json.ts";
import type { PodView } from "../pod/pod_view.ts";

const NODE_AFFINITY = ["spec", "affinity", "nodeAffinity"] as const;
const REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution";

export const REQUIRED_TERMS_POINTER: string = pointer(...NODE_AFFINITY, REQUIRED, "nodeSelectorTerms");

export const PREFERRED_TERMS_POINTER: string = pointer(...NODE_AFFINITY, PREFERRED);

/** Matches no node, for images without a common architecture. */
export const NOWHERE_REQUIREMENT: LabelRequirement = { key: NO_SUPPORTED_ARCH, operator: "Exists", values: [] };

/** `kubernetes.io/arch In […]`. */
export function architectureRequirement(architectures: readonly string[]): LabelRequirement {
  return { key: NODE_ARCH_LABEL, operator: "In", values: architectures };
}

/** Expressions for existing terms, and new terms if there are none. */
export interface RequiredAddition {
  /** Appended together to each term that lacks the key of the first expression, or that may be narrowed. */
  readonly expressions: readonly [LabelRequirement, ...LabelRequirement[]];
  readonly newTerms: readonly Wire<V1NodeSelectorTerm>[];
}

/** The addition for a set of architectures, with the labels for their variants. */
export function requiredAddition({ architectures, variants }: ArchitectureRequirement): RequiredAddition {
  const main = architectureRequirement(architectures);
  const [variant] = variants;
  if (variant === undefined) return plainAddition(main);
  // Existing terms cannot be split by architecture: they get one architecture, or only ones without a label.
  const expressions = architectures.length === 1 ? [main, variant.requirement] as const : [main] as const;
  const plain = architectures.filter((architecture) => variants.every((one) => one.architecture !== architecture));
  const newTerms = variants.map((one) => termOf(architectureRequirement([one.architecture]), one.requirement));
  return {
    expressions,
    newTerms: plain.length === 0 ? newTerms : [termOf(architectureRequirement(plain)), ...newTerms],
  };
}

export function plainAddition(requirement: LabelRequirement): RequiredAddition {
  return { expressions: [requirement], newTerms: [termOf(requirement)] };
}

interface AffinityChanges {
  readonly required?: RequiredAddition | undefined;
  readonly preferred: readonly PreferredTerm[];
  /** The architectures of a term that may be narrowed. Default: those that an earlier decision wrote into it. */
  readonly architecturesOf?: ArchwaysRequirement["architecturesOf"] | undefined;
}

export function affinityOperations(
  pod: PodView,
  { required, preferred, architecturesOf = archwaysRequirement(pod)?.architecturesOf }: AffinityChanges,
): JsonPatch {
  const terms = preferred.map(preferredTerm);
  if (!pod.hasNodeAffinity) return makeNodeAffinity(pod, required, terms);
  return [
    ...(required === undefined ? [] : requiredOperations(pod, required, architecturesOf)),
    ...preferredOperations(pod, terms),
  ];
}

function makeNodeAffinity(
  pod: PodView,
  required: RequiredAddition | undefined,
  preferred: readonly Wire<V1PreferredSchedulingTerm>[],
): JsonPatch {
  const nodeAffinity: Wire<V1NodeAffinity> = {
    ...(required === undefined ? {} : { [REQUIRED]: { nodeSelectorTerms: required.newTerms } }),
    ...(preferred.length === 0 ? {} : { [PREFERRED]: preferred }),
  };
  if (Object.keys(nodeAffinity).length === 0) return [];
  return [
    pod.hasAffinity
      ? { op: "add", path: pointer(...NODE_AFFINITY), value: nodeAffinity }
      : { op: "add", path: "/spec/affinity", value: { nodeAffinity } },
  ];
}

function requiredOperations(
  { requiredTerms: terms }: PodView,
  addition: RequiredAddition,
  architecturesOf: ArchwaysRequirement["architecturesOf"] | undefined,
): JsonPatch {
  const nodeSelectorTerms = addition.newTerms;
  if (terms === undefined) {
    return [{ op: "add", path: pointer(...NODE_AFFINITY, REQUIRED), value: { nodeSelectorTerms } }];
  }
  if (terms.length === 0) return [{ op: "add", path: REQUIRED_TERMS_POINTER, value: nodeSelectorTerms }];
  if (JSON.stringify(terms) === JSON.stringify(nodeSelectorTerms)) return [];
  return terms.flatMap((term, index) =>
    isEmptyTerm(term) || staysAsIs(term, addition, architecturesOf?.(term)) ? [] : termOperations(term, index, addition)
  );
}

function termOperations(term: JsonObject, index: number, addition: RequiredAddition): JsonPatch {
  const path = REQUIRED_TERMS_POINTER + pointer(index, "matchExpressions");
  const expressions = addition.expressions.map(expressionOf);
  if (listAt(term, "matchExpressions") === undefined) return [{ op: "add", path, value: expressions }];
  return expressions.map((value): PatchOperation => ({ op: "add", path: `${path}/-`, value }));
}

/** A term with the key is the user's and stays, unless it is too wide and may be narrowed. */
function staysAsIs(
  term: JsonObject,
  { expressions }: RequiredAddition,
  architectures: readonly string[] | undefined,
): boolean {
  const [main, ...further] = expressions;
  if (!hasExpression(term, main.key)) return false;
  if (architectures === undefined) return true;
  const isWide = main.operator === "In" && architectures.some((name) => !main.values.includes(name));
  return !isWide && further.every((one) => isStated(term, one));
}

function isStated(term: JsonObject, requirement: LabelRequirement): boolean {
  const wanted = JSON.stringify(expressionOf(requirement));
  return expressionsOf(term).some((expression) => JSON.stringify(expression) === wanted);
}

function preferredOperations(pod: PodView, terms: readonly Wire<V1PreferredSchedulingTerm>[]): JsonPatch {
  if (terms.length === 0) return [];
  if (pod.preferredTerms === undefined) return [{ op: "add", path: PREFERRED_TERMS_POINTER, value: terms }];
  return terms.map((value): PatchOperation => ({ op: "add", path: `${PREFERRED_TERMS_POINTER}/-`, value }));
}

function preferredTerm({ weight, architecture }: PreferredTerm): Wire<V1PreferredSchedulingTerm> {
  return { weight, preference: termOf(architectureRequirement([architecture])) };
}

function termOf(...requirements: readonly LabelRequirement[]): Wire<V1NodeSelectorTerm> {
  return { matchExpressions: requirements.map(expressionOf) };
}

function expressionOf({ key, operator, values }: LabelRequirement): Wire<V1NodeSelectorRequirement> {
  return values.length === 0 ? { key, operator } : { key, operator, values };
}
