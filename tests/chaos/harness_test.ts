import assert from "node:assert/strict";
import { chooseFault, classifyRequest, type FaultRule } from "../cluster/support/fault_plan.ts";
import { removeLeftOvers } from "../node/support/left_overs.ts";
import { finalizersOf } from "../cluster/support/cluster_access.ts";
import { install } from "../cluster/support/installation.ts";
import { bareControlPlane } from "../cluster/support/shared_control_plane.ts";
import { enableBehindService } from "../cluster/support/service_bed.ts";
import { waitUntil } from "../cluster/support/wait.ts";
import { seededRandom } from "../support/random.ts";

Deno.test("classifyRequest() distinguishes manifests of deep repositories from pushes", () => {
  assert.deepEqual(classifyRequest("GET", "/v2/a/b/c/manifests/v1"), { kind: "manifestGet", repository: "a/b/c" });
  assert.deepEqual(classifyRequest("PUT", "/v2/a/manifests/v1"), { kind: "other", repository: "a" });
});

Deno.test("chooseFault() hits a share of the requests", () => {
  const rules: readonly FaultRule[] = [{ fault: { kind: "status", status: 500 }, fraction: 0.3 }];
  const [target, random] = [classifyRequest("GET", "/v2/a/manifests/v1"), seededRandom(7)];
  const drawn = Array.from({ length: 30 }, () => chooseFault(rules, target, random));
  const hits = drawn.filter((fault) => fault !== undefined).length;
  assert.ok(hits > 2 && hits < 18, `${hits} of 30`);
});

Deno.test("removeLeftOvers() removes an installation whose service was killed at work, and does nothing where there is none", async () => {
  await using cluster = await bareControlPlane();
  await removeLeftOvers(cluster);
  await using installation = await install(cluster, { path: "base", components: [] });
  await using archway = await installation.start();
  await enableBehindService(cluster);
  const account = "/api/v1/namespaces/archway-system/serviceaccounts/archway";
  await waitUntil("the account to be held", async () => (await finalizersOf(cluster, account)).length > 0);
  archway.kill("SIGKILL");
  await archway.ended;
  await removeLeftOvers(cluster);
  const { stdout } = await cluster.kubectl([
    ...["get", "-o", "name"],
    "namespaces,crds,clusterroles,clusterrolebindings,mutatingwebhookconfigurations,validatingwebhookconfigurations",
  ]);
  assert.deepEqual(stdout.split("\n").filter((name) => /archway|multiarch/.test(name)), []);
});
