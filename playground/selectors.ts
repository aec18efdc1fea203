// The selectors of lists and watches as they stand in a URL: texts about labels, and about fields.
import { type LabelRequirement, matchesSelector } from "../lib/vocabulary/label_selector.ts";
import type { KubeObject } from "../lib/k8s/types.ts";
import { textAtPath } from "./json_path.ts";
import { badRequest } from "./status_error.ts";

export type Selector = (object: KubeObject) => boolean;

const EXISTENCE = /^(!?)\s*([^\s=!,()]+)$/;
const COMPARISON = /^([^\s=!,()]+)\s*(==|=|!=|\bin\b|\bnotin\b)\s*(?:\(([^)]*)\)|([^\s=!,()]*))$/;

/** Parses `a=b,c!=d,e in (f,g),h notin (i),j,!k`. Throws a 400 StatusError on anything else. */
export function parseLabelSelector(text: string): Selector {
  const parts = text.match(/(?:\([^)]*\)?|[^,(])+/g) ?? [];
  const requirements = parts.map((part) => part.trim()).filter((part) => part !== "").map(parseRequirement);
  return ({ metadata: { labels } }) => matchesSelector({ kind: "requirements", requirements }, labels);
}

function parseRequirement(text: string): LabelRequirement {
  const [, not, present] = EXISTENCE.exec(text) ?? [];
  if (present !== undefined) return { key: present, operator: not === "!" ? "DoesNotExist" : "Exists", values: [] };
  const [, key, operator = "", list, value = ""] = COMPARISON.exec(text) ?? [];
  if (key === undefined) throw badRequest(`unable to parse requirement: "${text}"`);
  const values = list === undefined ? [value] : list.split(",").map((each) => each.trim());
  return { key, operator: ["!=", "notin"].includes(operator) ? "NotIn" : "In", values };
}

const FIELD =
  /^((?:metadata|spec|status|involvedObject)\.[A-Za-z]+|type|reason|source|reportingComponent)(==|=|!=)(.*)$/;

/**
 * Parses `metadata.name=a,status.phase!=Running`: any two-step path of text, and the fields of events. 400 otherwise.
 */
export function parseFieldSelector(text: string): Selector {
  const tests = text.split(",").map((part) => part.trim()).filter((part) => part !== "").map((part): Selector => {
    const [, path, operator, wanted] = FIELD.exec(part) ?? [];
    if (path === undefined) throw badRequest(`field label not supported: ${part}`);
    const steps = path === "source" ? ["source", "component"] : path.split(".");
    return (object) => ((textAtPath(object, ...steps) ?? "") === wanted) === (operator !== "!=");
  });
  return (object) => tests.every((test) => test(object));
}
