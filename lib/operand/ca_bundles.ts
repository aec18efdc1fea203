// The CA that the API server must trust, written into every configuration that points at us and is not ours to render:
// the validating webhooks and the conversion of the CRD, both installed by the manifests. Used by controllers/operator.
import * as z from "zod";
import { type JsonPatch, pointer } from "../k8s/patch.ts";
import type { KubeObject } from "../k8s/types.ts";
import { encodeBundle, type WebhookEndpoint } from "./webhooks.ts";

/** Whose bundle, and which endpoint means "us". */
export interface BundleSettings {
  /** Where the API server reaches us. */
  readonly endpoint: WebhookEndpoint;
  /** PEM. */
  readonly caBundle: string;
}

const clientConfig = z.object({
  url: z.string().optional().catch(undefined),
  service: z.object({ namespace: z.string(), name: z.string() }).optional().catch(undefined),
  caBundle: z.string().optional().catch(undefined),
});
type ClientConfig = z.infer<typeof clientConfig>;
const configuration = z.object({
  webhooks: z.array(z.object({ name: z.string(), clientConfig })).catch([]),
});
const definition = z.object({
  spec: z.object({
    conversion: z.object({ strategy: z.string(), webhook: z.object({ clientConfig }) }),
  }),
});

/** What to change in a webhook configuration; empty when every webhook that points at us has the bundle. */
export function planWebhookBundles(live: KubeObject, settings: BundleSettings): JsonPatch {
  const bundle = encodeBundle(settings.caBundle);
  return configuration.parse({ webhooks: live.webhooks }).webhooks.flatMap(({ name, clientConfig }, index) =>
    pointsAtUs(clientConfig, settings.endpoint) && clientConfig.caBundle !== bundle
      ? [
        { op: "test", path: pointer("webhooks", index, "name"), value: name } as const,
        { op: "add", path: pointer("webhooks", index, "clientConfig", "caBundle"), value: bundle } as const,
      ]
      : []
  );
}

/** What to change in a CustomResourceDefinition; empty when it needs no conversion by us or has the bundle. */
export function planConversionBundle(live: KubeObject, settings: BundleSettings): JsonPatch {
  const parsed = definition.safeParse({ spec: live.spec });
  if (!parsed.success || parsed.data.spec.conversion.strategy !== "Webhook") return [];
  const { clientConfig } = parsed.data.spec.conversion.webhook;
  const bundle = encodeBundle(settings.caBundle);
  if (!pointsAtUs(clientConfig, settings.endpoint) || clientConfig.caBundle === bundle) return [];
  return [
    { op: "test", path: "/spec/conversion/strategy", value: "Webhook" },
    { op: "add", path: "/spec/conversion/webhook/clientConfig/caBundle", value: bundle },
  ];
}

function pointsAtUs(client: ClientConfig, endpoint: WebhookEndpoint): boolean {
  if (endpoint.kind === "url") return client.url?.startsWith(`${endpoint.baseUrl}/`) ?? false;
  return client.service?.name === endpoint.name && client.service.namespace === endpoint.namespace;
}
