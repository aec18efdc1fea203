import assert from "node:assert/strict";
import { lacks } from "../support/needs.ts";
import { createPullSecret, listPodEvents, listPods, type PodOutcome } from "../cluster/support/pods.ts";
import type { RealRegistry } from "../cluster/support/registry.ts";
import { waitUntil } from "../cluster/support/wait.ts";
import { scoring } from "../support/walk/preference_rows.ts";
import { settle } from "./support/fates.ts";
import { assertNothingLeft } from "./support/invariants.ts";
import { configure, install, kubectl, NAMESPACE, plainRegistry, uninstall } from "./support/install.ts";
import { mirrorOnNodes, openNodeRegistry, readDigests, renderRegistriesConf } from "./support/node_registries.ts";
import { type OpenLab, openLab } from "./support/open_lab.ts";
import { createWorkloads, type ImagePlaces, POD_COUNT, WORKLOADS } from "./support/workloads.ts";

const GROUP = "multiarch.openshift.io";
const MIRRORED = "mirrored.invalid";
const PREFERENCE = { weight: 50, preference: { matchExpressions: [renderArch(["amd64"])] } };
const SCORING = { plugins: scoring(true, ["amd64", 50]) };
const BOTH = ["amd64", "arm64"];
/** How many of the set fail without Archway, wherever the scheduler puts them. */
const FAIL_WITHOUT = 5;

/** The rows that containers prove here: the workload, and what its images run on. */
const PLACED: readonly (readonly [row: string, workload: string, architectures: readonly string[]])[] = [
  ["E-01 E-39 a Deployment of a multi-arch image, by port and tag", "d-multi", BOTH],
  ["E-13 a StatefulSet of a single-arch image", "s-arm", ["arm64"]],
  ["E-14 a StatefulSet of a multi-arch image", "s-multi", BOTH],
  ["E-15 multi-arch and single-arch containers", "s-both", ["arm64"]],
  ["E-19 a Job", "j-multi", BOTH],
  ["E-25 a private image by the pod's pull secret", "p-login", BOTH],
  ["E-33 an image by a mirror whose source does not exist", "p-mirror", BOTH],
  ["E-38 an image by port and digest", "p-digest", BOTH],
  ["E-40 an image by port, tag and digest", "p-tag-digest", BOTH],
  ["an init container of one architecture", "p-init", ["arm64"]],
  ["a sidecar of one architecture", "p-sidecar", ["arm64"]],
  ["Q-03 an image volume of an index of one architecture", "p-volume-index", ["arm64"]],
  ["Q-03 an image volume of a single manifest of another architecture", "p-volume-single", ["amd64"]],
];

function renderArch(values: readonly string[]): unknown {
  return { key: "kubernetes.io/arch", operator: "In", values };
}

async function placesOf(lab: OpenLab, locked: RealRegistry): Promise<ImagePlaces> {
  const digests = await readDigests(lab);
  const bare = (name: string): string => `${lab.lab.registry}/t/${name}`;
  return {
    tag: (name) => lab.image(name),
    digest: (name) => `${bare(name)}@${digests.get(name)}`,
    both: (name) => `${bare(name)}:v1@${digests.get(name)}`,
    login: (name) => `${locked.host}/t/${name}:v1`,
    mirror: (name) => `${MIRRORED}/t/${name}:v1`,
  };
}

async function openNamespace(lab: OpenLab, prefix: string, locked: RealRegistry): Promise<string> {
  const namespace = await lab.createNamespace(prefix);
  await createPullSecret(lab, namespace, { ...locked, name: "pull" });
  return namespace;
}

function assertPlaced({ name, labels, affinity }: PodOutcome, architectures: readonly string[]): void {
  const marks = ["scheduling-gate", "node-affinity", "preferred-node-affinity"].map((key) => labels[`${GROUP}/${key}`]);
  assert.deepEqual(marks, ["removed", "set", "set"], name);
  for (const architecture of architectures) assert.ok(`${GROUP}/${architecture}` in labels, name);
  assert.ok(`${GROUP}/${architectures.length > 1 ? "multi-arch" : "single-arch"}` in labels, name);
  const required = { nodeSelectorTerms: [{ matchExpressions: [renderArch(architectures)] }] };
  assert.deepEqual(affinity, {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: required,
      preferredDuringSchedulingIgnoredDuringExecution: [PREFERENCE],
    },
  }, name);
}

function assertLeftAlone({ name, labels, requiredArchitectures }: PodOutcome): void {
  const marks = ["scheduling-gate", "node-affinity", "preferred-node-affinity"].map((key) => labels[`${GROUP}/${key}`]);
  assert.deepEqual([marks, requiredArchitectures], [["not-set", "not-set", "not-set"], [[]]], name);
}

/** Creates a pod that the webhook sees: while it does not answer in time, or gates none, pods pass it by design. */
async function createSeen(
  lab: OpenLab,
  namespace: string,
  { name, image }: { readonly name: string; readonly image: string },
): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
  await waitUntil(`pod ${name} to be seen by the webhook`, async () => {
    await lab.createPod(namespace, { name, spec: { dnsPolicy: "Default", containers: [{ name: "app", image }] } });
    const created = await lab.request("GET", path);
    if (JSON.stringify(created.body).includes(`"${GROUP}/scheduling-gate":`)) return true;
    await kubectl(lab, "-n", namespace, "delete", "pod", name, "--force", "--grace-period=0");
    await waitUntil("it to go", async () => !await lab.exists(path));
    const conditions = await kubectl(lab, "get", "clusterpodplacementconfig", "cluster", "-o", "jsonpath={.status}");
    throw new Error(`passed by: ${conditions}`);
  }, { deadlineMs: 60_000 });
}

/** Pods of images that no registry gives: they are released, and the event says why beside the kubelet's own. */
async function assertWrongImages(lab: OpenLab, places: ImagePlaces): Promise<void> {
  const namespace = await lab.createNamespace("wrong");
  const wrong: readonly (readonly [name: string, image: string, says: RegExp])[] = [
    ["none", places.tag("none"), /does not have it\. Correct the name/],
    ["locked", places.login("multi"), /answered 401 \(no pull secret matches it\)\. Name a pull secret/],
  ];
  for (const [name, image] of wrong) await createSeen(lab, namespace, { name, image });
  await waitUntil("the kubelet to fail as well", async () => {
    const text = await kubectl(lab, "-n", namespace, "get", "pods");
    return [...text.matchAll(/ImagePullBackOff|ErrImagePull/g)].length === wrong.length;
  }, { deadlineMs: 60_000 });
  const pods = await listPods(lab, namespace);
  for (const [name, , says] of wrong) {
    const labels = pods.find((pod) => pod.name === name)?.labels ?? {};
    const marks = ["scheduling-gate", "node-affinity", "preferred-node-affinity", "image-inspect-error-count"];
    assert.deepEqual(marks.map((key) => labels[`${GROUP}/${key}`]), ["removed", "not-set", "set", "5"], name);
    const told = await waitUntil(`the event of ${name}`, async () => {
      return (await listPodEvents(lab, { namespace, name })).find(({ reason }) =>
        reason === "ArchAwareInspectionError"
      );
    });
    assert.match(told.message, says);
  }
}

Deno.test("node: every container of every kind of workload runs with Archway, and some fail without it", {
  ignore: lacks("nodes"),
}, async (t) => {
  await using lab = await openLab();
  await using locked = await openNodeRegistry(lab, { tls: false, auth: "htpasswd", images: ["multi", "arm-single"] });
  await mirrorOnNodes(lab, MIRRORED);
  const places = await placesOf(lab, locked);

  await t.step("without Archway the same set fails", async () => {
    const namespace = await openNamespace(lab, "without", locked);
    await createWorkloads(lab, namespace, { places });
    const fates = await settle(lab, namespace, { count: POD_COUNT });
    const failed = fates.filter(({ isGood }) => !isGood);
    assert.ok(failed.length >= FAIL_WITHOUT, JSON.stringify(failed));
    const faults = failed.flatMap((fate) => fate.faults).join();
    for (const fault of [/exec format error/, /ErrImagePull|ImagePullBackOff/]) assert.match(faults, fault);
    await kubectl(lab, "delete", "namespace", namespace, "--wait=false");
  });

  await t.step("installed with a ConfigMap of mirrors, it is Available", async () => {
    await kubectl(lab, "create", "namespace", NAMESPACE);
    const conf = `--from-literal=registries.conf=${renderRegistriesConf(lab, MIRRORED)}`;
    await kubectl(lab, "-n", NAMESPACE, "create", "configmap", "archway-registries-conf", conf);
    const args = [plainRegistry(lab), `--insecure-registry=${locked.host}`];
    await install(lab, { args, components: ["registries-conf"] });
    await configure(lab, SCORING);
  });

  const namespace = await openNamespace(lab, "with", locked);
  await t.step("with it every pod runs", async () => {
    await createWorkloads(lab, namespace, { places });
    // A kubelet tries again to pull what a registry did not give in time; a program of another architecture stays one.
    const fates = await waitUntil("every pod to run", async () => {
      const found = await settle(lab, namespace, { count: POD_COUNT });
      const bad = found.filter(({ isGood }) => !isGood);
      if (bad.length > 0) throw new Error(JSON.stringify(bad));
      return found;
    }, { deadlineMs: 120_000, intervalMs: 2_000 });
    assert.deepEqual(fates.length, POD_COUNT);
    const page = (await Deno.readTextFile(new URL("../../CONTRIBUTING.md", import.meta.url))).replaceAll(/\s+/g, " ");
    assert.ok(page.includes(`${POD_COUNT} pods of ${WORKLOADS.length} workloads`));
    assert.ok(page.includes(`at least ${FAIL_WITHOUT} pods fail`));
  });

  const pods = await listPods(lab, namespace);
  const podsOf = (workload: string): readonly PodOutcome[] => {
    const own = pods.filter(({ labels }) => labels["workload"] === workload);
    assert.ok(own.length > 0, workload);
    return own;
  };
  for (const [row, workload, architectures] of PLACED) {
    await t.step(row, () => podsOf(workload).forEach((pod) => assertPlaced(pod, architectures)));
  }
  await t.step("E-18 a DaemonSet is left alone", () => podsOf("ds-multi").forEach(assertLeftAlone));
  await t.step("E-22 a private image without credentials, and one that is not there", () => {
    return assertWrongImages(lab, places);
  });

  await t.step("uninstalled in README's order, nothing of it is left", async () => {
    await uninstall(lab);
    await assertNothingLeft(lab);
  });
});
