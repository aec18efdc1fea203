// Webhook configurations read from the store: which webhooks an admission attempt must ask. Pure.
import { CLUSTER_SELECTOR_BOUNDS, matchesSelector, parseSelector } from "../k8s/label_selector.ts";
import type { AdmissionAttempt } from "./cluster.ts";
import { isObject, listAt, numberAt, textAt, textsAt } from "./json_value.ts";

/** Where a webhook listens: a URL, or a Service that the playground must map to one. */
export type WebhookAddress =
  | { readonly kind: "url"; readonly url: string }
  | { readonly kind: "service"; readonly namespace: string; readonly name: string; readonly path: string };

/** One webhook of a configuration. `matchPolicy` and `matchConditions` (CEL) are not understood and do not narrow. */
export interface Webhook {
  /** Qualified name, for messages. */
  readonly name: string;
  /** Where to call. */
  readonly address: WebhookAddress;
  /** PEM. */
  readonly caBundle: string | undefined;
  /** What a failed call means. */
  readonly failurePolicy: "Fail" | "Ignore";
  /** Whether to ask again after later changes. */
  readonly reinvocationPolicy: "Never" | "IfNeeded";
  /** Longest wait for the answer. */
  readonly timeoutMs: number;
  /** Raw rules: operations, groups, versions, resources. */
  readonly rules: readonly unknown[];
  /** Raw LabelSelector over the labels of the namespace. */
  readonly namespaceSelector: unknown;
  /** Raw LabelSelector over the labels of the object. */
  readonly objectSelector: unknown;
}

/** The webhooks of a Mutating- or ValidatingWebhookConfiguration, in order. */
export function parseWebhooks(configuration: unknown): readonly Webhook[] {
  return listAt(configuration, "webhooks").map((webhook) => {
    const caBundle = textAt(webhook, "clientConfig", "caBundle");
    return {
      name: textAt(webhook, "name") ?? "",
      address: parseAddress(webhook),
      caBundle: caBundle === undefined || caBundle === "" ? undefined : atob(caBundle),
      failurePolicy: textAt(webhook, "failurePolicy") === "Ignore" ? "Ignore" : "Fail",
      reinvocationPolicy: textAt(webhook, "reinvocationPolicy") === "IfNeeded" ? "IfNeeded" : "Never",
      timeoutMs: 1_000 * (numberAt(webhook, "timeoutSeconds") ?? 10),
      rules: listAt(webhook, "rules"),
      namespaceSelector: isObject(webhook) ? webhook.namespaceSelector : undefined,
      objectSelector: isObject(webhook) ? webhook.objectSelector : undefined,
    };
  });
}

function parseAddress(webhook: unknown): WebhookAddress {
  const url = textAt(webhook, "clientConfig", "url");
  if (url !== undefined) return { kind: "url", url };
  return {
    kind: "service",
    namespace: textAt(webhook, "clientConfig", "service", "namespace") ?? "",
    name: textAt(webhook, "clientConfig", "service", "name") ?? "",
    path: textAt(webhook, "clientConfig", "service", "path") ?? "/",
  };
}

/** Whether the rules of the webhook match the request. `namespaceLabels` are those of the object's namespace, if it has one. */
export function matchesWebhook(
  webhook: Webhook,
  attempt: AdmissionAttempt,
  options: { readonly namespaceLabels: Readonly<Record<string, string>> | undefined },
): boolean {
  if (!webhook.rules.some((rule) => matchesRule(rule, attempt))) return false;
  const { namespaceLabels } = options;
  const namespaceSelector = parseSelector(webhook.namespaceSelector, CLUSTER_SELECTOR_BOUNDS);
  const objectSelector = parseSelector(webhook.objectSelector, CLUSTER_SELECTOR_BOUNDS);
  if (namespaceLabels !== undefined && !matchesSelector(namespaceSelector, namespaceLabels)) return false;
  return [attempt.object, attempt.oldObject].some((object) =>
    object !== undefined && matchesSelector(objectSelector, textsAt(object, "metadata", "labels"))
  );
}

function matchesRule(rule: unknown, attempt: AdmissionAttempt): boolean {
  const includes = (name: string, wanted: readonly string[]): boolean =>
    listAt(rule, name).some((item) => typeof item === "string" && wanted.includes(item));
  const { kind, subresource, operation } = attempt;
  const resources = subresource === undefined
    ? ["*", "*/*", kind.plural]
    : ["*/*", `${kind.plural}/*`, `*/${subresource}`, `${kind.plural}/${subresource}`];
  return includes("operations", ["*", operation]) && includes("apiGroups", ["*", kind.group]) &&
    includes("apiVersions", ["*", kind.version]) && includes("resources", resources);
}
