// README's install and uninstall and a command of docs/install.md, pasted into a shell as they stand there.
import assert from "node:assert/strict";
import { lacks } from "../support/needs.ts";
import { commandsOf, shellBlocksOf } from "../support/page_commands.ts";
import { conditionOf, isTrue, read } from "../cluster/support/cluster_access.ts";
import { assertConfined, assertNothingLeft } from "./support/invariants.ts";
import { kubectl, NAMESPACE, rolledOut } from "./support/install.ts";
import { type OpenLab, openLab } from "./support/open_lab.ts";
import { openPasteShell } from "./support/pasted.ts";
import { listReplicas } from "./support/replicas.ts";

const README = new URL("../../README.md", import.meta.url);
const INSTALL = new URL("../../docs/install.md", import.meta.url);
const CONFIG = "/apis/multiarch.openshift.io/v1beta1/clusterpodplacementconfigs/cluster";

/** When the last container of Archway started: its image was there (epoch ms, whole seconds). */
async function imagesThereMs(lab: OpenLab): Promise<number> {
  const body = await lab.get(`/api/v1/namespaces/${NAMESPACE}/pods`);
  const statuses = [read(body, "items")].flat().flatMap((pod) => [read(pod, "status", "containerStatuses")].flat());
  return Math.max(...statuses.map((each) => Date.parse(String(read(each, "state", "running", "startedAt")))));
}

/** Since when a condition holds (epoch ms, whole seconds). */
async function heldSinceMs(lab: OpenLab, path: string): Promise<number> {
  const body = await lab.get(path);
  assert.ok(isTrue(body, "Available"), path);
  return Date.parse(String(read(conditionOf(body, "Available"), "lastTransitionTime")));
}

Deno.test("node: README's install steps, pasted as they are, work within 10 s, and its uninstall leaves nothing", {
  ignore: lacks("nodes"),
}, async (t) => {
  await using lab = await openLab();
  const readme = await Deno.readTextFile(README);
  const page = await Deno.readTextFile(INSTALL);
  // Times hold on native nodes, and the steps say nothing of nodes.
  await kubectl(lab, "cordon", "n2");
  const namespace = await lab.createNamespace("pasted");
  await using shell = await openPasteShell(lab);

  await t.step("install: everything is Available within 10 s of the images being there", async () => {
    const said = await shell.paste(
      // The only name that a user puts in.
      shellBlocksOf(readme, "Install on a cluster").replace("registry.example.com", lab.lab.registry),
    );
    assert.match(said, /successfully rolled out[\s\S]*condition met\n/);
    const from = await imagesThereMs(lab);
    const deployment = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments/archway`;
    const until = Math.max(await heldSinceMs(lab, deployment), await heldSinceMs(lab, CONFIG));
    assert.ok(until - from <= 10_000, `${until - from} ms`);
  });
  await t.step("a pod is gated through the Service, and runs where its image can", async () => {
    // As docs/registries.md says of a registry without TLS.
    const declared = `ARCHWAY_INSECURE_REGISTRY=${lab.lab.registry}`;
    await kubectl(lab, "-n", NAMESPACE, "set", "env", "deployment/archway", declared);
    await rolledOut(lab);
    await kubectl(lab, "uncordon", "n2");
    await lab.createPods(namespace, [{ name: "arm", image: "arm-single", args: ["hello"] }]);
    assert.equal(await lab.logOfEnded(namespace, "arm"), "hello from linux/arm64\n");
    const arm = await lab.get(`/api/v1/namespaces/${namespace}/pods/arm`);
    assert.equal(read(arm, "metadata", "labels", "multiarch.openshift.io/scheduling-gate"), "removed");
  });
  await t.step("the replicas are confined, and archway is a command in their image", async () => {
    await assertConfined(await listReplicas(lab));
    const [command = ""] = commandsOf(page, "**Commands** run in a replica").filter((text) => text.includes(" exec "));
    const said = await shell.paste(command.replace("pod/NAME", "pod/arm").replace("NAMESPACE", namespace));
    assert.match(said, new RegExp(`Pod +${namespace}/arm\n[^]*\\{arm64\\}`));
  });
  await t.step("uninstall: nothing is left", async () => {
    await shell.paste(shellBlocksOf(readme, "Uninstall"));
    await assertNothingLeft(lab);
  });
});
