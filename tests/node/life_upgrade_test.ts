import assert from "node:assert/strict";
import { lacks } from "../support/needs.ts";
import { read } from "../cluster/support/cluster_access.ts";
import { waitUntil } from "../cluster/support/wait.ts";
import { assertNothingLeft, holdDuring, readyAndLed } from "./support/invariants.ts";
import { configure, install, kubectl, plainRegistry } from "./support/install.ts";
import { openLab } from "./support/open_lab.ts";
import { addFakeNodes } from "./support/stream.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const FIRST_VERSION = "../tests/node/fixtures/first_version";

Deno.test("node: an upgrade from the first manifests loses no pod; kubectl delete -k before the config ends clean", {
  ignore: lacks("nodes"),
}, async (t) => {
  await using lab = await openLab();
  await addFakeNodes(lab);

  await t.step("the first manifests, and the program within their rights", async () => {
    // With the flags of this program. They grant no Secret for the path, which was the plain one.
    const args = [plainRegistry(lab), "--config=/etc/archway/settings/config.yaml"];
    await install(lab, { args, kustomization: FIRST_VERSION });
    await configure(lab);
  });
  await t.step("the upgrade: kubectl apply -k of these over them", async () => {
    await holdDuring(lab, async () => {
      await install(lab);
      await readyAndLed(lab);
    });
    await kubectl(lab, "wait", "--for=condition=Available", "clusterpodplacementconfig/cluster", "--timeout=60s");
  });
  await t.step("kubectl delete -k before the config: no gate, no webhook and no finalizer is left", async () => {
    const namespace = await lab.createNamespace("gated");
    await lab.createPod(namespace, {
      name: "gated",
      spec: { containers: [{ name: "app", image: "registry.invalid/team/app:1" }] },
    });
    const pod = `/api/v1/namespaces/${namespace}/pods/gated`;
    const gates = async (): Promise<unknown> => read(await lab.get(pod), "spec", "schedulingGates");
    assert.ok(await waitUntil("the pod to be gated", gates));
    await kubectl(lab, "delete", "-k", `${ROOT}manifests/base`, "--timeout=120s");
    assert.equal(await gates(), undefined);
    await assertNothingLeft(lab);
  });
});
