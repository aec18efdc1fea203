import assert from "node:assert/strict";
import { type ClusterAccess, finalizersOf, read } from "./support/cluster_access.ts";
import { DAEMON_SET, DEPLOYMENT } from "./support/exec_format_bed.ts";
import { type Composition, install, type Installation, remainsOf } from "./support/installation.ts";
import { CONFIG, POD_WEBHOOK } from "./support/objects.ts";
import { enableBehindService, untilGated } from "./support/service_bed.ts";
import type { RunningProcess } from "./support/process.ts";
import { bareControlPlane } from "./support/shared_control_plane.ts";
import { taintsByNode, waitForTaints } from "./support/taint_bed.ts";
import { waitUntil } from "./support/wait.ts";

const BASE = new URL("../../manifests/base", import.meta.url).pathname;
const ACCOUNT = "/api/v1/namespaces/archway-system/serviceaccounts/archway";
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const LEFT_OVERS = [
  CONFIG,
  POD_WEBHOOK,
  ACCOUNT,
  `${RBAC}/clusterroles/archway-uninstall`,
  `${RBAC}/clusterrolebindings/archway-uninstall`,
];

async function gateOnePod(cluster: ClusterAccess, namespace: string): Promise<string> {
  await enableBehindService(cluster);
  await waitUntil(
    "the account to be held",
    async () => (await finalizersOf(cluster, ACCOUNT)).includes("archway.dev/uninstall"),
  );
  return await untilGated(cluster, namespace);
}

async function gatesOf(cluster: ClusterAccess, pod: string): Promise<unknown> {
  return read(await cluster.get(pod), "spec", "schedulingGates");
}

interface Scene {
  readonly cluster: ClusterAccess;
  readonly installation: Installation;
  readonly archway: RunningProcess;
  /** Path of a pod that is gated. */
  readonly pod: string;
}

/** An installation that is at work, on a node of each of two architectures. */
function test(name: string, more: Partial<Composition>, play: (scene: Scene) => Promise<void>): void {
  Deno.test(name, async () => {
    await using cluster = await bareControlPlane();
    await cluster.addNodes(["amd64", "arm64"].map((arch) => ({ name: `${arch}-1`, arch })));
    await using installation = await install(cluster, { path: "base", components: [], ...more });
    await using archway = await installation.start();
    const pod = await gateOnePod(cluster, await cluster.createNamespace("tenant"));
    await play({ cluster, installation, archway, pod });
  });
}

/** Deletes what kubectl is told to, and ends Archway as the kubelet does. */
async function deleteAll({ cluster, archway }: Scene, args: readonly string[], stdin = ""): Promise<void> {
  const deleting = cluster.kubectl(["delete", ...args, "--ignore-not-found", "--timeout=60s"], { stdin });
  // The kubelet's SIGTERM comes when the Deployment's pods are collected, at once in the worst case.
  await waitUntil("the Deployment to be deleted", async () => !await cluster.exists(DEPLOYMENT));
  await archway.stop();
  const { code, stderr } = await deleting;
  assert.equal(code, 0, stderr);
  for (const path of LEFT_OVERS) assert.equal(await cluster.exists(path), false, path);
  assert.deepEqual(await remainsOf(cluster), []);
}

/** Every object of the installation at once, in no order. */
async function deleteAtOnce(scene: Scene): Promise<void> {
  const { objects: items } = scene.installation;
  await deleteAll(scene, ["-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "List", items }));
}

const TAINTED = { "amd64-1": "amd64:NoSchedule", "arm64-1": "arm64:NoSchedule" };
const UNTAINTED = { "amd64-1": "", "arm64-1": "" };

test(
  "uninstall: kubectl delete -k with the config still there ends by itself and leaves nothing behind",
  {},
  async (scene) => {
    await deleteAll(scene, ["-k", BASE]);
    assert.equal(await gatesOf(scene.cluster, scene.pod), undefined);
  },
);

test("uninstall: everything deleted at once takes the architecture taints off before the rights go", {
  components: ["components/arch-taints"],
}, async (scene) => {
  await waitForTaints(scene.cluster, TAINTED);
  await deleteAtOnce(scene);
  assert.deepEqual(await taintsByNode(scene.cluster), UNTAINTED);
});

test("uninstall: everything deleted at once takes the daemons away and lets Archway's Deployment be deleted", {
  components: ["components/exec-format-errors"],
  args: ["--exec-format-image=registry.invalid/daemon:1"],
}, async (scene) => {
  const { cluster } = scene;
  await cluster.patch(CONFIG, { spec: { plugins: { execFormatErrorMonitor: { enabled: true } } } });
  await waitUntil("the DaemonSet", () => cluster.exists(DAEMON_SET));
  assert.deepEqual(await finalizersOf(cluster, DEPLOYMENT), ["finalizers.multiarch.openshift.io/enoexec-events"]);
  await deleteAtOnce(scene);
  assert.equal(await cluster.exists(DAEMON_SET), false);
});

test("uninstall: a namespace that is deleted first leaves no gate, no webhook and no finalizer", {}, async (scene) => {
  const { cluster, archway, pod } = scene;
  await cluster.run(["delete", "namespace", "archway-system", "--wait=false"]);
  await archway.stop();
  assert.equal(await gatesOf(cluster, pod), undefined);
  assert.deepEqual(await finalizersOf(cluster, CONFIG), []);
  assert.equal(await cluster.exists(POD_WEBHOOK), false);
  await waitUntil(
    "the namespace to be gone",
    async () => !await cluster.exists("/api/v1/namespaces/archway-system"),
    { deadlineMs: 90_000 },
  );
});

test(
  "uninstall: a config that is deleted is there until no node carries a taint; then the right order needs no Archway",
  {
    components: ["components/arch-taints"],
    args: ["--max-gate-age=3s"],
  },
  async ({ cluster, archway, installation, pod }) => {
    await waitForTaints(cluster, TAINTED);
    await cluster.run(["delete", "clusterpodplacementconfig", "cluster", "--timeout=90s"]);
    assert.deepEqual(await taintsByNode(cluster), UNTAINTED);
    assert.equal(await gatesOf(cluster, pod), undefined);
    assert.equal(await cluster.exists(POD_WEBHOOK), false);
    for (const path of LEFT_OVERS.slice(2)) {
      await waitUntil(`${path} to be free`, async () => (await finalizersOf(cluster, path)).length === 0);
    }
    await archway.stop();
    const stdin = JSON.stringify({ apiVersion: "v1", kind: "List", items: installation.objects });
    await cluster.run(["delete", "--timeout=60s", "-f", "-"], { stdin });
    assert.deepEqual(await remainsOf(cluster), []);
  },
);
