// Label selectors and the expressions that they share with node selectors: parsed once, matched against many objects.
import { entryOf, isObject, memberOf } from "../json.ts";
import { unreachable } from "../unreachable.ts";

/** The labels of an object, as it states them. */
export type Labels = Readonly<Record<string, string>>;

/** One requirement of a parsed label selector, or one expression of a node selector term. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  /** Empty for Exists and DoesNotExist. */
  readonly values: readonly string[];
}

/** A parsed label selector. `unparsable` selects nothing; its message says why. */
export type LabelSelector =
  | { readonly kind: "everything" }
  | { readonly kind: "requirements"; readonly requirements: readonly LabelRequirement[] }
  | { readonly kind: "unparsable"; readonly message: string };

const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const PREFIX = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const OPERATORS = ["In", "NotIn", "Exists", "DoesNotExist"] as const;

/** Parses a LabelSelector. Absent, null and `{}` select everything; a faulty one selects nothing and says why. */
export function parseSelector(raw: unknown): LabelSelector {
  if (raw === undefined || raw === null) return { kind: "everything" };
  if (!isObject(raw)) return unparsable("it is not an object");
  const requirements: LabelRequirement[] = [];
  const matchLabels = memberOf(raw, "matchLabels") ?? {};
  const matchExpressions = memberOf(raw, "matchExpressions") ?? [];
  if (!isObject(matchLabels)) return unparsable("matchLabels is not an object");
  if (!Array.isArray(matchExpressions)) return unparsable("matchExpressions is not a list");
  for (const [key, value] of Object.entries(matchLabels)) {
    requirements.push({ key, operator: "In", values: [texted(value)] });
  }
  for (const expression of matchExpressions) {
    const requirement = parseRequirement(expression);
    if (requirement === undefined) {
      return unparsable(`"${JSON.stringify(expression).slice(0, 100)}" is not an expression`);
    }
    requirements.push(requirement);
  }
  const fault = requirements.map(faultOf).find((message) => message !== undefined);
  if (fault !== undefined) return unparsable(fault);
  return requirements.length === 0 ? { kind: "everything" } : { kind: "requirements", requirements };
}

/** Whether a selector selects an object with these labels. */
export function matchesSelector(selector: LabelSelector, labels: Labels | undefined): boolean {
  if (selector.kind === "everything") return true;
  if (selector.kind === "unparsable") return false;
  return selector.requirements.every((requirement) => meetsRequirement(entryOf(labels, requirement.key), requirement));
}

/** Whether the value of a label meets a requirement on it; undefined, a missing label, meets NotIn and DoesNotExist. */
export function meetsRequirement(value: string | undefined, { operator, values }: LabelRequirement): boolean {
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    default:
      return unreachable(operator);
  }
}

/** Reads `{key, operator, values}`; undefined when it is none of the four operators of a selector, or malformed. */
export function parseRequirement(raw: unknown): LabelRequirement | undefined {
  const key = memberOf(raw, "key");
  const operator = OPERATORS.find((known) => known === memberOf(raw, "operator"));
  const values = memberOf(raw, "values") ?? [];
  if (typeof key !== "string" || operator === undefined || !Array.isArray(values)) return undefined;
  return { key, operator, values: values.map(texted) };
}

/** Why a requirement is faulty; the rules are those of the API server's own selector parser. */
function faultOf({ key, operator, values }: LabelRequirement): string | undefined {
  const [prefix, name, ...more] = key.includes("/") ? key.split("/") : [undefined, key];
  const goodPrefix = prefix === undefined || (prefix.length <= 253 && PREFIX.test(prefix));
  if (!goodPrefix || !NAME.test(name ?? "") || more.length > 0) return `"${key.slice(0, 100)}" is not a label key`;
  const takesValues = operator === "In" || operator === "NotIn";
  if (takesValues && values.length === 0) return `${operator} on "${key}" has no values`;
  if (!takesValues && values.length > 0) return `${operator} on "${key}" takes no values`;
  const odd = values.find((value) => value !== "" && !NAME.test(value));
  return odd === undefined ? undefined : `"${odd.slice(0, 100)}" is not a label value`;
}

/** A text as it is; anything else as something no label value can be. */
function texted(value: unknown): string {
  return typeof value === "string" ? value : `(${typeof value})`;
}

function unparsable(why: string): LabelSelector {
  return {
    kind: "unparsable",
    message: `Cannot read the label selector: ${why}. It selects nothing until it is corrected.`,
  };
}
