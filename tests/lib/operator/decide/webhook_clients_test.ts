import assert from "node:assert/strict";
import type { KubeObject } from "../../../../lib/k8s/types.ts";
import {
  planConversionClient,
  planWebhookClients,
  registeredPaths,
} from "../../../../lib/operator/decide/webhook_clients.ts";
import { WebhookPath } from "../../../../lib/names.ts";

const SETTINGS = {
  endpoint: { kind: "service", namespace: "ns", name: "archway-webhook" },
  caBundle: "CA",
  pathOf: (route: string) => route,
} as const;
const BUNDLE = btoa("CA");

function makeWebhooks(...clients: readonly Client[]): KubeObject {
  return { metadata: { name: "w" }, webhooks: clients.map((clientConfig, at) => ({ name: `w${at}`, clientConfig })) };
}

type Client = Readonly<Record<string, unknown>>;

/** Of a definition that converts by that webhook, or by none. */
function makeDefinition(clientConfig?: Client): KubeObject {
  const conversion = clientConfig === undefined
    ? { strategy: "None" }
    : { strategy: "Webhook", webhook: { clientConfig } };
  return { metadata: { name: "crd" }, spec: { conversion } };
}

const OURS = { service: { namespace: "ns", name: "archway-webhook" } };

function oursAt(path: string, caBundle = BUNDLE): Client {
  return { service: { ...OURS.service, path }, caBundle };
}

Deno.test("planWebhookClients() writes to the webhooks that point at us and to no other", () => {
  const live = makeWebhooks(
    { ...OURS, caBundle: "b2xk" },
    { service: { namespace: "other", name: "archway-webhook" } },
    { url: "https://archway-webhook.ns.svc" },
    { ...OURS, caBundle: BUNDLE },
    OURS,
  );
  assert.deepEqual(planWebhookClients(live, SETTINGS), [
    { op: "test", path: "/webhooks/0/name", value: "w0" },
    { op: "add", path: "/webhooks/0/clientConfig/caBundle", value: BUNDLE },
    { op: "test", path: "/webhooks/4/name", value: "w4" },
    { op: "add", path: "/webhooks/4/clientConfig/caBundle", value: BUNDLE },
  ]);
});

Deno.test("planWebhookClients() recognises us by URL when we are registered by URL", () => {
  const endpoint = { kind: "url", baseUrl: "https://10.0.0.7:9443" } as const;
  const live = makeWebhooks({ url: "https://10.0.0.7:9443/validate" }, { url: "https://10.0.0.7:94430/validate" });
  const paths = planWebhookClients(live, { ...SETTINGS, endpoint }).map(({ path }) => path);
  assert.deepEqual(paths, ["/webhooks/0/name", "/webhooks/0/clientConfig/caBundle"]);
});

Deno.test("planConversionClient() writes once when the definition converts through us", () => {
  assert.equal(planConversionClient(makeDefinition(OURS), SETTINGS).length, 2);
  assert.deepEqual(planConversionClient(makeDefinition({ ...OURS, caBundle: BUNDLE }), SETTINGS), []);
});

Deno.test("planConversionClient() leaves definitions alone that do not convert through us", () => {
  const foreign = { service: { namespace: "ns", name: "other" } };
  for (const definition of [makeDefinition(), makeDefinition(foreign), { metadata: { name: "crd" } }]) {
    assert.deepEqual(planConversionClient(definition, SETTINGS), []);
  }
});

const SECRET = { ...SETTINGS, pathOf: (route: string) => `/secret${route}` };

Deno.test("planWebhookClients() puts the secret segment before the routes of ours, whatever stood there", () => {
  const [clusters, namespaces] = [WebhookPath.validateClusterConfig, WebhookPath.validateNamespaceConfig];
  const paths = [clusters, `/older${namespaces}`, `/secret${namespaces}`, "/elsewhere"];
  assert.deepEqual(planWebhookClients(makeWebhooks(...paths.map((path) => oursAt(path))), SECRET), [
    { op: "test", path: "/webhooks/0/name", value: "w0" },
    { op: "add", path: "/webhooks/0/clientConfig/service/path", value: `/secret${clusters}` },
    { op: "test", path: "/webhooks/1/name", value: "w1" },
    { op: "add", path: "/webhooks/1/clientConfig/service/path", value: `/secret${namespaces}` },
  ]);
});

Deno.test("planWebhookClients() writes the path alone where another controller injects the CA", () => {
  const live = makeWebhooks(oursAt(WebhookPath.validateClusterConfig, "aW4="));
  const changed = planWebhookClients(live, { ...SECRET, caBundle: undefined }).map(({ path }) => path);
  assert.deepEqual(changed, ["/webhooks/0/name", "/webhooks/0/clientConfig/service/path"]);
});

Deno.test("planConversionClient() writes the secret path by Service and by URL", () => {
  assert.deepEqual(planConversionClient(makeDefinition(oursAt("/convert")), SECRET).at(-1), {
    op: "add",
    path: "/spec/conversion/webhook/clientConfig/service/path",
    value: "/secret/convert",
  });
  const endpoint = { kind: "url", baseUrl: "https://10.0.0.7:9443" } as const;
  const byUrl = makeDefinition({ url: "https://10.0.0.7:9443/convert", caBundle: BUNDLE });
  assert.deepEqual(planConversionClient(byUrl, { ...SECRET, endpoint }).at(-1), {
    op: "add",
    path: "/spec/conversion/webhook/clientConfig/url",
    value: "https://10.0.0.7:9443/secret/convert",
  });
});

Deno.test("registeredPaths() gives the paths by which we are called, of every kind of configuration", () => {
  const { endpoint } = SETTINGS;
  const foreign = { service: { namespace: "other", name: "x", path: "/b" } };
  const webhooks = makeWebhooks(oursAt("/a"), foreign, { url: "https://elsewhere.example/c" });
  assert.deepEqual(registeredPaths(webhooks, endpoint), ["/a"]);
  assert.deepEqual(registeredPaths(makeDefinition(oursAt("/convert")), endpoint), ["/convert"]);
  assert.deepEqual(registeredPaths(makeDefinition(), endpoint), []);
});
