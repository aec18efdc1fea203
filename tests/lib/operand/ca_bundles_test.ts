import assert from "node:assert/strict";
import type { KubeObject } from "../../../lib/k8s/types.ts";
import { planConversionBundle, planWebhookBundles } from "../../../lib/operand/ca_bundles.ts";

const SETTINGS = { endpoint: { kind: "service", namespace: "ns", name: "archway-webhook" }, caBundle: "CA" } as const;
const BUNDLE = btoa("CA");

function makeWebhooks(...clients: readonly Readonly<Record<string, unknown>>[]): KubeObject {
  return { metadata: { name: "w" }, webhooks: clients.map((clientConfig, at) => ({ name: `w${at}`, clientConfig })) };
}

function makeDefinition(conversion: Readonly<Record<string, unknown>>): KubeObject {
  return { metadata: { name: "crd" }, spec: { conversion } };
}

const OURS = { service: { namespace: "ns", name: "archway-webhook" } };

Deno.test("planWebhookBundles() writes to the webhooks that point at us and to no other", () => {
  const live = makeWebhooks(
    { ...OURS, caBundle: "b2xk" },
    { service: { namespace: "other", name: "archway-webhook" } },
    { url: "https://archway-webhook.ns.svc" },
    { ...OURS, caBundle: BUNDLE },
    OURS,
  );
  assert.deepEqual(planWebhookBundles(live, SETTINGS), [
    { op: "test", path: "/webhooks/0/name", value: "w0" },
    { op: "add", path: "/webhooks/0/clientConfig/caBundle", value: BUNDLE },
    { op: "test", path: "/webhooks/4/name", value: "w4" },
    { op: "add", path: "/webhooks/4/clientConfig/caBundle", value: BUNDLE },
  ]);
});

Deno.test("planWebhookBundles() knows us by URL when we are registered by URL", () => {
  const endpoint = { kind: "url", baseUrl: "https://10.0.0.7:9443" } as const;
  const live = makeWebhooks({ url: "https://10.0.0.7:9443/validate" }, { url: "https://10.0.0.7:94430/validate" });
  const paths = planWebhookBundles(live, { endpoint, caBundle: "CA" }).map(({ path }) => path);
  assert.deepEqual(paths, ["/webhooks/0/name", "/webhooks/0/clientConfig/caBundle"]);
});

Deno.test("planConversionBundle() writes once when the definition converts through us", () => {
  const before = makeDefinition({ strategy: "Webhook", webhook: { clientConfig: OURS } });
  assert.equal(planConversionBundle(before, SETTINGS).length, 2);
  const after = makeDefinition({ strategy: "Webhook", webhook: { clientConfig: { ...OURS, caBundle: BUNDLE } } });
  assert.deepEqual(planConversionBundle(after, SETTINGS), []);
});

Deno.test("planConversionBundle() leaves definitions alone that do not convert through us", () => {
  assert.deepEqual(planConversionBundle(makeDefinition({ strategy: "None" }), SETTINGS), []);
  const foreign = { service: { namespace: "ns", name: "other" } };
  assert.deepEqual(
    planConversionBundle(makeDefinition({ strategy: "Webhook", webhook: { clientConfig: foreign } }), SETTINGS),
    [],
  );
  assert.deepEqual(planConversionBundle({ metadata: { name: "crd" } }, SETTINGS), []);
});
