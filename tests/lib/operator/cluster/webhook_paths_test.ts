import assert from "node:assert/strict";
import { openWebhookPaths } from "../../../../lib/operator/cluster/webhook_paths.ts";
import { type KubeObject, Resource } from "../../../../lib/k8s/types.ts";
import { silentLogger } from "../../../../lib/log.ts";
import { CONVERTED_CRD, WebhookName, WebhookPath } from "../../../../lib/names.ts";
import { openScene, whileRunning } from "../../../controllers/make.ts";

const SERVICE = { namespace: "archway-system", name: "archway-webhook" };

function pathOf(route: string): string {
  return `/secret${route}`;
}

function mutating(path: string): KubeObject {
  const webhooks = [{ name: "gate", clientConfig: { service: { ...SERVICE, path } } }];
  return { kind: Resource.mutatingWebhooks.kind, metadata: { name: WebhookName.configuration }, webhooks };
}

function definition(path: string): KubeObject {
  const webhook = { clientConfig: { service: { ...SERVICE, path } } };
  return {
    kind: Resource.customResourceDefinitions.kind,
    metadata: { name: CONVERTED_CRD },
    spec: { conversion: { strategy: "Webhook", webhook } },
  };
}

const openBench = (...objects: readonly KubeObject[]) => {
  const { cluster, clock } = openScene(...objects);
  const endpoint = { kind: "service", ...SERVICE } as const;
  return { cluster, clock, paths: openWebhookPaths({ api: cluster.api, clock, log: silentLogger, endpoint }) };
};

Deno.test("openWebhookPaths() has the manifests' paths until all is read, and each path for a minute after it was replaced", async () => {
  const bench = openBench(mutating(pathOf(WebhookPath.gatePod)), definition(WebhookPath.convert));
  const carries = (path: string): boolean => bench.paths.registered().includes(path);
  assert.equal(carries(WebhookPath.gatePod), true, "nothing is read yet");
  assert.equal(bench.paths.hasSynced(), false);
  await whileRunning(bench, bench.paths, async () => {
    assert.equal(bench.paths.hasSynced(), true);
    assert.equal(carries(WebhookPath.gatePod), false);
    assert.deepEqual([carries(pathOf(WebhookPath.gatePod)), carries(WebhookPath.convert)], [true, true]);
    await bench.clock.advance(5 * 60_000);
    bench.cluster.put(Resource.customResourceDefinitions, definition(pathOf(WebhookPath.convert)));
    await bench.clock.advance(30_000);
    assert.deepEqual([carries(WebhookPath.convert), carries(pathOf(WebhookPath.convert))], [true, true]);
    await bench.clock.advance(31_000);
    assert.deepEqual([carries(WebhookPath.convert), carries(pathOf(WebhookPath.convert))], [false, true]);
  });
});

Deno.test("openWebhookPaths() has them again at once when a tool writes the manifests' paths back", async () => {
  const bench = openBench(mutating(pathOf(WebhookPath.gatePod)), definition(pathOf(WebhookPath.convert)));
  await whileRunning(bench, bench.paths, async () => {
    assert.equal(bench.paths.registered().includes(WebhookPath.convert), false);
    bench.cluster.put(Resource.customResourceDefinitions, definition(WebhookPath.convert));
    await bench.clock.advance(10);
    assert.equal(bench.paths.registered().includes(WebhookPath.convert), true);
  });
});

Deno.test("openWebhookPaths() has none when nothing points here", async () => {
  const bench = openBench();
  await whileRunning(bench, bench.paths, () => assert.deepEqual(bench.paths.registered(), []));
});
