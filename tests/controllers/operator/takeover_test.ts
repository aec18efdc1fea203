import assert from "node:assert/strict";
import { Resource } from "../../../lib/k8s/types.ts";
import { Finalizer, WebhookName } from "../../../lib/names.ts";
import { NAMESPACE, openBench, type OperatorBench } from "./make.ts";

async function createDeployment(bench: OperatorBench, name: string, finalizers: readonly string[]): Promise<void> {
  await bench.api.create(Resource.deployments, {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, finalizers },
    spec: { replicas: 0, selector: { matchLabels: { a: name } }, template: { metadata: { labels: { a: name } } } },
  }, { namespace: NAMESPACE, signal: bench.signal });
}

Deno.test("migration: the operator frees the Deployments of the MTO and keeps foreign finalizers", async () => {
  await using bench = await openBench();
  await createDeployment(bench, "pod-placement-controller", ["foreign/x", Finalizer.podPlacement]);
  await createDeployment(bench, "enoexec-event-handler-controller", [Finalizer.enoexecEvents]);
  bench.start();
  const finalizers = async (name: string): Promise<readonly string[]> =>
    (await bench.find(Resource.deployments, { namespace: NAMESPACE, name }))?.metadata.finalizers ?? [];
  await bench.until("freed", async () =>
    (await finalizers("enoexec-event-handler-controller")).length === 0 &&
    !(await finalizers("pod-placement-controller")).includes(Finalizer.podPlacement));
  assert.deepEqual(await finalizers("pod-placement-controller"), ["foreign/x"]);
});

Deno.test("the operator writes its CA into the validating webhooks, and again when the CA changes", async () => {
  let caBundle = "one";
  await using bench = await openBench({ caBundle: () => caBundle });
  const name = WebhookName.validatingConfiguration;
  const clientConfig = { service: { namespace: NAMESPACE, name: "archway-webhook", path: "/validate" } };
  await bench.api.create(Resource.validatingWebhooks, {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingWebhookConfiguration",
    metadata: { name },
    webhooks: [{ name: "a.example", clientConfig, sideEffects: "None", admissionReviewVersions: ["v1"], rules: [] }],
  }, { signal: bench.signal });
  bench.start();
  const holds = (pem: string) => async (): Promise<boolean> =>
    JSON.stringify(await bench.find(Resource.validatingWebhooks, { name })).includes(btoa(pem));
  await bench.until("first bundle", holds("one"));
  caBundle = "two";
  bench.operator.requestReconcile();
  await bench.until("second bundle", holds("two"));
});
