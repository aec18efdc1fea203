// How the API server must call us: the CA and the secret paths, written into the validating webhooks and the CRD's
// conversion, which the manifests install without a CA and with plain paths.
import * as z from "zod";
import { encodeBase64, memberOf } from "../../json.ts";
import { type JsonPatch, pointer } from "../../k8s/patch.ts";
import type { KubeObject } from "../../k8s/types.ts";
import { WebhookPath } from "../../names.ts";

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

export interface ClientSettings {
  readonly endpoint: WebhookEndpoint;
  /** PEM; undefined when another controller of the cluster injects it. */
  readonly caBundle: string | undefined;
  /** The path of a route, with its secret segment where one is in use. */
  readonly pathOf: (route: string) => string;
}

const clientConfig = z.object({
  url: z.string().optional().catch(undefined),
  service: z.object({ namespace: z.string(), name: z.string(), path: z.string().catch("") }).optional().catch(
    undefined,
  ),
  caBundle: z.string().optional().catch(undefined),
});
type ClientConfig = z.infer<typeof clientConfig>;
const webhooks = z.array(z.object({ name: z.string(), clientConfig })).catch([]);
const conversion = z.object({ strategy: z.literal("Webhook"), webhook: z.object({ clientConfig }) });

/** What to change in a webhook configuration; empty when every webhook that points at us is as it should be. */
export function planWebhookClients(live: KubeObject, settings: ClientSettings): JsonPatch {
  return webhooks.parse(live.webhooks).flatMap(({ name, clientConfig }, index) => {
    const changes = planClient(clientConfig, { settings, at: ["webhooks", index, "clientConfig"] });
    return changes.length === 0
      ? []
      : [{ op: "test", path: pointer("webhooks", index, "name"), value: name } as const, ...changes];
  });
}

/** What to change in a CustomResourceDefinition; empty when it needs no conversion by us or is as it should be. */
export function planConversionClient(live: KubeObject, settings: ClientSettings): JsonPatch {
  const client = conversionOf(live);
  if (client === undefined) return [];
  const changes = planClient(client, { settings, at: ["spec", "conversion", "webhook", "clientConfig"] });
  return changes.length === 0 ? [] : [{ op: "test", path: "/spec/conversion/strategy", value: "Webhook" }, ...changes];
}

/**
 * The paths by which the API server calls us, of a webhook configuration of either kind or a CustomResourceDefinition.
 */
export function registeredPaths(live: KubeObject, endpoint: WebhookEndpoint): readonly string[] {
  const converter = conversionOf(live);
  const clients = [
    ...webhooks.parse(live.webhooks).map(({ clientConfig }) => clientConfig),
    ...converter === undefined ? [] : [converter],
  ];
  return clients.map((client) => pathAtUs(client, endpoint)).filter((path) => path !== undefined);
}

function conversionOf(live: KubeObject): ClientConfig | undefined {
  return conversion.safeParse(memberOf(live.spec, "conversion")).data?.webhook.clientConfig;
}

function planClient(
  client: ClientConfig,
  { settings, at }: { readonly settings: ClientSettings; readonly at: readonly (string | number)[] },
): JsonPatch {
  const { endpoint, caBundle, pathOf } = settings;
  const path = pathAtUs(client, endpoint);
  if (path === undefined) return [];
  const bundle = caBundle === undefined ? client.caBundle : encodeBase64(caBundle);
  // A path that ends in none of our routes was set on purpose, so it stays.
  const route = Object.values(WebhookPath).find((known) => path === known || path.endsWith(known));
  const wanted = route === undefined ? path : pathOf(route);
  return [
    ...bundle === client.caBundle || bundle === undefined
      ? []
      : [{ op: "add", path: pointer(...at, "caBundle"), value: bundle } as const],
    ...wanted === path ? [] : [
      endpoint.kind === "url"
        ? { op: "add", path: pointer(...at, "url"), value: `${endpoint.baseUrl}${wanted}` } as const
        : { op: "add", path: pointer(...at, "service", "path"), value: wanted } as const,
    ],
  ];
}

/** The path of a client configuration that points at us; undefined when it points elsewhere. */
function pathAtUs(client: ClientConfig, endpoint: WebhookEndpoint): string | undefined {
  if (endpoint.kind === "url") {
    return client.url?.startsWith(`${endpoint.baseUrl}/`) === true
      ? client.url.slice(endpoint.baseUrl.length)
      : undefined;
  }
  const { service } = client;
  return service?.name === endpoint.name && service.namespace === endpoint.namespace ? service.path : undefined;
}
