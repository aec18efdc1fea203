import assert from "node:assert/strict";
import {
  isWebhookCurrent,
  renderWebhookConfiguration,
} from "../../../../lib/operator/cluster/webhook_configuration.ts";
import { makeOperandConfig, SERVICE_SETTINGS, stored } from "../decide/make.ts";

const CONFIG = makeOperandConfig();
const DESIRED = renderWebhookConfiguration(CONFIG, SERVICE_SETTINGS);

/** What the API server needs for either webhook. */
const BOTH = {
  admissionReviewVersions: ["v1"],
  clientConfig: {
    service: { namespace: "archway-system", name: "archway-webhook", path: "/add-pod-scheduling-gate", port: 443 },
    caBundle: btoa("-----BEGIN CERTIFICATE-----\n"),
  },
  failurePolicy: "Ignore",
  matchPolicy: "Equivalent",
  timeoutSeconds: 5,
  namespaceSelector: {},
  objectSelector: {},
};

function ruleOf(operation: string, resource: string): unknown {
  return { operations: [operation], apiGroups: [""], apiVersions: ["v1"], resources: [resource], scope: "*" };
}

Deno.test("217 renderWebhookConfiguration() makes the object of spec 2.4.3", () => {
  assert.deepEqual(stored(DESIRED), {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    metadata: {
      name: "pod-placement-mutating-webhook-configuration",
      labels: { "multiarch.openshift.io/operand": "pod-placement-controller", controller: "pod-placement-web-hook" },
      ownerReferences: [{
        apiVersion: "multiarch.openshift.io/v1beta1",
        kind: "ClusterPodPlacementConfig",
        name: "cluster",
        uid: "u-1",
        controller: true,
        blockOwnerDeletion: true,
      }],
    },
    webhooks: [
      {
        ...BOTH,
        name: "pod-placement-scheduling-gate.multiarch.openshift.io",
        sideEffects: "None",
        reinvocationPolicy: "IfNeeded",
        rules: [ruleOf("CREATE", "pods")],
      },
      {
        ...BOTH,
        name: "pod-placement-late-images.multiarch.openshift.io",
        sideEffects: "NoneOnDryRun",
        reinvocationPolicy: "Never",
        rules: [ruleOf("UPDATE", "pods"), ruleOf("UPDATE", "pods/ephemeralcontainers")],
        matchConditions: [{
          name: "image-came-to-a-node",
          expression: 'has(oldObject.spec.nodeName) && (request.subResource == "ephemeralcontainers" || ' +
            "object.spec.?containers.orValue([]).map(c, c.image) != oldObject.spec.?containers.orValue([]).map(c, c.image) || " +
            "object.spec.?initContainers.orValue([]).map(c, c.image) != oldObject.spec.?initContainers.orValue([]).map(c, c.image))",
        }],
      },
    ],
  });
});

Deno.test("87 renderWebhookConfiguration() copies the namespaceSelector verbatim, odd members included", () => {
  const namespaceSelector = { matchExpressions: [{ key: "a", operator: "Exists" }], odd: 1 };
  const { webhooks } = renderWebhookConfiguration(makeOperandConfig({ namespaceSelector }), SERVICE_SETTINGS);
  assert.match(
    JSON.stringify(webhooks),
    /"namespaceSelector":\{"matchExpressions":\[\{"key":"a","operator":"Exists"\}\],"odd":1\}/,
  );
});

const EMPTY_MEMBERS: readonly (readonly [written: Readonly<Record<string, unknown>>, stored: object])[] = [
  [{ matchLabels: {}, matchExpressions: [] }, {}],
  [
    { matchExpressions: [{ key: "a", operator: "DoesNotExist", values: [] }] },
    { matchExpressions: [{ key: "a", operator: "DoesNotExist" }] },
  ],
  [{ matchLabels: { a: "" }, matchExpressions: [] }, { matchLabels: { a: "" } }],
  [
    { matchLabels: {}, matchExpressions: [{ key: "a", operator: "In", values: [""] }] },
    { matchExpressions: [{ key: "a", operator: "In", values: [""] }] },
  ],
];
for (const [namespaceSelector, expected] of EMPTY_MEMBERS) {
  const text = JSON.stringify(namespaceSelector);
  Deno.test(`renderWebhookConfiguration() leaves out of ${text} what the API server does not store`, () => {
    const { webhooks } = renderWebhookConfiguration(makeOperandConfig({ namespaceSelector }), SERVICE_SETTINGS);
    const rendered = Array.isArray(webhooks) ? webhooks[0].namespaceSelector : undefined;
    assert.deepEqual(rendered, expected);
  });
}

Deno.test("renderWebhookConfiguration() asks for an injected CA and sets none when it has none", () => {
  const object = renderWebhookConfiguration(CONFIG, { ...SERVICE_SETTINGS, caBundle: undefined });
  assert.equal(object.metadata.annotations?.["service.beta.openshift.io/inject-cabundle"], "true");
  assert.doesNotMatch(JSON.stringify(object.webhooks), /caBundle/);
});

Deno.test("renderWebhookConfiguration() registers for Jobs in queues only when requested to, and the change is drift", () => {
  const desired = renderWebhookConfiguration(CONFIG, { ...SERVICE_SETTINGS, watchesQueued: true });
  const before = DESIRED.webhooks as readonly unknown[];
  const [jobs, ...more] = (desired.webhooks as readonly Record<string, unknown>[]).slice(before.length);
  assert.deepEqual(more, []);
  assert.match(JSON.stringify(jobs?.rules), /"apiGroups":\["batch"\].*"resources":\["jobs"\]/);
  assert.match(JSON.stringify(jobs?.objectSelector), /kueue\.x-k8s\.io\/queue-name","operator":"Exists"/);
  assert.equal(jobs?.failurePolicy, "Ignore");
  assert.equal(isWebhookCurrent(DESIRED, desired), false);
});

Deno.test("renderWebhookConfiguration() registers by URL when there is no Service", () => {
  const endpoint = { kind: "url", baseUrl: "https://127.0.0.1:9443" } as const;
  const settings = { ...SERVICE_SETTINGS, endpoint, caBundle: "CA" };
  assert.match(
    JSON.stringify(renderWebhookConfiguration(CONFIG, settings).webhooks),
    /"clientConfig":\{"url":"https:\/\/127\.0\.0\.1:9443\/add-pod-scheduling-gate","caBundle":"Q0E="\}/,
  );
});

const DRIFTS: Readonly<Record<string, readonly (readonly [says: string, from: string, to: string])[]>> = {
  "is current": [
    ["when nothing changed", "", ""],
    ["when others added labels", '"labels":{', '"labels":{"team":"a",'],
    ["when others added annotations", '"metadata":{', '"metadata":{"annotations":{"a":"b"},'],
    ["when others added a webhook", '"webhooks":[', '"webhooks":[{"name":"foreign"},'],
    ["when the API server knows more members", '"failurePolicy"', '"matchConditions":[],"failurePolicy"'],
  ],
  "has drifted": [
    ["85 when failurePolicy is Fail", '"Ignore"', '"Fail"'],
    ["when the selector was narrowed", '"namespaceSelector":{}', '"namespaceSelector":{"matchLabels":{"a":"b"}}'],
    ["when the Service is another", '"name":"archway-webhook"', '"name":"pod-placement-web-hook"'],
    ["when the CA is another", btoa("-----BEGIN CERTIFICATE-----\n"), btoa("other")],
    ["when a URL stands where a Service shall be", '"clientConfig":{', '"clientConfig":{"url":"https://x",'],
    ["when a label of ours is gone", '"controller":"pod-placement-web-hook"', '"x":"y"'],
    ["when the owner is an earlier config", '"u-1"', '"u-0"'],
    ["when our webhook was renamed", '"pod-placement-scheduling-gate.multiarch.openshift.io"', '"other"'],
    ["while it is being deleted", '"metadata":{', '"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z",'],
  ],
};
for (const [state, cases] of Object.entries(DRIFTS)) {
  for (const [says, from, to] of cases) {
    Deno.test(says.replace(/^(\d+ )?/, `$&isWebhookCurrent() ${state} `), () => {
      const live = stored(DESIRED, (json) => json.replace(from, to));
      assert.equal(isWebhookCurrent(live, stored(DESIRED)), state === "is current");
    });
  }
}

Deno.test("isWebhookCurrent() leaves an injected CA alone when none is ours to set", () => {
  const desired = renderWebhookConfiguration(CONFIG, { ...SERVICE_SETTINGS, caBundle: undefined });
  const live = stored(desired, (json) => json.replace('"clientConfig":{', '"clientConfig":{"caBundle":"abcd",'));
  assert.ok(isWebhookCurrent(live, desired));
});
