// Placement proved by containers that run: the same workloads with Archway and without it.
import assert from "node:assert/strict";
import { waitUntil } from "../cluster/support/wait.ts";
import { lacks } from "../support/needs.ts";
import { configure, ensureImage, install, kubectl, ON_NATIVE_NODES, uninstall } from "./support/install.ts";
import { type OpenLab, openLab } from "./support/open_lab.ts";
import { createWorkloads, POD_COUNT, type PodFate, readFates } from "./support/workloads.ts";

/** Waits until as many pods are there as the workloads make, and each has run or failed. */
async function settle(lab: OpenLab, namespace: string): Promise<readonly PodFate[]> {
  let fates: readonly PodFate[] = [];
  await waitUntil(`the pods of ${namespace} to run or fail`, async () => {
    fates = await readFates(lab, namespace);
    return fates.length >= POD_COUNT && fates.every(({ isGood, faults }) => isGood || faults.length > 0);
  }, { deadlineMs: 120_000 });
  return fates;
}

Deno.test("node: every container of every kind of workload runs with Archway, and some fail without it", {
  ignore: lacks("nodes"),
}, async (t) => {
  await using lab = await openLab();
  const image = await ensureImage(lab);

  await t.step("without Archway the same set fails", async () => {
    const namespace = await lab.createNamespace("without");
    await createWorkloads(lab, namespace);
    const fates = await settle(lab, namespace);
    assert.ok(fates.some(({ faults }) => faults.includes("exec format error")), JSON.stringify(fates));
    await kubectl(lab, "delete", "namespace", namespace, "--wait=false");
  });

  await t.step("installed as README says, it is Available", async () => {
    await install(lab, { image, args: [`--insecure-registry=${lab.lab.registry}`], patch: ON_NATIVE_NODES });
    await configure(lab);
  });

  await t.step("with it every pod runs", async () => {
    const namespace = await lab.createNamespace("with");
    await createWorkloads(lab, namespace);
    const fates = await settle(lab, namespace);
    assert.deepEqual(fates.filter(({ isGood }) => !isGood), []);
  });

  await t.step("uninstalled in README's order, nothing of it is left", async () => {
    await uninstall(lab);
    const left = await kubectl(lab, "get", "mutatingwebhookconfigurations,crds", "-o", "name");
    assert.equal(/multiarch|archway/.test(left), false, left);
  });
});
