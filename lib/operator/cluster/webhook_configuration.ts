// The MutatingWebhookConfiguration that Archway keeps while a ClusterPodPlacementConfig exists, as data.
import { isDeepStrictEqual } from "node:util";
import type { AdmissionregistrationV1WebhookClientConfig } from "@kubernetes/client-node";
import { encodeBase64, isObject, type JsonObject, listAt, memberOf, objectAt } from "../../json.ts";
import { WebhookName, WebhookPath } from "../../names.ts";
import type { KubeObject, Wire } from "../../k8s/types.ts";
import type { OperandConfig } from "../decide/config_view.ts";
import type { ClientSettings } from "../decide/webhook_clients.ts";
import { renderManifest } from "./manifest.ts";
import CONFIGURATION from "./webhook_configuration.yaml" with { type: "text" };

export interface WebhookSettings extends ClientSettings {
  /** Whether the webhook is called for Jobs in a queue of Kueue. */
  readonly watchesQueued: boolean;
}

const INJECT_CA = "service.beta.openshift.io/inject-cabundle";

/** The desired object. It spells out every default of the API server, so that comparisons are exact. */
export function renderWebhookConfiguration(config: OperandConfig, settings: WebhookSettings): KubeObject {
  const { caBundle, pathOf, watchesQueued } = settings;
  const { metadata, ...object } = renderManifest(CONFIGURATION, config);
  const clientConfig = renderClientConfig(settings, pathOf(WebhookPath.gatePod));
  const namespaceSelector = withoutEmptyMembers(config.namespaceSelector ?? {});
  return {
    ...object,
    metadata: caBundle === undefined ? { ...metadata, annotations: { [INJECT_CA]: "true" } } : metadata,
    webhooks: webhooksOf({ ...object, metadata })
      .filter(({ name }) => watchesQueued || name !== WebhookName.queuedJobs)
      .map((webhook) => ({ ...webhook, clientConfig, namespaceSelector })),
  };
}

/**
 * The selector as the API server stores it, without empty lists and maps: with them it would differ after every write.
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

function renderClientConfig(settings: WebhookSettings, path: string): Wire<AdmissionregistrationV1WebhookClientConfig> {
  const { endpoint, caBundle } = settings;
  const bundle = caBundle === undefined ? {} : { caBundle: encodeBase64(caBundle) };
  if (endpoint.kind === "url") return { url: `${endpoint.baseUrl}${path}`, ...bundle };
  return { service: { namespace: endpoint.namespace, name: endpoint.name, path, port: 443 }, ...bundle };
}

/**
 * Whether the live object has everything of the desired one, with equal values. Others may add to it: webhooks, a CA.
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
