import assert from "node:assert/strict";
import { type AuditedNamespaces, openAuditedNamespaces } from "../../../../lib/placement/cluster/audited_namespaces.ts";
import { type KubeObject, Resource } from "../../../../lib/k8s/types.ts";
import { silentLogger } from "../../../../lib/log.ts";
import { openScene, type Scene, whileRunning } from "../../../controllers/make.ts";

function namespace(name: string, mode: string): KubeObject {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name, labels: { "archway.dev/mode": mode } } };
}

function openAudited({ cluster, clock }: Scene): AuditedNamespaces {
  return openAuditedNamespaces({ api: cluster.api, clock, log: silentLogger });
}

Deno.test("openAuditedNamespaces() has synced once the labelled namespaces are listed, and follows them as they come and go", async () => {
  const scene = openScene(namespace("shop", "audit"), namespace("plain", "other"));
  const audited = openAudited(scene);
  const state = (): unknown => [audited.hasSynced(), [...audited.names()], audited.has("shop"), audited.has("plain")];
  assert.deepEqual(state(), [false, [], false, false]);
  await whileRunning(scene, audited, async () => {
    assert.deepEqual(state(), [true, ["shop"], true, false]);
    scene.cluster.put(Resource.namespaces, namespace("plain", "audit"));
    scene.cluster.put(Resource.namespaces, namespace("shop", "none"));
    await scene.clock.advance(0);
    assert.deepEqual(state(), [true, ["plain"], false, true]);
  });
});

Deno.test("hasSynced() is true when namespaces cannot be listed: readiness must not hang on a missing right", async () => {
  const scene = openScene();
  scene.cluster.missing.add(Resource.namespaces.plural);
  const audited = openAudited(scene);
  await whileRunning(scene, audited, () => assert.deepEqual([audited.hasSynced(), audited.has("shop")], [true, false]));
});
