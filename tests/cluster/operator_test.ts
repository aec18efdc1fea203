// The operator, the config webhooks and the certificates on a real API server, under the rights of manifests/base/rbac.
import assert from "node:assert/strict";
import { type KubeObject, Resource } from "../../lib/k8s/types.ts";
import { EventReason, Finalizer, SCHEDULING_GATE, WebhookName } from "../../lib/names.ts";
import { parseOperandConfig } from "../../lib/operator/decide/config_view.ts";
import { changeAuthority } from "../../lib/server/certificate/authority.ts";
import { clusterConfig, defineKind, localConfig, POD_WEBHOOK } from "./support/objects.ts";
import { NAMESPACE, openOperatorBench, type OperatorBench } from "./support/operator_bench.ts";
import { waitUntil } from "./support/wait.ts";

const GROUP = "/apis/multiarch.openshift.io";
const LATEST = "v1beta1/clusterpodplacementconfigs/cluster";
const ALPHA = "v1alpha1/clusterpodplacementconfigs/cluster";
const CONFIG = { name: "cluster" };
const WEBHOOK = { name: WebhookName.configuration };
const SCORING = { nodeAffinityScoring: { enabled: true, platforms: [{ architecture: "arm64", weight: 50 }] } };

const BOTH_PLUGINS = { ...SCORING, execFormatErrorMonitor: { enabled: true } };

function oldConfig(): Readonly<Record<string, unknown>> {
  return { ...clusterConfig(), apiVersion: "multiarch.openshift.io/v1alpha1" };
}

async function send(
  { controlPlane }: OperatorBench,
  request: readonly [method: string, path: string, body?: unknown],
): Promise<{ readonly status: number; readonly text: string }> {
  const [method, path, body] = request;
  const answer = await controlPlane.request(method, `${GROUP}/${path}`, body);
  return { status: answer.status, text: JSON.stringify(answer.body) };
}

async function changeConfig(bench: OperatorBench, spec: Readonly<Record<string, unknown>>): Promise<void> {
  const { status, text } = await send(bench, ["PATCH", LATEST, { spec }]);
  assert.equal(status, 200, text);
}

const findConfig = (bench: OperatorBench): Promise<KubeObject | undefined> =>
  bench.find(Resource.clusterConfigs, CONFIG);

const findWebhook = (bench: OperatorBench): Promise<KubeObject | undefined> =>
  bench.find(Resource.mutatingWebhooks, WEBHOOK);

/** All conditions are about the config of now. */
async function isReported(bench: OperatorBench): Promise<boolean> {
  const config = await findConfig(bench) ?? assert.fail("no config");
  const { conditions, generation } = parseOperandConfig(config);
  return conditions.length === 8 && conditions.every((one) => one.observedGeneration === generation);
}

async function untilWebhook(bench: OperatorBench, what: string, text: string, isThere = true): Promise<void> {
  await waitUntil(what, async () => (await webhookText(bench)).includes(text) === isThere);
}

async function conditions(bench: OperatorBench): Promise<string> {
  const config = await findConfig(bench);
  if (config === undefined) return "";
  return parseOperandConfig(config).conditions.slice(0, 7).map(({ status }) => status.slice(0, 1)).join("");
}

async function createSteadily(bench: OperatorBench, spec: Readonly<Record<string, unknown>> = {}): Promise<void> {
  // The first writes fail closed until the CA is in the validating webhooks.
  const create = ["POST", "v1beta1/clusterpodplacementconfigs", clusterConfig(spec)] as const;
  await waitUntil("config accepted", async () => (await send(bench, create)).status === 201);
  await waitUntil("operand available", async () => await conditions(bench) === "TFFFFFF");
}

async function deleteCompletely(bench: OperatorBench): Promise<void> {
  const { status, text } = await send(bench, ["DELETE", LATEST]);
  assert.equal(status, 200, text);
  await waitUntil("all gone", async () => !await findConfig(bench) && !await findWebhook(bench));
}

async function webhookText(bench: OperatorBench): Promise<string> {
  return JSON.stringify((await findWebhook(bench))?.webhooks ?? []);
}

async function createPod(bench: OperatorBench, namespace: string, pod: object = {}): Promise<KubeObject> {
  return await bench.admin.create(Resource.pods, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { generateName: "p-" },
    spec: { containers: [{ name: "c", image: "registry.example/app:1" }] },
    ...pod,
  }, { namespace, signal: bench.signal });
}

Deno.test("operator on a real API server", async (t) => {
  await using bench = await openOperatorBench();

  await t.step("88 93 175 installs, and reports through v1beta1 and v1alpha1", async () => {
    await createSteadily(bench);
    const config = await findConfig(bench);
    assert.deepEqual(config?.metadata.finalizers, [Finalizer.podPlacement]);
    assert.deepEqual(bench.warnings, []);
    assert.deepEqual(bench.events, ["cluster Normal MutatingWebhookConfigurationCreated"]);
    assert.equal((await send(bench, ["GET", ALPHA])).status, 200);
    assert.equal((await findWebhook(bench))?.metadata.ownerReferences?.[0]?.uid, config.metadata.uid);
  });

  await t.step("85 87 repairs what others change in its webhook and leaves what is theirs", async () => {
    const operations = [
      { op: "replace", path: "/webhooks/0/failurePolicy", value: "Fail" },
      { op: "add", path: "/metadata/labels/team", value: "a" },
    ];
    await bench.controlPlane.patch(POD_WEBHOOK, operations);
    await untilWebhook(bench, "Ignore again", '"failurePolicy":"Fail"', false);
    assert.equal((await findWebhook(bench))?.metadata.labels?.team, "a");
    await changeConfig(bench, { namespaceSelector: { matchLabels: { foo: "bar" } } });
    await untilWebhook(bench, "selector copied", '"namespaceSelector":{"matchLabels":{"foo":"bar"}}');
    await changeConfig(bench, { namespaceSelector: null });
    await untilWebhook(bench, "selector gone", '"foo":"bar"', false);
    await bench.admin.delete(Resource.mutatingWebhooks, WEBHOOK, { signal: bench.signal });
    await untilWebhook(bench, "webhook back", "scheduling-gate");
  });

  await t.step("writes the webhook once for a selector with empty lists, which the API server drops", async () => {
    const namespaceSelector = {
      matchLabels: {},
      matchExpressions: [{ key: "archway.dev/exclude", operator: "DoesNotExist", values: [] }],
    };
    await changeConfig(bench, { namespaceSelector });
    const stored = '"namespaceSelector":{"matchExpressions":[{"key":"archway.dev/exclude","operator":"DoesNotExist"}]}';
    await untilWebhook(bench, "selector copied", stored);
    const version = async (): Promise<string | undefined> => (await findWebhook(bench))?.metadata.resourceVersion;
    const written = await version();
    // Each write of the config is a look at the webhook configuration; three of them must find it as it is wanted.
    for (const logVerbosity of ["Debug", "Trace", "Normal"]) {
      await changeConfig(bench, { logVerbosity });
      await waitUntil("the operator has looked", () => isReported(bench));
    }
    assert.equal(await version(), written);
    await changeConfig(bench, { namespaceSelector: null });
    await untilWebhook(bench, "selector gone", '"namespaceSelector":{}');
  });

  await t.step("218 keeps ServiceMonitor and PrometheusRule, also when their API comes later", async () => {
    assert.ok(!bench.events.includes("cluster Normal ServiceMonitorCreated"));
    // What the installation of the Prometheus operator brings.
    for (const [, { group, kind, plural }] of MONITORING) await defineKind(bench.controlPlane, { group, kind, plural });
    for (const [kind, type] of MONITORING) {
      const target = { namespace: NAMESPACE, name: "archway" };
      const object = await waitUntil(kind, () => bench.find(type, target));
      assert.equal(object.metadata.ownerReferences?.[0]?.name, "cluster");
      await waitUntil(`event of ${kind}`, () => bench.events.includes(`cluster Normal ${kind}Created`));
    }
  });

  await t.step("218 repairs the ServiceMonitor, and leaves the label that Prometheus selects it by", async () => {
    const target = { namespace: NAMESPACE, name: "archway" };
    const document = { metadata: { labels: { release: "prometheus" } }, spec: { endpoints: [] } };
    const body = { kind: "merge", document } as const;
    await bench.admin.patch(Resource.serviceMonitors, target, { body, signal: bench.signal });
    const repaired = await waitUntil("the endpoint", async () => {
      const object = await bench.find(Resource.serviceMonitors, target);
      return JSON.stringify(object?.spec).includes('"port":"metrics"') && object;
    });
    assert.equal(repaired.metadata.labels?.release, "prometheus");
  });

  await t.step("183 185 converts without losing plugins or the fallback", async () => {
    await changeConfig(bench, { plugins: BOTH_PLUGINS, fallbackArchitecture: "amd64" });
    const old = await send(bench, ["GET", ALPHA]);
    assert.match(old.text, /"multiarch\.openshift\.io\/fallback-architecture":"amd64"/);
    assert.match(old.text, /"spec":\{"logVerbosity":"Normal"\}/);
    assert.equal((await send(bench, ["PATCH", ALPHA, { spec: { logVerbosity: "Debug" } }])).status, 200);
    const read = await findConfig(bench);
    assert.deepEqual(read?.spec, { logVerbosity: "Debug", fallbackArchitecture: "amd64", plugins: BOTH_PLUGINS });
    await changeConfig(bench, { plugins: null, fallbackArchitecture: "" });
    const { text } = await send(bench, ["GET", ALPHA]);
    assert.doesNotMatch(text, /"annotations":\{[^}]*(fallback-architecture|v1beta1-spec)"/);
  });

  await t.step("refuses a fallback annotation that names no architecture", async () => {
    const body = { metadata: { annotations: { "multiarch.openshift.io/fallback-architecture": "arm32" } } };
    const { status, text } = await send(bench, ["PATCH", ALPHA, body]);
    assert.equal(status, 403, text);
    assert.match(text, /arm32/);
  });

  await t.step(
    "125 128 136 137 138 139 DV-139 EX-12 M2-02 M2-05 checks namespace configs, and keeps the cluster config while there is one",
    async () => {
      const namespace = await bench.controlPlane.createNamespace("local");
      const path = `v1beta1/namespaces/${namespace}/podplacementconfigs`;
      const post = async (name: string, priority: number, spec: object = { plugins: {} }): Promise<number> =>
        (await send(bench, ["POST", path, localConfig(name, { priority, ...spec })])).status;
      assert.equal(await post("one", 50), 201);
      assert.equal(await post("two", 50), 403);
      assert.equal(await post("two", 30), 201);
      assert.equal((await send(bench, ["PATCH", `${path}/two`, { spec: { priority: 50 } }])).status, 403);
      assert.equal((await send(bench, ["PATCH", `${path}/two`, { metadata: { labels: { a: "b" } } }])).status, 200);
      const platforms = [50, 100].map((weight) => ({ architecture: "amd64", weight }));
      const twice = { nodeAffinityScoring: { enabled: true, platforms } };
      assert.equal(await post("three", 1, { plugins: twice }), 403);
      assert.equal(await post("four", 2, { plugins: {}, labelSelector: { matchLabels: { "bad key": "x" } } }), 403);
      const isKept = async (): Promise<boolean> =>
        (await findConfig(bench))?.metadata.finalizers?.includes(Finalizer.noPodPlacementConfig) === true;
      await waitUntil("finalizer", isKept);
      const refused = await send(bench, ["DELETE", LATEST]);
      assert.equal(refused.status, 403, refused.text);
      assert.equal((await send(bench, ["DELETE", `${path}/one`])).status, 200);
      assert.equal(await post("five", 50), 201);
      await send(bench, ["DELETE", `${path}/two`]);
      await send(bench, ["DELETE", `${path}/five`]);
      await waitUntil("no finalizer", async () => !await isKept());
      const allowed = await send(bench, ["DELETE", `${LATEST}?dryRun=All`]);
      assert.equal(allowed.status, 200, allowed.text);
    },
  );

  await t.step(
    "89 91 99 127 191 218 220 leaves in order: webhook, gates, finalizer, and nothing that it made stays",
    async () => {
      const namespace = await bench.controlPlane.createNamespace("held");
      const pod = await createPod(bench, namespace);
      assert.equal(pod.metadata.labels?.[SCHEDULING_GATE], "gated");
      assert.equal((await send(bench, ["DELETE", LATEST])).status, 200);
      await waitUntil("deprovisioning", async () => await conditions(bench) === "FFFTFTT");
      assert.equal(await findWebhook(bench), undefined);
      await bench.admin.delete(Resource.pods, { namespace, name: pod.metadata.name }, { signal: bench.signal });
      await waitUntil("config gone", async () => await findConfig(bench) === undefined);
      for (const [kind, type] of MONITORING) {
        const target = { namespace: NAMESPACE, name: "archway" };
        await waitUntil(`no ${kind}`, async () => await bench.find(type, target) === undefined);
      }
    },
  );

  await t.step("124 EX-11 M2-01 refuses a namespace config without cluster config", async () => {
    const namespace = await bench.controlPlane.createNamespace("lonely");
    const path = `v1beta1/namespaces/${namespace}/podplacementconfigs`;
    const { status, text } = await send(bench, ["POST", path, localConfig("one", { priority: 1, plugins: {} })]);
    assert.equal(status, 400, text);
  });

  await t.step("176 184 a config made through v1alpha1 is served as v1beta1, and takes effect", async () => {
    const { status } = await send(bench, ["POST", "v1alpha1/clusterpodplacementconfigs", oldConfig()]);
    assert.equal(status, 201);
    await waitUntil("operand available", async () => await conditions(bench) === "TFFFFFF");
    assert.match(await webhookText(bench), /scheduling-gate/);
    const config = await findConfig(bench);
    assert.equal(config?.apiVersion, "multiarch.openshift.io/v1beta1");
    assert.deepEqual(config.spec, { logVerbosity: "Normal", fallbackArchitecture: "" });
    await deleteCompletely(bench);
  });

  await t.step("92 leaves nothing when a config is deleted at once", async () => {
    const { status } = await send(bench, ["POST", "v1alpha1/clusterpodplacementconfigs", oldConfig()]);
    assert.equal(status, 201);
    await deleteCompletely(bench);
  });

  await t.step("TLS: ten changes of the authority fail no call and leave no pod ungated", async () => {
    await createSteadily(bench);
    await rotateUnderLoad(bench);
  });

  await t.step("leaves with hundreds of gated pods: every gate is lifted, and each pod gets an event", async () => {
    const gated = await countGates(bench);
    assert.ok(gated > 100);
    const warnings = (): number =>
      bench.events.filter((event) => event.endsWith(` Warning ${EventReason.gateLifted}`)).length;
    assert.equal(warnings(), 0);
    await deleteCompletely(bench);
    assert.equal(await countGates(bench), 0);
    assert.ok(bench.events.includes("cluster Warning GatesLifted"));
    assert.equal(warnings(), gated);
  });
});

const MONITORING = [
  ["ServiceMonitor", Resource.serviceMonitors],
  ["PrometheusRule", Resource.prometheusRules],
] as const;

async function rotateUnderLoad(bench: OperatorBench): Promise<void> {
  const namespace = await bench.controlPlane.createNamespace("load");
  const ungated: string[] = [];
  let created = 0;
  let rotating = true;
  const load = async (): Promise<void> => {
    while (rotating) {
      const pod = await createPod(bench, namespace);
      created++;
      await new Promise((resolve) => setTimeout(resolve, 10));
      if (pod.metadata.labels?.[SCHEDULING_GATE] !== "gated") ungated.push(pod.metadata.name);
    }
  };
  const loads = [load(), load()];
  for (let rotation = 0; rotation < 10; rotation++) await rotate(bench);
  rotating = false;
  await Promise.all(loads);
  assert.deepEqual(ungated, [], `of ${created} pods`);
  assert.ok(created > 100, `only ${created} pods were created`);
}

async function countGates(bench: OperatorBench): Promise<number> {
  const { items } = await bench.admin.list(Resource.pods, {}, bench.signal);
  return items.filter(({ spec }) => JSON.stringify(spec).includes(SCHEDULING_GATE)).length;
}

/** One change of the CA, in the two stages that the terms space out in real life. */
async function rotate(bench: OperatorBench): Promise<void> {
  for (const change of ["stage", "promote"] as const) {
    const stored = await bench.store.read(bench.signal);
    const next = await changeAuthority(stored.authority, { change, terms: bench.terms, nowMs: Date.now() });
    assert.ok(await bench.store.swap(stored, next, bench.signal));
    await waitUntil("certificate and bundle in force", async () => {
      const { cert, caBundle = "" } = bench.certificate.current();
      return cert === next.serving.cert && (await webhookText(bench)).includes(btoa(caBundle));
    });
    // The API server reads webhook configurations from its watch cache, a moment later.
    await new Promise((resolve) => setTimeout(resolve, change === "stage" ? 500 : 0));
  }
}
