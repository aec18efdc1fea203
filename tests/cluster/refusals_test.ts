import assert from "node:assert/strict";
import { type ClusterAccess, read } from "./support/cluster_access.ts";
import { denyPods } from "./support/objects.ts";
import { isScheduled, listPodEvents, renderPod, waitForPods } from "./support/pods.ts";
import { change, ROLES } from "./support/taken_rights.ts";
import { waitUntil } from "./support/wait.ts";
import { index, openWorkingBed } from "./support/walk_bed.ts";

const COUNT = "multiarch.openshift.io/image-inspect-error-count";
const GATE = "multiarch.openshift.io/scheduling-gate";

/** From now on pods with the label `refused` are denied, after the webhooks have seen them. */
async function refuseLabelled(cluster: ClusterAccess, namespace: string): Promise<void> {
  const expression = "!('refused' in object.metadata.?labels.orValue({}))";
  await denyPods(cluster, { name: "refuse", operations: ["CREATE"], expression, message: "refused" });
  await waitUntil("the policy to refuse", async () => {
    const pod = renderPod({ name: "probe", images: ["probe.invalid/a"], labels: { refused: "yes" } });
    const { status } = await cluster.request("POST", `/api/v1/namespaces/${namespace}/pods?dryRun=All`, pod);
    return status >= 400;
  });
}

Deno.test("DV-15 a pod that a later admission refuses leaves no event, whether its image was known or not", async () => {
  await using bed = await openWorkingBed();
  const { controlPlane } = bed;
  const namespace = await controlPlane.createNamespace("refused");
  await refuseLabelled(controlPlane, namespace);
  const image = await bed.push("demo/app", index("arm64"));
  const create = async (name: string, labels: Readonly<Record<string, string>>): Promise<number> => {
    const pod = renderPod({ name, images: [image], labels });
    return (await controlPlane.request("POST", `/api/v1/namespaces/${namespace}/pods`, pod)).status;
  };
  const refused = { refused: "yes" };
  assert.ok(await create("refused-cold", refused) >= 400);
  assert.equal(await create("kept-cold", {}), 201);
  await waitForPods(controlPlane, namespace, { count: 1, until: isScheduled });
  assert.ok(await create("refused-warm", refused) >= 400);
  assert.equal(await create("kept-warm", {}), 201);
  await waitForPods(controlPlane, namespace, { count: 2, until: isScheduled });
  // A later pod whose event has arrived proves that none of an earlier one is under way.
  const other = await bed.push("demo/other", index("arm64"));
  const last = renderPod({ name: "last", images: [other] });
  await controlPlane.create(`/api/v1/namespaces/${namespace}/pods`, last);
  await waitUntil("the event of the last release", async () => {
    const events = await listPodEvents(controlPlane, { namespace, name: "last" });
    return events.some(({ reason }) => reason === "ArchAwareSchedGateRemovalSuccess");
  });
  for (const name of ["refused-cold", "refused-warm"]) {
    assert.deepEqual(await listPodEvents(controlPlane, { namespace, name }), []);
  }
});

/** Takes from Archway's ClusterRole whatever it may do with namespace configs; gives the way to put it back. */
function forbidConfigs(cluster: ClusterAccess): Promise<() => Promise<void>> {
  return change(
    cluster,
    `${ROLES}/archway-configs`,
    (rules) => rules.filter((rule) => !JSON.stringify(read(rule, "resources")).includes('"podplacementconfigs"')),
  );
}

Deno.test("while namespace configs are forbidden no pod is counted as failing, and no replica is ready", async () => {
  await using bed = await openWorkingBed();
  const { controlPlane, archway } = bed;
  const namespace = await controlPlane.createNamespace("forbidden");
  const image = await bed.push("demo/app", index("arm64"));
  await archway.stop();
  const allow = await forbidConfigs(controlPlane);
  const pod = renderPod({ name: "held", images: [image], gates: [GATE], labels: { [GATE]: "gated" } });
  await controlPlane.create(`/api/v1/namespaces/${namespace}/pods`, pod);
  const restarted = archway.restart();
  // When this test fails the process is stopped before it was ready; the failure to report is the test's.
  restarted.catch(() => {});
  const [placed] = await waitForPods(controlPlane, namespace, { count: 1, until: isScheduled });
  assert.deepEqual([placed?.requiredArchitectures, placed?.labels[COUNT]], [[["arm64"]], undefined]);
  assert.equal(await archway.isReady(), false);
  await allow();
  await restarted;
  assert.equal(await archway.isReady(), true);
});
