// A PodDisruptionBudget, parsed.
import { memberOf, objectAt } from "../json.ts";
import { type LabelSelector, parseSelector } from "./label_selector.ts";
import type { KubeObject } from "./meta.ts";

export interface DisruptionBudget {
  readonly namespace: string;
  readonly name: string;
  /** A number or a percentage; undefined where it is not set. */
  readonly maxUnavailable: number | string | undefined;
  readonly minAvailable: number | string | undefined;
  /** undefined without a selector, which selects no pod; an empty one selects every pod of the namespace. */
  readonly selector: LabelSelector | undefined;
}

export function parseDisruptionBudget(object: KubeObject): DisruptionBudget {
  const spec = objectAt(object, "spec");
  const { namespace = "", name } = object.metadata;
  const selector = memberOf(spec, "selector") ?? undefined;
  return {
    namespace,
    name,
    maxUnavailable: amountOf(memberOf(spec, "maxUnavailable")),
    minAvailable: amountOf(memberOf(spec, "minAvailable")),
    selector: selector === undefined ? undefined : parseSelector(selector),
  };
}

function amountOf(amount: unknown): number | string | undefined {
  return typeof amount === "number" || typeof amount === "string" ? amount : undefined;
}
