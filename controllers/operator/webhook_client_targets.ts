// Keeps the CA and the paths in force in the validating webhooks and the CRD conversion, which the manifests install.
import type { KubeApi } from "../../lib/k8s/api.ts";
import { ApiError } from "../../lib/k8s/errors.ts";
import type { JsonPatch } from "../../lib/k8s/patch.ts";
import { type KubeObject, Resource, type ResourceType } from "../../lib/k8s/types.ts";
import { errorText } from "../../lib/log.ts";
import { WebhookName } from "../../lib/names.ts";
import { type ClientSettings, planConversionClient, planWebhookClients } from "../../lib/operand/webhook_clients.ts";
import type { OperatorDeps } from "./deps.ts";

interface WebhookClientTarget {
  readonly type: ResourceType;
  readonly name: string;
  readonly plan: (live: KubeObject, settings: ClientSettings) => JsonPatch;
}

const TARGETS: readonly WebhookClientTarget[] = [
  { type: Resource.validatingWebhooks, name: WebhookName.validatingConfiguration, plan: planWebhookClients },
  { type: Resource.customResourceDefinitions, name: WebhookName.convertedDefinition, plan: planConversionClient },
];

/** Brings every target up to date. What is not installed or not ours to read is passed over; never throws for one. */
export async function writeWebhookClients(
  deps: OperatorDeps,
  { pathOf, signal }: { readonly pathOf: ClientSettings["pathOf"]; readonly signal: AbortSignal },
): Promise<void> {
  const settings: ClientSettings = { endpoint: deps.settings.endpoint, caBundle: deps.caBundle(), pathOf };
  for (const target of TARGETS) {
    try {
      await writeTarget(deps.api, target, { settings, signal });
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && error.status === 404) continue;
      deps.log.warn("CA bundle and path not written", {
        object: `${target.type.kind}/${target.name}`,
        error: errorText(error),
      });
    }
  }
}

async function writeTarget(
  api: KubeApi,
  { type, name, plan }: WebhookClientTarget,
  options: { readonly settings: ClientSettings; readonly signal: AbortSignal },
): Promise<void> {
  const operations = plan(await api.get(type, { name }, options.signal), options.settings);
  if (operations.length === 0) return;
  await api.patch(type, { name }, { body: { kind: "json", operations }, signal: options.signal });
}
