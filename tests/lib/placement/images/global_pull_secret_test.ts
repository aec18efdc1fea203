import assert from "node:assert/strict";
import { openGlobalPullSecret } from "../../../../lib/placement/images/global_pull_secret.ts";
import { type KubeObject, Resource } from "../../../../lib/k8s/types.ts";
import { silentLogger } from "../../../../lib/log.ts";
import { whileRunning } from "../../../controllers/make.ts";
import { FakeClock } from "../../../support/fake_clock.ts";
import { MemoryCluster } from "../../../support/memory_kube_api.ts";

function secretOf(name: string, host: string): KubeObject {
  const auths = JSON.stringify({ auths: { [host]: { auth: btoa("user:word") } } });
  return {
    ...{ apiVersion: "v1", kind: "Secret", metadata: { name, namespace: "team" } },
    ...{ type: "kubernetes.io/dockerconfigjson", data: { ".dockerconfigjson": btoa(auths) } },
  };
}

Deno.test("openGlobalPullSecret() gives the credentials of the named secret, as they change", async () => {
  const cluster = new MemoryCluster();
  const clock = new FakeClock();
  cluster.put(Resource.secrets, secretOf("everywhere", "one.example"));
  let changes = 0;
  const secret = openGlobalPullSecret({
    api: cluster.api,
    namespace: "team",
    name: "everywhere",
    clock,
    log: silentLogger,
    onChange: () => void changes++,
  });
  assert.deepEqual([secret.state(), [...secret.values()].flat().length], ["starting", 0]);
  await whileRunning({ clock }, secret, async () => {
    assert.deepEqual([secret.state(), [...secret.values()].flat().length], ["synced", 1]);
    const before = changes;
    cluster.put(Resource.secrets, secretOf("everywhere", "two.example"));
    await clock.advance(0);
    assert.ok(changes > before);
    assert.match(JSON.stringify([...secret.values()]), /two\.example/);
  });
});
