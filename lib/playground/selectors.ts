// The selectors of lists and watches as the API server parses them: texts about labels, and about fields.
import { entryOf } from "../json.ts";
import { type LabelRequirement, meetsRequirement } from "../k8s/label_selector.ts";
import type { KubeObject } from "../k8s/types.ts";
import { textAt, textsAt } from "./json_value.ts";
import { badRequest } from "./status.ts";

/** Answers whether an object is selected. */
export type Selector = (object: KubeObject) => boolean;

/** Parses `a=b,c!=d,e in (f,g),h notin (i),j,!k`. Throws a 400 StatusError on anything else. */
export function parseLabelSelector(text: string): Selector {
  const requirements = splitRequirements(text).map(parseTextRequirement);
  return (object) => {
    const labels = textsAt(object, "metadata", "labels");
    return requirements.every((requirement) => meetsRequirement(entryOf(labels, requirement.key), requirement));
  };
}

function splitRequirements(text: string): readonly string[] {
  return text.split(/,(?![^(]*\))/).map((part) => part.trim()).filter((part) => part !== "");
}

function parseTextRequirement(text: string): LabelRequirement {
  const set = /^([^\s=!,()]+)\s+(in|notin)\s*\(([^)]*)\)$/.exec(text);
  if (set !== null) {
    const [, key = "", operator, list = ""] = set;
    return { key, operator: operator === "in" ? "In" : "NotIn", values: list.split(",").map((value) => value.trim()) };
  }
  const equality = /^([^\s=!,()]+)\s*(==|=|!=)\s*([^\s=!,()]*)$/.exec(text);
  if (equality !== null) {
    const [, key = "", operator, value = ""] = equality;
    return { key, operator: operator === "!=" ? "NotIn" : "In", values: [value] };
  }
  const existence = /^(!?)\s*([^\s=!,()]+)$/.exec(text);
  if (existence === null) throw badRequest(`unable to parse requirement: "${text}"`);
  return { key: existence[2] ?? "", operator: existence[1] === "!" ? "DoesNotExist" : "Exists", values: [] };
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
