import assert from "node:assert/strict";
import { OperatorMemory } from "../../../controllers/operator/operator_memory.ts";
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

function repair(memory: OperatorMemory, wanted: string, times: number): void {
  for (let time = 0; time < times; time++) memory.noteRepair(wanted, 1_000 + time);
}

Deno.test("conflictBackoffMs() lets a conflict with another writer back off", () => {
  const memory = new OperatorMemory();
  repair(memory, "same", 5);
  assert.equal(memory.conflictBackoffMs(1_100), 0);
  repair(memory, "same", 1);
  assert.ok(memory.conflictBackoffMs(1_100) > 0);
  assert.equal(memory.conflictBackoffMs(100_000), 0, "an old quarrel is forgotten");
});

Deno.test("conflictBackoffMs() does not mistake our own changes for a conflict", () => {
  const memory = new OperatorMemory();
  for (let change = 0; change < 20; change++) repair(memory, `change ${change}`, 1);
  assert.equal(memory.conflictBackoffMs(1_100), 0);
});
