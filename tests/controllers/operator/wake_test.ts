import assert from "node:assert/strict";
import { logLevelOf } from "../../../lib/operator/cluster/configs.ts";
import { Resource } from "../../../lib/k8s/types.ts";
import { Finalizer } from "../../../lib/names.ts";
import { parseClusterConfig } from "../../../lib/placement/decide/config/config.ts";
import {
  CONFIG,
  deleteConfig,
  hasCondition,
  openSteady,
  type OperatorBench,
  patchConfig,
  WEBHOOK,
  webhookText,
} from "./make.ts";

Deno.test("30 37 operator acts when a config is created and when its spec changes", async () => {
  await using bench = await openSteady();
  await patchConfig(bench, { spec: { namespaceSelector: { matchLabels: { team: "a" } } } });
  const selector = '"namespaceSelector":{"matchLabels":{"team":"a"}}';
  await bench.until("selector copied", async () => (await webhookText(bench)).includes(selector));
});

Deno.test("31 operator takes the webhook away when the deletion of the config begins", async () => {
  await using bench = await openSteady();
  await deleteConfig(bench);
  await bench.until("gone", async () => await bench.find(Resource.mutatingWebhooks, WEBHOOK) === undefined);
});

Deno.test("32 operator puts its finalizer back when someone strips it", async () => {
  await using bench = await openSteady();
  await patchConfig(bench, { metadata: { finalizers: null } });
  const finalizers = async (): Promise<readonly string[] | undefined> =>
    (await bench.find(Resource.clusterConfigs, CONFIG))?.metadata.finalizers;
  await bench.until("finalizer", async () => (await finalizers())?.includes(Finalizer.podPlacement) === true);
});

type Change = (bench: OperatorBench) => Promise<unknown>;

const INDIFFERENT: readonly (readonly [row: string, what: string, change: Change])[] = [
  ["33", "conditions of others", async (bench) => {
    const foreign = { type: "Foreign", status: "True", reason: "Test", message: "" };
    const conditions = [...await bench.conditions(), { ...foreign, lastTransitionTime: "2026-01-01T00:00:00Z" }];
    return await patchConfig(bench, { status: { conditions } }, "status");
  }],
  ["34", "labels", (bench) => patchConfig(bench, { metadata: { labels: { team: "a" } } })],
  ["35", "annotations", (bench) => patchConfig(bench, { metadata: { annotations: { note: "a" } } })],
  ["36", "nothing", (bench) => patchConfig(bench, {})],
];
for (const [row, what, change] of INDIFFERENT) {
  Deno.test(`${row} operator writes nothing when ${what} of the config changes`, async () => {
    let looks = 0;
    await using bench = await openSteady({ canServe: () => ++looks > 0 });
    await change(bench);
    const versions = async (): Promise<readonly (string | undefined)[]> => [
      (await bench.find(Resource.clusterConfigs, CONFIG))?.metadata.resourceVersion,
      (await bench.find(Resource.mutatingWebhooks, WEBHOOK))?.metadata.resourceVersion,
    ];
    const before = await versions();
    const seen = looks;
    // A request during a reconcile is kept: the second reconcile begins after the change.
    for (const count of [1, 2]) {
      bench.operator.requestReconcile();
      await bench.until("a look", () => Promise.resolve(looks >= seen + count));
    }
    assert.deepEqual(await versions(), before);
  });
}

Deno.test("Q-07 operator names a node without the label of its architecture in a condition", async () => {
  await using bench = await openSteady();
  await bench.api.create(Resource.nodes, { apiVersion: "v1", kind: "Node", metadata: { name: "virtual-1" } }, {
    signal: bench.signal,
  });
  bench.operator.requestReconcile();
  await bench.until(
    "named",
    async () =>
      (await bench.conditions()).some(({ type, status, message }) =>
        `${type}=${status}` === "NodesWithoutArchitecture=True" && message.includes("virtual-1")
      ),
  );
});

Deno.test("98 operator stays available and comes to rest when logVerbosity changes", async () => {
  await using bench = await openSteady();
  const { metadata: { generation } } = await patchConfig(bench, { spec: { logVerbosity: "TraceAll" } });
  await bench.until(
    "seen",
    async () => (await bench.conditions()).every((row) => row.observedGeneration === generation),
  );
  const wanted = ["Available=True", "Progressing=False", "Degraded=False", "Deprovisioning=False"];
  for (const condition of wanted) assert.ok(await hasCondition(bench, condition), condition);
});

Deno.test("86 (different: one process, so nothing rolls out) logLevelOf() follows logVerbosity of the config", () => {
  const levelOf = (logVerbosity: string): string | undefined => {
    const parsed = parseClusterConfig({ metadata: CONFIG, spec: { logVerbosity } });
    return parsed.kind === "parsed" ? logLevelOf(parsed.value) : undefined;
  };
  assert.deepEqual(["Normal", "Debug", "Trace", "TraceAll"].map(levelOf), ["info", "debug", "debug", "debug"]);
  assert.equal(logLevelOf(undefined), undefined);
});
