import assert from "node:assert/strict";
import { Finalizer, SCHEDULING_GATE, WebhookName } from "../../lib/names.ts";
import { type ClusterAccess, expectStatus, finalizersOf, listAt, read } from "./support/cluster_access.ts";
import { HELD_OBJECTS, install, type Installation, remainsOf } from "./support/installation.ts";
import { createPods, isReleased, isScheduled, listPods, waitForPods } from "./support/pods.ts";
import { renderOperand, renderReferenceManifests, renderReferenceWebhook } from "./support/reference.ts";
import { CHECKS, CONFIG, DEFINITION, GROUP, localConfig, POD_WEBHOOK } from "./support/objects.ts";
import { enableBehindService, untilGated } from "./support/service_bed.ts";
import { bareControlPlane, type SharedControlPlane } from "./support/shared_control_plane.ts";
import { SHARED_NODES } from "./support/shared_nodes.ts";
import { waitUntil } from "./support/wait.ts";

const GATED = "multiarch.openshift.io/scheduling-gate=gated";
/** No registry answers there: pods of it stay gated. */
const IMAGE = "registry.invalid/team/app:1";

interface Scene {
  readonly cluster: SharedControlPlane;
  readonly installation: Installation;
  readonly namespace: string;
}

async function withGatedPods(args: readonly string[], play: (scene: Scene) => Promise<void>): Promise<void> {
  await using cluster = await bareControlPlane();
  await cluster.addNodes(SHARED_NODES);
  await using installation = await install(cluster, { path: "base", components: [], args });
  const namespace = await cluster.createNamespace("leaving");
  await play({ cluster, installation, namespace });
}

async function gatePods({ cluster, namespace }: Scene): Promise<void> {
  await enableBehindService(cluster);
  const pods = Array.from({ length: 10 }, (_, number) => ({ name: `pod-${number}`, images: [IMAGE] }));
  await untilGated(cluster, namespace);
  await createPods(cluster, namespace, { pods });
  const names = new Set(pods.map(({ name }) => name));
  await waitForPods(cluster, namespace, { count: 11, until: (pod) => !names.has(pod.name) || !isReleased(pod) });
}

/** As README has it: Archway's own objects go, those that both share are the other's by now. */
async function removeOwnObjects(cluster: ClusterAccess): Promise<void> {
  for (const object of HELD_OBJECTS) {
    await cluster.run(["patch", ...object, "--type=merge", "-p", '{"metadata":{"finalizers":null}}']);
  }
  await cluster.run(["delete", "namespace", "archway-system", "--timeout=60s"]);
  const kinds = "clusterroles,clusterrolebindings";
  await cluster.run(["delete", kinds, "-l", "app.kubernetes.io/part-of=archway"]);
}

/** In a cluster Archway writes its path below its Service; here it is reached by URL, which excludes a Service. */
async function reachByService(cluster: ClusterAccess): Promise<void> {
  const service = { name: "archway", namespace: "archway-system", path: "/" };
  const conversion = { spec: { conversion: { webhook: { clientConfig: { url: null, service } } } } };
  await cluster.patch(DEFINITION, conversion);
  const patch = listAt(await cluster.get(CHECKS), "webhooks").map((webhook, at) => {
    const { url: _url, ...rest } = Object(read(webhook, "clientConfig"));
    return { op: "replace", path: `/webhooks/${at}/clientConfig`, value: { ...rest, service } };
  });
  await cluster.patch(CHECKS, patch);
}

Deno.test("ha: the way back: the MTO's objects apply over Archway's, and its processes find all they need", async () => {
  await withGatedPods(["--max-gate-age=600s"], async (scene) => {
    const { cluster, installation, namespace } = scene;
    {
      await using archway = await installation.start();
      await gatePods(scene);
      await cluster.create(`${GROUP}/namespaces/${namespace}/podplacementconfigs`, localConfig());
      await waitUntil("both finalizers", async () => (await finalizersOf(cluster, CONFIG)).length === 2);
      assert.equal((await archway.stop()).code, 0, "scaled to zero");
    }
    // Configs, finalizers and gated pods are as the MTO leaves them itself.
    const finalizers = (await finalizersOf(cluster, CONFIG)).toSorted();
    assert.deepEqual(finalizers, [Finalizer.noPodPlacementConfig, Finalizer.podPlacement].toSorted());
    const gated = (await listPods(cluster, namespace)).filter((pod) => !isReleased(pod));
    assert.ok(gated.length >= 10 && gated.every(({ labels }) => labels[SCHEDULING_GATE] === "gated"));

    await reachByService(cluster);
    await cluster.apply(await renderReferenceManifests());
    await cluster.apply([renderOperand()]);
    // Its operator reads the webhook configuration that is there and replaces it.
    const live = await cluster.get(POD_WEBHOOK);
    const reference = renderReferenceWebhook(String(read(await cluster.get(CONFIG), "metadata", "uid")));
    const resourceVersion = read(live, "metadata", "resourceVersion");
    const metadata = Object.assign({ resourceVersion }, reference["metadata"]);
    expectStatus("replace", await cluster.request("PUT", POD_WEBHOOK, { ...reference, metadata }), [200]);
    await removeOwnObjects(cluster);
    assert.deepEqual(await remainsOf(cluster), []);

    // Its controller lifts the gates; its operator, asked to leave, lifts the finalizers.
    for (const { name } of gated) {
      const patch = { metadata: { labels: { [SCHEDULING_GATE]: "removed" } }, spec: { schedulingGates: null } };
      await cluster.patch(`/api/v1/namespaces/${namespace}/pods/${name}`, patch);
    }
    await waitForPods(cluster, namespace, { count: gated.length, until: isScheduled });
    // The MTO's validating webhooks have no server here.
    await cluster.run(["delete", "validatingwebhookconfiguration", WebhookName.validatingConfiguration]);
    await cluster.run(["delete", "podplacementconfigs", "--all", "-A"]);
    await cluster.run(["delete", "clusterpodplacementconfig", "cluster", "--wait=false"]);
    await cluster.patch(CONFIG, { metadata: { finalizers: null } });
    await waitUntil("the config to go", async () => !await cluster.exists(CONFIG));
    await waitUntil("its webhook to go with it", async () => !await cluster.exists(POD_WEBHOOK));
  });
});

Deno.test("ha: when no Archway comes back, `archway ungate` frees every gated pod, and --dry-run none", async () => {
  await withGatedPods(["--max-gate-age=600s"], async (scene) => {
    const { cluster, installation, namespace } = scene;
    {
      await using archway = await installation.start();
      await gatePods(scene);
      archway.kill("SIGKILL");
    }
    await cluster.run(["delete", "deployment", "archway", "-n", "archway-system"]);
    const count = async (): Promise<number> =>
      (await cluster.run(["get", "pods", "-A", "-l", GATED, "-o", "name"])).split("\n").filter(Boolean).length;
    const before = await count();
    assert.ok(before >= 10);
    const dry = await installation.run(["ungate", "--dry-run", "-o", "json"]);
    assert.equal(dry.code, 0, dry.stdout);
    const planned: unknown = JSON.parse(dry.stdout);
    assert.equal(read(planned, "dryRun"), true);
    assert.deepEqual(read(planned, "left"), []);
    const released = read(planned, "released");
    assert.ok(Array.isArray(released) && released.length === before, dry.stdout);
    assert.equal(await count(), before, "a dry run changes nothing");
    // A gate without its label is found as well.
    const bare = `/api/v1/namespaces/${namespace}/pods/pod-0`;
    await cluster.patch(bare, { metadata: { labels: { [SCHEDULING_GATE]: null } } });
    const wet = await installation.run(["ungate"]);
    assert.equal(wet.code, 0, wet.stdout);
    assert.match(wet.stdout, new RegExp(`${before} released, 0 still gated`));
    await waitForPods(cluster, namespace, { count: before, until: isScheduled });
    assert.match((await installation.run(["ungate"])).stdout, /No pod holds/);

    // The rest, as the runbook of PodPlacementWebhookDown has it.
    await cluster.run(["delete", "mutatingwebhookconfiguration", WebhookName.configuration]);
    await cluster.run(["delete", "validatingwebhookconfiguration", WebhookName.validatingConfiguration]);
    const merge = ["--type=merge", "-p", '{"metadata":{"finalizers":null}}'];
    await cluster.run(["patch", "clusterpodplacementconfig", "cluster", ...merge]);
    await cluster.run(["delete", "clusterpodplacementconfig", "cluster", "--timeout=30s"]);
  });
});
