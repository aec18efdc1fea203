// A PodDisruptionBudget, parsed.
import * as z from "zod";
import { memberOf } from "../json.ts";
import { parseSelector } from "./label_selector.ts";
import type { KubeObject } from "./meta.ts";
import { kubeObject } from "./schema.ts";

const DisruptionBudgetSchema = kubeObject.transform(({ metadata: { namespace = "", name }, spec }) => {
  const selector = memberOf(spec, "selector") ?? undefined;
  return {
    namespace,
    name,
    /** A number or a percentage; undefined where it is not set. */
    maxUnavailable: amountOf(memberOf(spec, "maxUnavailable")),
    minAvailable: amountOf(memberOf(spec, "minAvailable")),
    /** undefined without a selector: then no pod is selected. An empty selector selects every pod of the namespace. */
    selector: selector === undefined ? undefined : parseSelector(selector),
  };
});

export type DisruptionBudget = Readonly<z.output<typeof DisruptionBudgetSchema>>;

export function parseDisruptionBudget(object: KubeObject): DisruptionBudget {
  return DisruptionBudgetSchema.parse(object);
}

function amountOf(amount: unknown): number | string | undefined {
  return typeof amount === "number" || typeof amount === "string" ? amount : undefined;
}
