import assert from "node:assert/strict";
import { Resource } from "../../../lib/k8s/types.ts";
import { Finalizer, WebhookName } from "../../../lib/names.ts";
import { UNSERVED_GRACE_MS } from "../../../lib/operator/decide/lifecycle.ts";
import { FakeClock } from "../../support/fake_clock.ts";
import { GATE, NAMESPACE, openBench, type OperatorBench, SETTINGS } from "./make.ts";

const CONFIG = { name: "cluster" };
const WEBHOOK = { name: WebhookName.configuration };

async function hasWebhook(bench: OperatorBench): Promise<boolean> {
  return await bench.find(Resource.mutatingWebhooks, WEBHOOK) !== undefined;
}

async function isTrue(bench: OperatorBench, type: string): Promise<boolean> {
  return (await bench.conditions()).some((row) => row.type === type && row.status === "True");
}

async function isGone(bench: OperatorBench): Promise<boolean> {
  return await bench.find(Resource.clusterConfigs, CONFIG) === undefined && !await hasWebhook(bench);
}

async function steady(bench: OperatorBench): Promise<void> {
  await bench.createConfig();
  bench.start();
  await bench.until("available", () => isTrue(bench, "Available"));
}

async function createPod(bench: OperatorBench, name: string, gates: readonly string[]): Promise<void> {
  await bench.api.create(Resource.pods, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, labels: gates.includes(GATE) ? { [GATE]: "gated" } : {} },
    spec: { schedulingGates: gates.map((gate) => ({ name: gate })), containers: [{ name: "c", image: "r.example/a" }] },
  }, { namespace: "default", signal: bench.signal });
}

Deno.test("88 93 operator puts finalizer, webhook and conditions in place when a config appears", async () => {
  await using bench = await openBench();
  await steady(bench);
  const config = await bench.find(Resource.clusterConfigs, CONFIG);
  assert.deepEqual(config?.metadata.finalizers, [Finalizer.podPlacement]);
  const statuses = (await bench.conditions()).map(({ type, status }) => `${type}=${status}`);
  assert.deepEqual(statuses, [
    "Available=True",
    "Progressing=False",
    "Degraded=False",
    "Deprovisioning=False",
    "PodPlacementControllerNotRolledOut=False",
    "PodPlacementWebhookNotRolledOut=False",
    "MutatingWebhookConfigurationNotAvailable=False",
    "GatingStopped=False",
  ]);
});

Deno.test("231 operator records an event about the config when it creates and repairs the webhook", async () => {
  await using bench = await openBench();
  await steady(bench);
  assert.deepEqual(bench.events.map(({ type, reason, object }) => [type, reason, object.name, object.namespace]), [
    ["Normal", "MutatingWebhookConfigurationCreated", "cluster", NAMESPACE],
  ]);
  assert.match(bench.events[0]?.message ?? "", /^created MutatingWebhookConfiguration.*because it was missing$/);
});

Deno.test("85 operator brings the failurePolicy back when someone sets it to Fail", async () => {
  await using bench = await openBench();
  await steady(bench);
  await bench.api.patch(Resource.mutatingWebhooks, WEBHOOK, {
    body: { kind: "json", operations: [{ op: "replace", path: "/webhooks/0/failurePolicy", value: "Fail" }] },
    signal: bench.signal,
  });
  await bench.until("Ignore again", async () => {
    const webhook = await bench.find(Resource.mutatingWebhooks, WEBHOOK);
    return !JSON.stringify(webhook?.webhooks).includes('"failurePolicy":"Fail"');
  });
  assert.equal(bench.events.at(-1)?.reason, "MutatingWebhookConfigurationUpdated");
});

Deno.test("operator makes the webhook configuration again when it is deleted", async () => {
  await using bench = await openBench();
  await steady(bench);
  await bench.api.delete(Resource.mutatingWebhooks, WEBHOOK, { signal: bench.signal });
  await bench.until("webhook back", () => hasWebhook(bench));
});

Deno.test("87 operator copies the namespaceSelector verbatim when it changes", async () => {
  await using bench = await openBench();
  await steady(bench);
  await bench.api.patch(Resource.clusterConfigs, CONFIG, {
    body: { kind: "merge", document: { spec: { namespaceSelector: { matchLabels: { foo: "bar" } } } } },
    signal: bench.signal,
  });
  await bench.until("selector copied", async () => {
    const webhook = await bench.find(Resource.mutatingWebhooks, WEBHOOK);
    return JSON.stringify(webhook?.webhooks).includes('"namespaceSelector":{"matchLabels":{"foo":"bar"}}');
  });
});

Deno.test("90 operator leaves at once when only a pod with a foreign gate is pending", async () => {
  await using bench = await openBench();
  await steady(bench);
  await createPod(bench, "foreign", ["different-scheduling-gate"]);
  await bench.api.delete(Resource.clusterConfigs, CONFIG, { signal: bench.signal });
  await bench.until("all gone", () => isGone(bench));
  const pod = await bench.find(Resource.pods, { namespace: "default", name: "foreign" });
  assert.match(JSON.stringify(pod?.spec), /different-scheduling-gate/);
});

Deno.test("91 220 operator waits for a gated pod while leaving, says so, and goes when the pod is gone", async () => {
  await using bench = await openBench();
  await steady(bench);
  await createPod(bench, "held", [GATE]);
  await bench.api.delete(Resource.clusterConfigs, CONFIG, { signal: bench.signal });
  await bench.until("deprovisioning", () => isTrue(bench, "Deprovisioning"));
  await bench.until("webhook gone", async () => !await hasWebhook(bench));
  await bench.until("webhook reported gone", () => isTrue(bench, "MutatingWebhookConfigurationNotAvailable"));
  const config = await bench.find(Resource.clusterConfigs, CONFIG);
  assert.deepEqual(config?.metadata.finalizers, [Finalizer.podPlacement]);
  const statuses = (await bench.conditions()).slice(0, 7).map(({ status }) => status.slice(0, 1)).join("");
  assert.equal(statuses, "FFFTFTT");
  await bench.api.delete(Resource.pods, { namespace: "default", name: "held" }, { signal: bench.signal });
  await bench.until("all gone", () => isGone(bench));
});

Deno.test("operator keeps its finalizer on a leaving config until no node carries a taint, and reports it", async () => {
  let carried: number | undefined = undefined;
  const taints = { carried: () => carried, lift: () => Promise.resolve(0) };
  await using bench = await openBench({ taints: () => taints });
  await steady(bench);
  await bench.api.delete(Resource.clusterConfigs, CONFIG, { signal: bench.signal });
  const says = async (): Promise<boolean> =>
    (await bench.conditions()).some(({ message }) => message.includes("taints are being taken off"));
  await bench.until("the wait for what is not known yet", says);
  carried = 1;
  bench.operator.requestReconcile();
  const config = await bench.find(Resource.clusterConfigs, CONFIG);
  assert.deepEqual([config?.metadata.finalizers, await hasWebhook(bench)], [[Finalizer.podPlacement], false]);
  carried = 0;
  await bench.until("all gone", () => isGone(bench));
});

Deno.test("operator lifts the gates by force with a Warning when the pods were not placed in time", async () => {
  await using bench = await openBench({ settings: { ...SETTINGS, maxGateAgeMs: 100 } });
  await steady(bench);
  await createPod(bench, "held", ["first", GATE]);
  await createPod(bench, "unlabelled", [GATE]);
  await bench.api.delete(Resource.clusterConfigs, CONFIG, { signal: bench.signal });
  await bench.until("all gone", () => isGone(bench));
  const held = await bench.find(Resource.pods, { namespace: "default", name: "held" });
  assert.match(JSON.stringify(held?.spec), /"schedulingGates":\[\{"name":"first"\}\]/);
  assert.equal(held?.metadata.labels?.[GATE], "removed");
  const warnings = bench.events.filter(({ type }) => type === "Warning").map(({ object, reason }) =>
    `${object.name} ${reason}`
  );
  assert.deepEqual(warnings.sort(), [
    "cluster GatesLifted",
    "held ArchAwareSchedGateLifted",
    "unlabelled ArchAwareSchedGateLifted",
  ]);
});

Deno.test("92 operator leaves nothing behind when a config is deleted as soon as it was created", async () => {
  await using bench = await openBench();
  bench.start();
  await bench.createConfig();
  await bench.api.delete(Resource.clusterConfigs, CONFIG, { signal: bench.signal });
  await bench.until("all gone", () => isGone(bench));
});

Deno.test("128 129 operator keeps a finalizer on the config while namespace configs exist", async () => {
  await using bench = await openBench();
  await steady(bench);
  const target = { namespace: "default", name: "local" };
  await bench.api.create(Resource.namespaceConfigs, {
    apiVersion: "multiarch.openshift.io/v1beta1",
    kind: "PodPlacementConfig",
    metadata: { name: "local" },
    spec: { plugins: {} },
  }, { namespace: "default", signal: bench.signal });
  const finalizers = async (): Promise<readonly string[]> =>
    (await bench.find(Resource.clusterConfigs, CONFIG))?.metadata.finalizers ?? [];
  await bench.until("finalizer added", async () => (await finalizers()).includes(Finalizer.noPodPlacementConfig));
  await bench.api.delete(Resource.clusterConfigs, CONFIG, { signal: bench.signal });
  await bench.until(
    "waiting reported",
    async () => (await bench.conditions()).some(({ message }) => message.includes("PodPlacementConfigs still exist")),
  );
  assert.ok(await hasWebhook(bench), "the webhook stays while the deletion is refused");
  await bench.api.delete(Resource.namespaceConfigs, target, { signal: bench.signal });
  await bench.until("all gone", () => isGone(bench));
});

async function notRolledOut(bench: OperatorBench): Promise<readonly string[]> {
  const types = ["PodPlacementControllerNotRolledOut", "PodPlacementWebhookNotRolledOut"];
  return (await bench.conditions()).filter(({ type }) => types.includes(type)).map(({ status }) => status);
}

Deno.test("operator takes the webhook away only when no replica could serve for a while", async () => {
  let [serves, reconciles] = [false, true];
  const clock = new FakeClock();
  await using bench = await openBench({ canServe: () => serves, canReconcile: () => reconciles, clock });
  const change = async (to: { readonly serves: boolean; readonly reconciles: boolean }): Promise<void> => {
    ({ serves, reconciles } = to);
    bench.operator.requestReconcile();
    const wanted = to.serves && to.reconciles ? "Available" : "Degraded";
    await bench.until(`${wanted} with ${JSON.stringify(to)}`, () => isTrue(bench, wanted));
  };
  await bench.createConfig();
  bench.start();
  await bench.until("degraded", () => isTrue(bench, "Degraded"));
  assert.equal(await hasWebhook(bench), false);
  assert.deepEqual(await notRolledOut(bench), ["False", "True"]);
  await change({ serves: true, reconciles: true });
  assert.deepEqual(await notRolledOut(bench), ["False", "False"]);
  await change({ serves: true, reconciles: false });
  assert.deepEqual(await notRolledOut(bench), ["True", "False"]);
  assert.ok(await hasWebhook(bench), "what is gated waits for the controller");
  await change({ serves: true, reconciles: true });
  await change({ serves: false, reconciles: true });
  assert.ok(await hasWebhook(bench), "a moment without replicas is no reason");
  assert.deepEqual(await notRolledOut(bench), ["False", "True"]);
  await clock.advance(UNSERVED_GRACE_MS - 1);
  assert.ok(await hasWebhook(bench), "a while has not passed yet");
  await clock.advance(1);
  bench.operator.requestReconcile();
  await bench.until("the webhook to be gone", async () => !await hasWebhook(bench));
  assert.deepEqual(await notRolledOut(bench), ["False", "True"]);
});
