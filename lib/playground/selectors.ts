// Label and field selectors as the API server understands them: parsed once, then asked about each object.
import type { KubeObject } from "../k8s/types.ts";
import { isObject, listAt, textAt, textsAt } from "./json_value.ts";
import { badRequest } from "./status.ts";

/** Answers whether an object is selected. */
export type Selector = (object: KubeObject) => boolean;

/** Labels of an object. */
export type Labels = Readonly<Record<string, string>>;

/** Parses `a=b,c!=d,e in (f,g),h notin (i),j,!k`. Throws a 400 StatusError on anything else. */
export function parseLabelSelector(text: string): Selector {
  const requirements = splitRequirements(text).map(parseRequirement);
  return (object) => {
    const labels = textsAt(object, "metadata", "labels");
    return requirements.every((requirement) => requirement(labels));
  };
}

function splitRequirements(text: string): readonly string[] {
  return text.split(/,(?![^(]*\))/).map((part) => part.trim()).filter((part) => part !== "");
}

function parseRequirement(text: string): (labels: Labels) => boolean {
  const set = /^([^\s=!,()]+)\s+(in|notin)\s*\(([^)]*)\)$/.exec(text);
  if (set !== null) {
    const [, key = "", operator, list = ""] = set;
    return matchExpression({
      key,
      operator: operator === "in" ? "In" : "NotIn",
      values: list.split(",").map((v) => v.trim()),
    });
  }
  const equality = /^([^\s=!,()]+)\s*(==|=|!=)\s*([^\s=!,()]*)$/.exec(text);
  if (equality !== null) {
    const [, key = "", operator, value = ""] = equality;
    return matchExpression({ key, operator: operator === "!=" ? "NotIn" : "In", values: [value] });
  }
  const existence = /^(!?)\s*([^\s=!,()]+)$/.exec(text);
  if (existence === null) throw badRequest(`unable to parse requirement: "${text}"`);
  return matchExpression({
    key: existence[2] ?? "",
    operator: existence[1] === "!" ? "DoesNotExist" : "Exists",
    values: [],
  });
}

/** A label requirement as node affinity and label selectors state it. */
export interface LabelExpression {
  /** Label key. */
  readonly key: string;
  /** `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt`, `Lt`; anything else never matches. */
  readonly operator: string;
  /** Empty for the operators that take none. */
  readonly values: readonly string[];
}

/** The test of one requirement: In, NotIn (absent keys match), Exists, DoesNotExist, Gt, Lt. Unknown operators never match. */
export function matchExpression(expression: LabelExpression): (labels: Labels) => boolean {
  const { key, operator, values } = expression;
  const bound = Number(values[0]);
  return (labels) => {
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
    switch (operator) {
      case "In":
        return value !== undefined && values.includes(value);
      case "NotIn":
        return value === undefined || !values.includes(value);
      case "Exists":
        return value !== undefined;
      case "DoesNotExist":
        return value === undefined;
      case "Gt":
        return value !== undefined && /^-?\d+$/.test(value) && Number(value) > bound;
      case "Lt":
        return value !== undefined && /^-?\d+$/.test(value) && Number(value) < bound;
      default:
        return false;
    }
  };
}

/** Reads `{key, operator, values}` from parsed JSON. */
export function parseExpression(value: unknown): LabelExpression {
  return {
    key: textAt(value, "key") ?? "",
    operator: textAt(value, "operator") ?? "",
    values: listAt(value, "values").filter((item) => typeof item === "string"),
  };
}

/** Whether labels satisfy a LabelSelector object (`matchLabels`, `matchExpressions`). Absent or empty selects all. */
export function matchesLabelSelector(selector: unknown, labels: Labels): boolean {
  if (!isObject(selector)) return true;
  return Object.entries(textsAt(selector, "matchLabels")).every(([key, value]) => labels[key] === value) &&
    listAt(selector, "matchExpressions").every((item) => matchExpression(parseExpression(item))(labels));
}

const FIELD_PATH = /^(metadata|spec|status|involvedObject)\.[A-Za-z]+$|^(type|reason|source|reportingComponent)$/;

/** Parses `metadata.name=a,status.phase!=Running`: any two-step path of text, and the fields of events. 400 otherwise. */
export function parseFieldSelector(text: string): Selector {
  const tests = text.split(",").map((part) => part.trim()).filter((part) => part !== "").map((part) => {
    const match = /^([^=!]+?)(==|=|!=)(.*)$/.exec(part);
    const path = match?.[1] ?? "";
    if (!FIELD_PATH.test(path)) throw badRequest(`field label not supported: ${part}`);
    const wanted = match?.[3] ?? "";
    const positive = match?.[2] !== "!=";
    const steps = path === "source" ? ["source", "component"] : path.split(".");
    return (object: KubeObject) => ((textAt(object, ...steps) ?? "") === wanted) === positive;
  });
  return (object) => tests.every((test) => test(object));
}
