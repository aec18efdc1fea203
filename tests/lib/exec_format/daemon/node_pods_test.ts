import assert from "node:assert/strict";
import { NodePods } from "../../../../lib/exec_format/daemon/node_pods.ts";
import { Resource } from "../../../../lib/k8s/types.ts";
import { silentLogger } from "../../../../lib/log.ts";
import { makePod, openScene, whileRunning } from "../../../controllers/make.ts";

Deno.test("NodePods keeps a share of one namespace's pods, and those of others besides", async () => {
  const scene = openScene();
  const put = (namespace: string, name: string): void => {
    const { metadata, ...pod } = makePod(name);
    const uid = `${namespace}-${name}`;
    scene.cluster.put(Resource.pods, { ...pod, metadata: { ...metadata, namespace, uid }, spec: { nodeName: "here" } });
  };
  for (let at = 0; at < 5_000; at++) put("many", `p${at}`);
  put("shop", "web");
  const pods = new NodePods({ api: scene.cluster.api, clock: scene.clock, log: silentLogger }, "here", () => {});
  await whileRunning(scene, pods, () => {
    assert.equal(pods.find("shop-web")?.name, "web");
    const kept = Array.from({ length: 5_000 }, (_, at) => pods.find(`many-p${at}`)).filter((pod) => pod !== undefined);
    assert.ok(kept.length > 1_000 && kept.length < 5_000, `${kept.length} are kept`);
  });
});
