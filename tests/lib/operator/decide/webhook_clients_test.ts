import assert from "node:assert/strict";
import type { KubeObject } from "../../../../lib/k8s/types.ts";
import {
  carriedPaths,
  planConversionClient,
  planWebhookClients,
} from "../../../../lib/operator/decide/webhook_clients.ts";
import { WebhookPath } from "../../../../lib/names.ts";

const SETTINGS = {
  endpoint: { kind: "service", namespace: "ns", name: "archway-webhook" },
  caBundle: "CA",
  pathOf: (route: string) => route,
} as const;
const BUNDLE = btoa("CA");

function makeWebhooks(...clients: readonly Readonly<Record<string, unknown>>[]): KubeObject {
  return { metadata: { name: "w" }, webhooks: clients.map((clientConfig, at) => ({ name: `w${at}`, clientConfig })) };
}

function makeDefinition(conversion: Readonly<Record<string, unknown>>): KubeObject {
  return { metadata: { name: "crd" }, spec: { conversion } };
}

const OURS = { service: { namespace: "ns", name: "archway-webhook" } };

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
  const before = makeDefinition({ strategy: "Webhook", webhook: { clientConfig: OURS } });
  assert.equal(planConversionClient(before, SETTINGS).length, 2);
  const after = makeDefinition({ strategy: "Webhook", webhook: { clientConfig: { ...OURS, caBundle: BUNDLE } } });
  assert.deepEqual(planConversionClient(after, SETTINGS), []);
});

Deno.test("planConversionClient() leaves definitions alone that do not convert through us", () => {
  assert.deepEqual(planConversionClient(makeDefinition({ strategy: "None" }), SETTINGS), []);
  const foreign = { service: { namespace: "ns", name: "other" } };
  assert.deepEqual(
    planConversionClient(makeDefinition({ strategy: "Webhook", webhook: { clientConfig: foreign } }), SETTINGS),
    [],
  );
  assert.deepEqual(planConversionClient({ metadata: { name: "crd" } }, SETTINGS), []);
});

const SECRET = { ...SETTINGS, pathOf: (route: string) => `/secret${route}` };

Deno.test("planWebhookClients() puts the secret segment before the routes of ours, whatever stood there", () => {
  const at = (path: string): Readonly<Record<string, unknown>> => ({
    service: { ...OURS.service, path },
    caBundle: BUNDLE,
  });
  const live = makeWebhooks(
    at(WebhookPath.validateClusterConfig),
    at(`/older${WebhookPath.validateNamespaceConfig}`),
    at(`/secret${WebhookPath.validateNamespaceConfig}`),
    at("/elsewhere"),
  );
  assert.deepEqual(planWebhookClients(live, SECRET), [
    { op: "test", path: "/webhooks/0/name", value: "w0" },
    {
      op: "add",
      path: "/webhooks/0/clientConfig/service/path",
      value: `/secret${WebhookPath.validateClusterConfig}`,
    },
    { op: "test", path: "/webhooks/1/name", value: "w1" },
    {
      op: "add",
      path: "/webhooks/1/clientConfig/service/path",
      value: `/secret${WebhookPath.validateNamespaceConfig}`,
    },
  ]);
});

Deno.test("planWebhookClients() writes the path alone where another controller injects the CA", () => {
  const live = makeWebhooks({
    service: { ...OURS.service, path: WebhookPath.validateClusterConfig },
    caBundle: "aW4=",
  });
  const changed = planWebhookClients(live, { ...SECRET, caBundle: undefined }).map(({ path }) => path);
  assert.deepEqual(changed, ["/webhooks/0/name", "/webhooks/0/clientConfig/service/path"]);
});

Deno.test("planConversionClient() writes the secret path by Service and by URL", () => {
  const byService = makeDefinition({
    strategy: "Webhook",
    webhook: { clientConfig: { service: { ...OURS.service, path: "/convert" }, caBundle: BUNDLE } },
  });
  assert.deepEqual(planConversionClient(byService, SECRET).at(-1), {
    op: "add",
    path: "/spec/conversion/webhook/clientConfig/service/path",
    value: "/secret/convert",
  });
  const endpoint = { kind: "url", baseUrl: "https://10.0.0.7:9443" } as const;
  const byUrl = makeDefinition({
    strategy: "Webhook",
    webhook: { clientConfig: { url: "https://10.0.0.7:9443/convert", caBundle: BUNDLE } },
  });
  assert.deepEqual(planConversionClient(byUrl, { ...SECRET, endpoint }).at(-1), {
    op: "add",
    path: "/spec/conversion/webhook/clientConfig/url",
    value: "https://10.0.0.7:9443/secret/convert",
  });
});

Deno.test("carriedPaths() gives the paths by which we are called, of every kind of configuration", () => {
  const { endpoint } = SETTINGS;
  const webhooks = makeWebhooks(
    { service: { ...OURS.service, path: "/a" } },
    { service: { namespace: "other", name: "x", path: "/b" } },
    { url: "https://elsewhere.example/c" },
  );
  assert.deepEqual(carriedPaths(webhooks, endpoint), ["/a"]);
  const conversion = { clientConfig: { service: { ...OURS.service, path: "/convert" } } };
  assert.deepEqual(carriedPaths(makeDefinition({ strategy: "Webhook", webhook: conversion }), endpoint), ["/convert"]);
  assert.deepEqual(carriedPaths(makeDefinition({ strategy: "None" }), endpoint), []);
});
