import assert from "node:assert/strict";
import { type ClusterAccess, listAt, read } from "./support/cluster_access.ts";
import { install } from "./support/installation.ts";
import { CONFIG, POD_WEBHOOK } from "./support/objects.ts";
import { enableBehindService } from "./support/service_bed.ts";
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
const DEPLOYMENT = "/apis/apps/v1/namespaces/archway-system/deployments/archway";
const DAEMON_SET = "/apis/apps/v1/namespaces/archway-system/daemonsets/enoexec-event-daemon";

async function finalizersOf(cluster: ClusterAccess, path: string): Promise<readonly unknown[]> {
  return listAt(await cluster.get(path), "metadata", "finalizers");
}

async function gateOnePod(cluster: ClusterAccess, namespace: string): Promise<string> {
  await enableBehindService(cluster);
  await waitUntil(
    "the account to be held",
    async () => (await finalizersOf(cluster, ACCOUNT)).includes("archway.dev/uninstall"),
  );
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  const spec = { containers: [{ name: "main", image: "registry.invalid/team/app:1" }] };
  return await waitUntil("a pod to be gated", async () => {
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { generateName: "pod-" }, spec };
    const created = await cluster.create(pods, pod);
    return read(created, "spec", "schedulingGates") !== undefined &&
      `${pods}/${String(read(created, "metadata", "name"))}`;
  });
}

async function gatesOf(cluster: ClusterAccess, pod: string): Promise<unknown> {
  return read(await cluster.get(pod), "spec", "schedulingGates");
}

Deno.test("uninstall: kubectl delete -k with the config still there ends by itself and leaves nothing behind", async () => {
  await using cluster = await bareControlPlane();
  await using installation = await install(cluster, { path: "base", components: [] });
  await using archway = await installation.start();
  const pod = await gateOnePod(cluster, await cluster.createNamespace("tenant"));
  const deleting = cluster.kubectl(["delete", "-k", BASE, "--ignore-not-found", "--timeout=60s"]);
  // The kubelet's SIGTERM comes when the Deployment's pods are collected, at once in the worst case.
  await waitUntil("the Deployment to be deleted", async () => !await cluster.exists(DEPLOYMENT));
  await archway.stop();
  const { code, stderr } = await deleting;
  assert.equal(code, 0, stderr);
  assert.equal(await gatesOf(cluster, pod), undefined);
  for (const path of LEFT_OVERS) assert.equal(await cluster.exists(path), false, path);
});

Deno.test("uninstall: everything deleted at once takes the architecture taints off before the rights go", async () => {
  await using cluster = await bareControlPlane();
  const nodes = ["amd64-1", "arm64-1"].map((name) => ({ name, arch: name.replace("-1", "") }));
  await cluster.addNodes(nodes);
  await using installation = await install(cluster, { path: "base", components: ["components/arch-taints"] });
  await using archway = await installation.start();
  await gateOnePod(cluster, await cluster.createNamespace("tenant"));
  await waitForTaints(cluster, { "amd64-1": "amd64:NoSchedule", "arm64-1": "arm64:NoSchedule" });
  const manifests = JSON.stringify({ apiVersion: "v1", kind: "List", items: installation.objects });
  const remove = ["delete", "-f", "-", "--ignore-not-found", "--timeout=60s"];
  const deleting = cluster.kubectl(remove, { stdin: manifests });
  await waitUntil("the Deployment to be deleted", async () => !await cluster.exists(DEPLOYMENT));
  await archway.stop();
  assert.deepEqual(await taintsByNode(cluster), { "amd64-1": "", "arm64-1": "" });
  const { code, stderr } = await deleting;
  assert.equal(code, 0, stderr);
  for (const path of LEFT_OVERS) assert.equal(await cluster.exists(path), false, path);
});

Deno.test("uninstall: everything deleted at once takes the daemons away and lets Archway's Deployment be deleted", async () => {
  await using cluster = await bareControlPlane();
  const composition = {
    path: "base",
    components: ["components/exec-format-errors"],
    args: ["--exec-format-image=registry.invalid/daemon:1"],
  };
  await using installation = await install(cluster, composition);
  await using archway = await installation.start();
  await gateOnePod(cluster, await cluster.createNamespace("tenant"));
  const spec = { plugins: { execFormatErrorMonitor: { enabled: true } } };
  await cluster.patch(CONFIG, { spec });
  await waitUntil("the DaemonSet", () => cluster.exists(DAEMON_SET));
  assert.deepEqual(await finalizersOf(cluster, DEPLOYMENT), ["finalizers.multiarch.openshift.io/enoexec-events"]);
  const manifests = JSON.stringify({ apiVersion: "v1", kind: "List", items: installation.objects });
  const remove = ["delete", "-f", "-", "--ignore-not-found", "--timeout=60s"];
  const deleting = cluster.kubectl(remove, { stdin: manifests });
  await waitUntil("the Deployment to be deleted", async () => !await cluster.exists(DEPLOYMENT));
  await archway.stop();
  const { code, stderr } = await deleting;
  assert.equal(code, 0, stderr);
  for (const path of [...LEFT_OVERS, DAEMON_SET]) assert.equal(await cluster.exists(path), false, path);
});

Deno.test("uninstall: a config that is deleted is there until no node carries a taint", async () => {
  await using cluster = await bareControlPlane();
  await cluster.addNodes([{ name: "amd64-1", arch: "amd64" }]);
  const composition = { path: "base", components: ["components/arch-taints"], args: ["--max-gate-age=3s"] };
  await using installation = await install(cluster, composition);
  await using archway = await installation.start();
  await gateOnePod(cluster, await cluster.createNamespace("tenant"));
  await waitForTaints(cluster, { "amd64-1": "amd64:NoSchedule" });
  await cluster.run(["delete", "clusterpodplacementconfig", "cluster", "--timeout=90s"]);
  assert.deepEqual(await taintsByNode(cluster), { "amd64-1": "" });
  await archway.stop();
});

Deno.test("uninstall: a namespace that is deleted first leaves no gate, no webhook and no finalizer", async () => {
  await using cluster = await bareControlPlane();
  await using installation = await install(cluster, { path: "base", components: [] });
  await using archway = await installation.start();
  const pod = await gateOnePod(cluster, await cluster.createNamespace("tenant"));
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

Deno.test("uninstall: the rights are released as soon as the config is gone, so that the right order needs no Archway", async () => {
  await using cluster = await bareControlPlane();
  await using installation = await install(cluster, { path: "base", components: [], args: ["--max-gate-age=3s"] });
  await using archway = await installation.start();
  await gateOnePod(cluster, await cluster.createNamespace("tenant"));
  await waitUntil(
    "the config to be deletable",
    async () => (await cluster.request("DELETE", CONFIG)).status === 200,
  );
  await waitUntil("the config to be gone", async () => !await cluster.exists(CONFIG));
  for (const path of LEFT_OVERS.slice(2)) {
    await waitUntil(`${path} to be free`, async () => (await finalizersOf(cluster, path)).length === 0);
  }
  await archway.stop();
});
