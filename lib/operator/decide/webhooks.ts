// The MutatingWebhookConfiguration that Archway keeps while a ClusterPodPlacementConfig exists: as data, and whether the
// live one still is it.
import { isDeepStrictEqual } from "node:util";
import type {
  AdmissionregistrationV1WebhookClientConfig,
  V1MutatingWebhook,
  V1MutatingWebhookConfiguration,
  V1RuleWithOperations,
} from "@kubernetes/client-node";
import { isObject, type JsonObject, listAt, memberOf, objectAt } from "../../json.ts";
import { API_GROUP, CLUSTER_CONFIG_NAME, QUEUE_LABEL, WebhookName, WebhookPath } from "../../names.ts";
import type { KubeObject, OwnerReference, Wire } from "../../k8s/types.ts";
import type { OperandConfig } from "./config_view.ts";

/** How the API server reaches the webhooks: through a Service of the operator namespace, or by URL. */
export type WebhookEndpoint =
  | { readonly kind: "service"; readonly namespace: string; readonly name: string }
  /** `baseUrl` has no path: `https://10.0.0.7:9443`. */
  | { readonly kind: "url"; readonly baseUrl: string };

/** The endpoint by configuration: the URL where one is given, else the Service. */
export function webhookEndpoint(
  { namespace, webhookService, webhookUrl }: {
    readonly namespace: string;
    readonly webhookService: string;
    readonly webhookUrl?: string | undefined;
  },
): WebhookEndpoint {
  return webhookUrl === undefined
    ? { kind: "service", namespace, name: webhookService }
    : { kind: "url", baseUrl: webhookUrl.replace(/(?<!\/)\/+$/, "") };
}

export interface WebhookSettings {
  readonly endpoint: WebhookEndpoint;
  /** PEM; undefined when another controller of the cluster (OpenShift's service-ca) writes the bundle. */
  readonly caBundle: string | undefined;
  /** The path of a route, with its secret segment where one is in use. */
  readonly pathOf: (route: string) => string;
  /** Whether the webhook is called for Jobs in a queue of Kueue. */
  readonly watchQueued?: boolean;
}

/** Longest an admission may wait for us (s): a replica that does not answer in this time is as good as none. */
const WEBHOOK_TIMEOUT_SECONDS = 5;

/** Lets no update of a pod pass but one that brings an image to a node (CEL). Other updates of pods are many, and tell nothing. */
const LATE_IMAGE = `has(oldObject.spec.nodeName) && (request.subResource == "ephemeralcontainers" || ${
  ["containers", "initContainers"].map((list) =>
    `object.spec.?${list}.orValue([]).map(c, c.image) != oldObject.spec.?${list}.orValue([]).map(c, c.image)`
  ).join(" || ")
})`;

/** Marks every object that the MTO makes; kept so that its selectors and runbooks still find them. */
const OPERAND_LABELS = { "multiarch.openshift.io/operand": "pod-placement-controller" } as const;

const INJECT_CA = "service.beta.openshift.io/inject-cabundle";

/** A webhook configuration as it is rendered; its selector is the user's and is copied whatever it holds. */
type WebhookConfiguration = Omit<Wire<V1MutatingWebhookConfiguration>, "webhooks"> & {
  readonly webhooks: readonly (Omit<Wire<V1MutatingWebhook>, "namespaceSelector"> & {
    readonly namespaceSelector: Readonly<Record<string, unknown>>;
  })[];
};

/** The desired object, every default of the API server spelled out, so that comparing is exact. */
export function renderWebhookConfiguration(
  config: OperandConfig,
  settings: WebhookSettings,
): KubeObject {
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    metadata: {
      name: WebhookName.configuration,
      labels: { ...OPERAND_LABELS, controller: "pod-placement-web-hook" },
      ...(settings.caBundle === undefined ? { annotations: { [INJECT_CA]: "true" } } : {}),
      ownerReferences: [renderOwnerReference(config)],
    },
    webhooks: [
      {
        ...renderWebhook(config, settings),
        name: WebhookName.webhook,
        sideEffects: "None",
        // Other webhooks may add containers after us; a second call costs nothing when nothing changed.
        reinvocationPolicy: "IfNeeded",
        rules: [renderRule("CREATE", "pods")],
      },
      {
        ...renderWebhook(config, settings),
        name: WebhookName.lateImages,
        sideEffects: "NoneOnDryRun",
        reinvocationPolicy: "Never",
        rules: [renderRule("UPDATE", "pods"), renderRule("UPDATE", "pods/ephemeralcontainers")],
        matchConditions: [{ name: "image-came-to-a-node", expression: LATE_IMAGE }],
      },
      ...settings.watchQueued === true ? [renderQueuedJobs(config, settings)] : [],
    ],
  } satisfies WebhookConfiguration;
}

function renderQueuedJobs(config: OperandConfig, settings: WebhookSettings): WebhookConfiguration["webhooks"][number] {
  return {
    ...renderWebhook(config, settings),
    name: WebhookName.queuedJobs,
    sideEffects: "None",
    reinvocationPolicy: "IfNeeded",
    objectSelector: { matchExpressions: [{ key: QUEUE_LABEL, operator: "Exists" }] },
    rules: [{ ...renderRule("CREATE", "jobs"), apiGroups: ["batch"] }],
  };
}

/** What all of them have. They are never in the way: when no replica answers, pods pass as they are. */
function renderWebhook(
  config: OperandConfig,
  settings: WebhookSettings,
): Omit<WebhookConfiguration["webhooks"][number], "name" | "sideEffects"> {
  return {
    admissionReviewVersions: ["v1"],
    clientConfig: renderClientConfig(settings, settings.pathOf(WebhookPath.gatePod)),
    failurePolicy: "Ignore",
    matchPolicy: "Equivalent",
    timeoutSeconds: WEBHOOK_TIMEOUT_SECONDS,
    namespaceSelector: withoutEmptyMembers(config.namespaceSelector ?? {}),
    objectSelector: {},
  };
}

/** The owner reference to the cluster config: the garbage collector cleans up when finalizers were stripped by hand. */
export function renderOwnerReference(config: OperandConfig): OwnerReference {
  return {
    apiVersion: `${API_GROUP}/v1beta1`,
    kind: "ClusterPodPlacementConfig",
    name: CLUSTER_CONFIG_NAME,
    uid: config.uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}

/**
 * A selector in the form in which the API server stores it: empty lists and maps are left out. A custom resource keeps
 * them, so a copy as it is would differ from the stored one after every write.
 */
function withoutEmptyMembers(selector: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(selector).filter(([, member]) => !isEmpty(member)).map(([name, member]) => [
      name,
      Array.isArray(member) ? member.map((item) => isObject(item) ? withoutEmptyMembers(item) : item) : member,
    ]),
  );
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
}

function renderRule(operation: "CREATE" | "UPDATE", resource: string): Wire<V1RuleWithOperations> {
  return { operations: [operation], apiGroups: [""], apiVersions: ["v1"], resources: [resource], scope: "*" };
}

function renderClientConfig(
  settings: WebhookSettings,
  path: string,
): Wire<AdmissionregistrationV1WebhookClientConfig> {
  const { endpoint, caBundle } = settings;
  const bundle = caBundle === undefined ? {} : { caBundle: encodeBundle(caBundle) };
  if (endpoint.kind === "url") return { url: `${endpoint.baseUrl}${path}`, ...bundle };
  return { service: { namespace: endpoint.namespace, name: endpoint.name, path, port: 443 }, ...bundle };
}

/** A PEM bundle in the form of a `caBundle` member. */
export function encodeBundle(pem: string): string {
  return new TextEncoder().encode(pem).toBase64();
}

/**
 * Whether the live object has every member of the desired one. Labels, annotations, owners and webhooks that others
 * added are theirs; within our webhook every member we set must be exactly ours (the CA may be injected by another).
 */
export function isWebhookCurrent(live: KubeObject, desired: KubeObject): boolean {
  if (live.metadata.deletionTimestamp !== undefined) return false;
  if (!hasAll(live.metadata.labels, desired.metadata.labels)) return false;
  if (!hasAll(live.metadata.annotations, desired.metadata.annotations)) return false;
  if (!sharesOwner(live, desired)) return false;
  return webhooksOf(desired).every((webhook) => {
    const same = webhooksOf(live).find((other) => other.name === webhook.name);
    const [wanted, client] = [objectAt(webhook, "clientConfig"), objectAt(same, "clientConfig")];
    return same !== undefined && hasAll(same, webhook, "clientConfig") && hasAll(client, wanted) &&
      (memberOf(wanted, "url") === undefined) === (memberOf(client, "url") === undefined);
  });
}

function sharesOwner(live: KubeObject, desired: KubeObject): boolean {
  return (desired.metadata.ownerReferences ?? []).every((owner) =>
    (live.metadata.ownerReferences ?? []).some(({ uid, controller }) => uid === owner.uid && controller === true)
  );
}

function hasAll(
  live: Readonly<Record<string, unknown>> | undefined,
  wanted: Readonly<Record<string, unknown>> | undefined,
  except?: string,
): boolean {
  return Object.entries(wanted ?? {}).every(([key, value]) => key === except || isDeepStrictEqual(live?.[key], value));
}

function webhooksOf(object: KubeObject): readonly JsonObject[] {
  return (listAt(object, "webhooks") ?? []).filter(isObject);
}
