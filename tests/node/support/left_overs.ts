// What a test left that failed or was killed: the next one begins without it, or it would fail as well, on a namespace that is
// being deleted, or on a webhook without a server.
import type { ClusterAccess } from "../../cluster/support/cluster_access.ts";
import { HELD_OBJECTS } from "../../cluster/support/installation.ts";
import { waitUntil } from "../../cluster/support/wait.ts";

const NAMESPACE = "archway-system";
const OWN = "app.kubernetes.io/part-of=archway";
const LABELLED = [
  ...["clusterroles", "clusterrolebindings", "priorityclasses", "validatingadmissionpolicies"],
  ...["validatingadmissionpolicybindings", "customresourcedefinitions"],
];
const WEBHOOKS = ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"];
const CONFIG = ["clusterpodplacementconfig", "cluster"];
const FIRST_NAMESPACES = ["default", "kube-node-lease", "kube-public", "kube-system"];
const NO_FINALIZERS = JSON.stringify({ metadata: { finalizers: null } });

/** Removes Archway by force, if any of it is there; costs a few requests if not. */
export async function removeLeftOvers(cluster: ClusterAccess): Promise<void> {
  await cluster.kubectl(["uncordon", "--all"]);
  await removeStreams(cluster);
  // One without the toleration would hold the taints of a later test back.
  const elsewhere = ["--all-namespaces", "--field-selector=metadata.namespace!=kube-system"];
  await cluster.kubectl(["delete", "daemonsets", ...elsewhere, "--ignore-not-found", "--timeout=60s"]);
  await removeNamespaces(cluster);
  if (!await isAnythingLeft(cluster)) return;
  const webhooks = (await namesOf(cluster, WEBHOOKS)).filter((name) => /archway|multiarch|pod-placement/.test(name));
  if (webhooks.length > 0) await cluster.kubectl(["delete", ...webhooks, "--ignore-not-found"]);
  await waitUntil("an earlier installation to be gone", async () => {
    await cluster.kubectl(["delete", ...CONFIG, "--ignore-not-found", "--wait=false"]);
    await cluster.kubectl(["delete", "namespace", NAMESPACE, "--ignore-not-found", "--wait=false"]);
    await cluster.kubectl(["delete", LABELLED.join(), "-l", OWN, "--ignore-not-found", "--wait=false"]);
    for (const object of [...HELD_OBJECTS, CONFIG]) {
      await cluster.kubectl(["patch", ...object, "--type=merge", "-p", NO_FINALIZERS]);
    }
    return !await isAnythingLeft(cluster);
  }, { deadlineMs: 120_000, intervalMs: 2_000 });
}

/** The nodes that kwok played for streams of pods, after the namespaces of these pods. */
async function removeStreams(cluster: ClusterAccess): Promise<void> {
  const streams = (await namesOf(cluster, ["namespaces"])).filter((name) => name.startsWith("namespace/stream-"));
  if (streams.length > 0) await cluster.kubectl(["delete", ...streams, "--ignore-not-found", "--timeout=60s"]);
  await cluster.kubectl(["delete", "nodes", "-l", "archway.dev/test=kwok", "--ignore-not-found"]);
}

/** Their pods would run, and cost the emulated kubelet its time, until the lab ends. They may go beside the next test. */
async function removeNamespaces(cluster: ClusterAccess): Promise<void> {
  const kept = [...FIRST_NAMESPACES, NAMESPACE].map((name) => `namespace/${name}`);
  const names = (await namesOf(cluster, ["namespaces"])).filter((name) => !kept.includes(name));
  if (names.length > 0) await cluster.kubectl(["delete", ...names, "--ignore-not-found", "--wait=false"]);
}

async function isAnythingLeft(cluster: ClusterAccess): Promise<boolean> {
  const found = await namesOf(cluster, ["namespaces", ...WEBHOOKS, "customresourcedefinitions"]);
  return found.some((name) => /archway-system|multiarch/.test(name));
}

async function namesOf(cluster: ClusterAccess, kinds: readonly string[]): Promise<readonly string[]> {
  const { stdout } = await cluster.kubectl(["get", kinds.join(), "-o", "name"]);
  return stdout.split("\n").filter((name) => name !== "");
}
