// Keeps the CA in force in the validating webhooks and the CRD conversion, which the manifests install without one.
import type { KubeApi } from "../../lib/k8s/api.ts";
import { ApiError } from "../../lib/k8s/errors.ts";
import type { JsonPatch } from "../../lib/k8s/patch.ts";
import { type KubeObject, Resource, type ResourceType } from "../../lib/k8s/types.ts";
import { errorText } from "../../lib/log.ts";
import { WebhookName } from "../../lib/names.ts";
import { type BundleSettings, planConversionBundle, planWebhookBundles } from "../../lib/operand/ca_bundles.ts";
import type { OperatorDeps } from "./deps.ts";

interface CaBundleTarget {
  readonly type: ResourceType;
  readonly name: string;
  readonly plan: (live: KubeObject, settings: BundleSettings) => JsonPatch;
}

const CA_BUNDLE_TARGETS: readonly CaBundleTarget[] = [
  { type: Resource.validatingWebhooks, name: WebhookName.validatingConfiguration, plan: planWebhookBundles },
  {
    type: Resource.customResourceDefinitions,
    name: `${Resource.clusterConfigs.plural}.${Resource.clusterConfigs.group}`,
    plan: planConversionBundle,
  },
];

/** Brings every bundle up to date. What is not installed or not ours to read is passed over; never throws for one. */
export async function writeBundles(parts: OperatorDeps, signal: AbortSignal): Promise<void> {
  const caBundle = parts.caBundle();
  if (caBundle === undefined) return;
  for (const bearer of CA_BUNDLE_TARGETS) {
    try {
      await writeBundle(parts.api, bearer, { settings: { endpoint: parts.settings.endpoint, caBundle }, signal });
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && error.status === 404) continue;
      parts.log.warn("CA bundle not written", {
        object: `${bearer.type.kind}/${bearer.name}`,
        error: errorText(error),
      });
    }
  }
}

async function writeBundle(
  api: KubeApi,
  { type, name, plan }: CaBundleTarget,
  options: { readonly settings: BundleSettings; readonly signal: AbortSignal },
): Promise<void> {
  const operations = plan(await api.get(type, { name }, options.signal), options.settings);
  if (operations.length === 0) return;
  await api.patch(type, { name }, { body: { kind: "json", operations }, signal: options.signal });
}
