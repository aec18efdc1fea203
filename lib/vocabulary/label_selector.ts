// Label selectors and the expressions that they share with node selectors: parsed once, matched against many objects.
import { entryOf, isObject, listAt, memberOf } from "../json.ts";
import { assertNever } from "../parsed.ts";

export type Labels = Readonly<Record<string, string>>;

export interface LabelRequirement {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  readonly values: readonly string[];
}

/** A parsed label selector. `unparsable` selects nothing; its message says why. */
export type LabelSelector =
  | { readonly kind: "everything" }
  | { readonly kind: "requirements"; readonly requirements: readonly LabelRequirement[] }
  | { readonly kind: "unparsable"; readonly message: string };

export interface SelectorBounds {
  readonly labels: number;
  readonly expressions: number;
  readonly values: number;
}

/**
 * For selectors of editors of a namespace. The schema of PodPlacementConfig allows less, but larger ones may be stored.
 */
export const SELECTOR_BOUNDS: SelectorBounds = { labels: 64, expressions: 16, values: 64 };

/** For selectors that only administrators write, as in the schema of ClusterPodPlacementConfig. */
export const CLUSTER_SELECTOR_BOUNDS: SelectorBounds = { labels: 64, expressions: 64, values: 1_024 };

/** A prefix of 253 characters, a slash, a name of 63. */
const MAX_KEY_LENGTH = 317;
const EXCERPT_LENGTH = 100;

const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const PREFIX = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const OPERATORS = ["In", "NotIn", "Exists", "DoesNotExist"] as const;

/** Parses a LabelSelector. Absent, null and `{}` select everything; a faulty selector selects nothing and says why. */
export function parseSelector(raw: unknown, bounds: SelectorBounds = SELECTOR_BOUNDS): LabelSelector {
  if (raw === undefined || raw === null) return { kind: "everything" };
  if (!isObject(raw)) return unparsable("it is not an object");
  const matchLabels = memberOf(raw, "matchLabels") ?? {};
  const matchExpressions = memberOf(raw, "matchExpressions") ?? [];
  if (!isObject(matchLabels)) return unparsable("matchLabels is not an object");
  if (!Array.isArray(matchExpressions)) return unparsable("matchExpressions is not a list");
  const labels = Object.entries(matchLabels);
  // Checked before they are parsed, because the writer of a selector decides how large it is.
  const excess = excessOf({ labels, matchExpressions }, bounds);
  if (excess !== undefined) return unparsable(excess);
  const requirements: LabelRequirement[] = labels.map(([key, value]) => ({
    key,
    operator: "In",
    values: [texted(value)],
  }));
  for (const expression of matchExpressions) {
    const requirement = parseRequirement(expression);
    if (requirement === undefined) {
      return unparsable(`"${excerptOf(JSON.stringify(expression))}" is not an expression`);
    }
    requirements.push(requirement);
  }
  const fault = requirements.map(faultOf).find((message) => message !== undefined);
  if (fault !== undefined) return unparsable(fault);
  return requirements.length === 0 ? { kind: "everything" } : { kind: "requirements", requirements };
}

/** What a selector has too much of; undefined when it is within the bounds. */
function excessOf(
  { labels, matchExpressions }: { readonly labels: readonly unknown[]; readonly matchExpressions: readonly unknown[] },
  bounds: SelectorBounds,
): string | undefined {
  if (labels.length > bounds.labels) return `it has ${labels.length} labels, and at most ${bounds.labels} are read`;
  if (matchExpressions.length > bounds.expressions) {
    return `it has ${matchExpressions.length} expressions, and at most ${bounds.expressions} are read`;
  }
  const counts = matchExpressions.map((expression) => listAt(expression, "values")?.length ?? 0);
  const most = Math.max(0, ...counts);
  return most > bounds.values ? `an expression has ${most} values, and at most ${bounds.values} are read` : undefined;
}

export function matchesSelector(selector: LabelSelector, labels: Labels | undefined): boolean {
  if (selector.kind === "everything") return true;
  if (selector.kind === "unparsable") return false;
  return selector.requirements.every((requirement) => meetsRequirement(entryOf(labels, requirement.key), requirement));
}

/** A requirement whose values are found by one look-up, for requirements that are checked often. */
export interface IndexedRequirement extends Omit<LabelRequirement, "values"> {
  readonly values: ReadonlySet<string>;
}

export function meetsRequirement(
  value: string | undefined,
  { operator, values }: LabelRequirement | IndexedRequirement,
): boolean {
  const isNamed = (known: string): boolean => "has" in values ? values.has(known) : values.includes(known);
  switch (operator) {
    case "In":
      return value !== undefined && isNamed(value);
    case "NotIn":
      return value === undefined || !isNamed(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    default:
      return assertNever(operator);
  }
}

export function parseRequirement(raw: unknown): LabelRequirement | undefined {
  const key = memberOf(raw, "key");
  const operator = OPERATORS.find((known) => known === memberOf(raw, "operator"));
  const values = memberOf(raw, "values") ?? [];
  if (typeof key !== "string" || operator === undefined || !Array.isArray(values)) return undefined;
  return { key, operator, values: values.map(texted) };
}

/** Why a requirement is faulty; the rules are those of the API server's own selector parser. */
function faultOf({ key, operator, values }: LabelRequirement): string | undefined {
  if (key.length > MAX_KEY_LENGTH) return `"${excerptOf(key)}…" is not a label key`;
  const [prefix, name, ...more] = key.includes("/") ? key.split("/") : [undefined, key];
  const goodPrefix = prefix === undefined || (prefix.length <= 253 && PREFIX.test(prefix));
  if (!goodPrefix || !NAME.test(name ?? "") || more.length > 0) return `"${excerptOf(key)}" is not a label key`;
  const takesValues = operator === "In" || operator === "NotIn";
  if (takesValues && values.length === 0) return `${operator} on "${key}" has no values`;
  if (!takesValues && values.length > 0) return `${operator} on "${key}" takes no values`;
  const odd = values.find((value) => value !== "" && !NAME.test(value));
  return odd === undefined ? undefined : `"${excerptOf(odd)}" is not a label value`;
}

/** Returns a text as it is. For any other value, returns a text that cannot be a label value. */
function texted(value: unknown): string {
  return typeof value === "string" ? value : `(${typeof value})`;
}

/**
 * The beginning of a text, as a copy: a slice would keep the whole text in memory for as long as the message is kept.
 */
function excerptOf(text: string): string {
  return String(JSON.parse(JSON.stringify(text.slice(0, EXCERPT_LENGTH))));
}

function unparsable(why: string): LabelSelector {
  return {
    kind: "unparsable",
    message: `Cannot read the label selector: ${why}. It selects nothing until it is corrected.`,
  };
}
