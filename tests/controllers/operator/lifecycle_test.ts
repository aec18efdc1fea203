import assert from "node:assert/strict";
import { Resource } from "../../../lib/k8s/types.ts";
import { Finalizer } from "../../../lib/names.ts";
import { UNSERVED_GRACE_MS } from "../../../lib/operator/decide/lifecycle.ts";
import { FakeClock } from "../../support/fake_clock.ts";
import {
  CONFIG,
  deleteConfig,
  GATE,
  hasCondition,
  NAMESPACE,
  openBench,
  openSteady,
  type OperatorBench,
  patchConfig,
  SETTINGS,
  WEBHOOK,
  webhookText,
} from "./make.ts";

async function hasWebhook(bench: OperatorBench): Promise<boolean> {
  return await webhookText(bench) !== "";
}

async function isGone(bench: OperatorBench): Promise<boolean> {
  return await bench.find(Resource.clusterConfigs, CONFIG) === undefined && !await hasWebhook(bench);
}

async function says(bench: OperatorBench, words: string): Promise<boolean> {
  return (await bench.conditions()).some(({ message }) => message.includes(words));
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
  await using bench = await openSteady();
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
  await using bench = await openSteady();
  assert.deepEqual(bench.events.map(({ type, reason, object }) => [type, reason, object.name, object.namespace]), [
    ["Normal", "MutatingWebhookConfigurationCreated", "cluster", NAMESPACE],
  ]);
  assert.match(bench.events[0]?.message ?? "", /^created MutatingWebhookConfiguration.*because it was missing$/);
});

async function setFail(bench: OperatorBench): Promise<void> {
  await bench.api.patch(Resource.mutatingWebhooks, WEBHOOK, {
    body: { kind: "json", operations: [{ op: "replace", path: "/webhooks/0/failurePolicy", value: "Fail" }] },
    signal: bench.signal,
  });
}

async function isFail(bench: OperatorBench): Promise<boolean> {
  return (await webhookText(bench)).includes('"failurePolicy":"Fail"');
}

Deno.test("85 operator brings the failurePolicy back when someone sets it to Fail", async () => {
  await using bench = await openSteady();
  await setFail(bench);
  await bench.until("Ignore again", async () => !await isFail(bench));
  assert.equal(bench.events.at(-1)?.reason, "MutatingWebhookConfigurationUpdated");
});

Deno.test("operator corrects the webhooks again after a second at the earliest, as another client may undo it", async () => {
  const clock = new FakeClock();
  await using bench = await openSteady({ clock });
  const corrected = async (): Promise<void> => {
    bench.operator.requestReconcile();
    await bench.until("Ignore again", async () => !await isFail(bench));
  };
  /** Whether nothing corrects it during 100 looks. A reconcile takes four. */
  const isLeft = async (): Promise<boolean> => {
    for (let request = 0; request < 100; request++) {
      bench.operator.requestReconcile();
      if (!await isFail(bench)) return false;
    }
    return true;
  };
  await setFail(bench);
  await corrected();
  // The reconcile of the correction still runs, and corrects the first of these changes.
  let changes = 0;
  do {
    assert.ok(changes++ < 5);
    await setFail(bench);
  } while (!await isLeft());
  await clock.advance(999);
  assert.ok(await isLeft());
  await clock.advance(1);
  await corrected();
});

Deno.test("87 operator copies the namespaceSelector verbatim when it changes", async () => {
  await using bench = await openSteady();
  await patchConfig(bench, { spec: { namespaceSelector: { matchLabels: { foo: "bar" } } } });
  const selector = '"namespaceSelector":{"matchLabels":{"foo":"bar"}}';
  await bench.until("selector copied", async () => (await webhookText(bench)).includes(selector));
});

Deno.test("90 operator leaves at once when only a pod with a foreign gate is pending", async () => {
  await using bench = await openSteady();
  await createPod(bench, "foreign", ["different-scheduling-gate"]);
  await deleteConfig(bench);
  await bench.until("all gone", () => isGone(bench));
  const pod = await bench.find(Resource.pods, { namespace: "default", name: "foreign" });
  assert.match(JSON.stringify(pod?.spec), /different-scheduling-gate/);
});

Deno.test("91 220 operator waits for a gated pod while leaving, says so, and goes when the pod is gone", async () => {
  await using bench = await openSteady();
  await createPod(bench, "held", [GATE]);
  await deleteConfig(bench);
  await bench.until("deprovisioning", () => hasCondition(bench, "Deprovisioning=True"));
  await bench.until("webhook gone", async () => !await hasWebhook(bench));
  await bench.until(
    "webhook reported gone",
    () => hasCondition(bench, "MutatingWebhookConfigurationNotAvailable=True"),
  );
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
  await using bench = await openSteady({ taints: () => taints });
  await deleteConfig(bench);
  await bench.until("the wait for what is not known yet", () => says(bench, "taints are being taken off"));
  carried = 1;
  bench.operator.requestReconcile();
  const config = await bench.find(Resource.clusterConfigs, CONFIG);
  assert.deepEqual([config?.metadata.finalizers, await hasWebhook(bench)], [[Finalizer.podPlacement], false]);
  carried = 0;
  await bench.until("all gone", () => isGone(bench));
});

Deno.test("operator lifts the gates by force with a Warning when the pods were not placed in time", async () => {
  await using bench = await openSteady({ settings: { ...SETTINGS, maxGateAgeMs: 100 } });
  await createPod(bench, "held", ["first", GATE]);
  await createPod(bench, "unlabelled", [GATE]);
  await deleteConfig(bench);
  await bench.until("all gone", () => isGone(bench));
  const held = await bench.find(Resource.pods, { namespace: "default", name: "held" });
  assert.match(JSON.stringify(held?.spec), /"schedulingGates":\[\{"name":"first"\}\]/);
  assert.equal(held?.metadata.labels?.[GATE], "removed");
  const warnings = bench.events.filter(({ type }) => type === "Warning");
  assert.deepEqual(warnings.map(({ object, reason }) => `${object.name} ${reason}`).sort(), [
    "cluster GatesLifted",
    "held ArchAwareSchedGateLifted",
    "unlabelled ArchAwareSchedGateLifted",
  ]);
});

Deno.test("92 operator leaves nothing behind when a config is deleted as soon as it was created", async () => {
  await using bench = await openBench();
  bench.start();
  await bench.createConfig();
  await deleteConfig(bench);
  await bench.until("all gone", () => isGone(bench));
});

Deno.test("128 129 operator keeps a finalizer on the config while namespace configs exist", async () => {
  await using bench = await openSteady();
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
  await deleteConfig(bench);
  await bench.until("waiting reported", () => says(bench, "PodPlacementConfigs still exist"));
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
    await bench.until(`${wanted} with ${JSON.stringify(to)}`, () => hasCondition(bench, `${wanted}=True`));
  };
  await bench.createConfig();
  bench.start();
  await bench.until("degraded", () => hasCondition(bench, "Degraded=True"));
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
