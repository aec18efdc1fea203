// Webhook configurations read from the store: which webhooks an admission attempt must ask. Pure.
import * as z from "zod";
import type { KubeObject } from "../lib/k8s/types.ts";
import { CLUSTER_SELECTOR_BOUNDS, type Labels, matchesSelector, parseSelector } from "../lib/cluster/label_selector.ts";
import type { AdmissionAttempt } from "./cluster.ts";
import { listAt } from "./json_value.ts";

const TEXTS = z.array(z.string());

const WEBHOOK = z.object({
  name: z.string(),
  /** A Service has no address in the playground: a call of it fails. */
  clientConfig: z.object({ url: z.string().optional(), caBundle: z.string().optional() }),
  failurePolicy: z.enum(["Fail", "Ignore"]).default("Fail"),
  reinvocationPolicy: z.enum(["Never", "IfNeeded"]).default("Never"),
  timeoutSeconds: z.number().default(10),
  rules: z.array(z.object({ operations: TEXTS, apiGroups: TEXTS, apiVersions: TEXTS, resources: TEXTS })).default([]),
  namespaceSelector: z.unknown().optional(),
  objectSelector: z.unknown().optional(),
});

/** One webhook of a configuration. `matchPolicy` and `matchConditions` (CEL) are not understood and do not narrow. */
export type Webhook = z.output<typeof WEBHOOK>;

/** The webhooks of a Mutating- or ValidatingWebhookConfiguration, in order. */
export function parseWebhooks(configuration: KubeObject): readonly Webhook[] {
  return z.array(WEBHOOK).parse(listAt(configuration, "webhooks"));
}

/** Whether the webhook must be asked. `namespaceLabels` are those of the object's namespace, if it has one. */
export function matchesWebhook(
  { rules, namespaceSelector, objectSelector }: Webhook,
  attempt: AdmissionAttempt,
  namespaceLabels: Labels | undefined,
): boolean {
  const { kind, subresource, operation, object, oldObject } = attempt;
  const resources = subresource === undefined
    ? ["*", "*/*", kind.plural]
    : ["*/*", `${kind.plural}/*`, `*/${subresource}`, `${kind.plural}/${subresource}`];
  const isRuled = rules.some((rule) =>
    hasAny(rule.operations, ["*", operation]) && hasAny(rule.apiGroups, ["*", kind.group]) &&
    hasAny(rule.apiVersions, ["*", kind.version]) && hasAny(rule.resources, resources)
  );
  const selects = (selector: unknown, labels: Labels | undefined): boolean =>
    matchesSelector(parseSelector(selector, CLUSTER_SELECTOR_BOUNDS), labels);
  return isRuled && (namespaceLabels === undefined || selects(namespaceSelector, namespaceLabels)) &&
    [object, oldObject].some((each) => each !== undefined && selects(objectSelector, each.metadata.labels));
}

function hasAny(named: readonly string[], wanted: readonly string[]): boolean {
  return wanted.some((each) => named.includes(each));
}
