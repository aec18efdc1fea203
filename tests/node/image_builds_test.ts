// Node images on real nodes: the component image-builds installed with its defaults, Jobs as they are whose pods build with buildah
// and push on their own architecture, without privileges, and the index that comes of it, run by every node. Red Hat CoreOS is a
// small base image: a pod stands for a node's restart into it, scripts for `ostree container commit` and `update-ca-trust`.
import assert from "node:assert/strict";
import { lacks } from "../support/needs.ts";
import { readAuditLog } from "../cluster/support/audit_log.ts";
import { BUILD_ACCOUNT } from "../cluster/support/build_bed.ts";
import { BUILD_NAMESPACE } from "../cluster/support/build_objects.ts";
import { listAt, read } from "../cluster/support/cluster_access.ts";
import { createPullSecret } from "../cluster/support/pods.ts";
import { readLayers, readPlatforms } from "../cluster/support/registry_platforms.ts";
import { waitUntil } from "../cluster/support/wait.ts";
import { assertNothingLeft } from "./support/invariants.ts";
import { POOL, POOL_FILE } from "./support/image_build_objects.ts";
import {
  BUILDS,
  type ImageBuildBed,
  openImageBuildBed,
  trusting,
  waitForImage,
  wantImage,
} from "./support/image_build_bed.ts";
import { install, kubectl, NAMESPACE, rolledOut, uninstall } from "./support/install.ts";
import { type OpenLab, openLab } from "./support/open_lab.ts";
import { auditLength, refusedSince } from "./support/refusals.ts";

const COMPONENTS = ["image-builds"];
const CONFIG_LABEL = `machineconfiguration.openshift.io/machine-os-config=${POOL}`;
const FIRST = { amd64: "first", arm64: "first" };
const SECOND = { ...FIRST, amd64: "second" };
const THIRD = { ...SECOND, amd64: "third" };
const MACHINES = { amd64: "x86_64", arm64: "aarch64" };
const ENTITLEMENT = `etc-pki-entitlement-${POOL}`;

/** Names of the Jobs that the service has created since the log was so long. */
async function jobsSince(lab: OpenLab, fromByte: number): Promise<readonly string[]> {
  const requests = await readAuditLog(lab.auditLogFile ?? "", { fromByte });
  return requests.filter(({ user, verb, resource, status }) =>
    user === BUILD_ACCOUNT && verb === "create" && resource === "jobs" && status === 201
  ).map(({ uri }) => uri);
}

/** Nodes that the pods of Jobs were bound to, by the architecture of the Job, as the scheduler's events say. */
async function nodesOfJobs(lab: OpenLab): Promise<readonly (readonly [arch: string, node: string])[]> {
  const body = await lab.get(`/api/v1/namespaces/${BUILD_NAMESPACE}/events?fieldSelector=reason=Scheduled`);
  return listAt(body, "items").map((event) => {
    const [, arch = ""] = /^ocl-[0-9a-f]{32}-(\w+)-\w+$/.exec(String(read(event, "involvedObject", "name"))) ?? [];
    const [, node = ""] = / to (\w+)$/.exec(String(read(event, "message"))) ?? [];
    return [arch, node] as const;
  });
}

/** Digests that pods of Jobs have handed over, by architecture. */
async function digestsHandedOver(lab: OpenLab): Promise<Readonly<Record<string, string>>> {
  const fields = '{range .items[*]}{.metadata.name} {.metadata.labels.archway\\.dev/arch} {.data.digest}{"\\n"}{end}';
  const args = ["get", "configmaps", "-l", CONFIG_LABEL, "-o", `jsonpath=${fields}`];
  const lines = (await kubectl(lab, "-n", BUILD_NAMESPACE, ...args)).split("\n").map((line) => line.split(" "));
  return Object.fromEntries(
    lines.flatMap(([name = "", arch = "", digest = ""]) => name.startsWith("digest-") ? [[arch, digest]] : []),
  );
}

/** Runs the image on a node, and gives the lines that the build and the pool have put into it. */
async function runOn(
  lab: OpenLab,
  namespace: string,
  { node, image }: { readonly node: string; readonly image: string },
): Promise<readonly string[]> {
  const name = `on-${node}`;
  await lab.createPod(namespace, {
    name,
    spec: {
      restartPolicy: "Never",
      dnsPolicy: "Default",
      terminationGracePeriodSeconds: 1,
      imagePullSecrets: [{ name: "pull" }],
      nodeSelector: { "kubernetes.io/hostname": node },
      containers: [{ name: "app", image, command: ["/bin/bash", "-c", `cat /etc/built/text ${POOL_FILE}`] }],
    },
  });
  return (await lab.logOfEnded(namespace, name, { deadlineMs: 120_000 })).trim().split("\n");
}

async function assertRunsEverywhere(
  lab: OpenLab,
  { registry }: ImageBuildBed,
  { image, texts }: { readonly image: string; readonly texts: typeof FIRST },
): Promise<void> {
  const namespace = await lab.createNamespace("built");
  await createPullSecret(lab, namespace, { ...registry, name: "pull" });
  for (const { name: node, arch } of lab.lab.hosts) {
    const printed = await runOn(lab, namespace, { node, image });
    assert.deepEqual(printed, [`${MACHINES[arch]}: ${texts[arch]}`, "from the pool"], node);
  }
  await kubectl(lab, "delete", "namespace", namespace, "--wait=false");
}

/** Of each architecture: the base image's layer is the first. */
async function assertOnBase({ registry, base }: ImageBuildBed, image: string): Promise<void> {
  const [repository] = image.split("@");
  const [bases, built] = await Promise.all([readPlatforms(registry, base), readPlatforms(registry, image)]);
  assert.ok(bases !== undefined && built !== undefined);
  for (const [arch, digest] of Object.entries(built)) {
    const layers = await readLayers(registry, `${repository}@${digest}`);
    const [below] = await readLayers(registry, `${registry.host}/base/os@${bases[arch]}`);
    assert.equal(layers[0], below, arch);
  }
}

/** What OpenShift puts into the namespace of builds where a cluster has subscriptions and package repositories of its own. */
async function createInputs(lab: OpenLab): Promise<void> {
  const create = ["-n", BUILD_NAMESPACE, "create"];
  await createEntitlement(lab);
  await kubectl(lab, ...create, "secret", "generic", "etc-pki-rpm-gpg", "--from-literal=RPM-GPG-KEY-team=a key");
  await kubectl(lab, ...create, "configmap", "etc-yum-repos-d", "--from-literal=team.repo=[team]");
}

async function createEntitlement(lab: OpenLab): Promise<void> {
  const content = "--from-literal=entitlement.pem=a subscription";
  await kubectl(lab, "-n", BUILD_NAMESPACE, "create", "secret", "generic", ENTITLEMENT, content);
}

async function quota(lab: OpenLab, verb: "create" | "delete"): Promise<void> {
  await kubectl(lab, "-n", BUILD_NAMESPACE, verb, "quota", "none", ...(verb === "create" ? ["--hard=pods=0"] : []));
}

async function messagesOfBuilds(lab: OpenLab): Promise<string> {
  return await kubectl(lab, "get", "machineosbuilds", "-o", "jsonpath={.items[*].status.conditions[*].message}");
}

/** What belongs to a configuration in the namespace of builds, and its builds. */
async function listBelongings(lab: OpenLab): Promise<readonly string[]> {
  const kinds = "jobs,pods,configmaps,secrets";
  const inside = await kubectl(lab, "-n", BUILD_NAMESPACE, "get", kinds, "-l", CONFIG_LABEL, "-o", "name");
  const builds = await kubectl(lab, "get", "machineosbuilds", "-o", "name");
  return `${inside}${builds}`.split("\n").filter((name) => name !== "");
}

Deno.test("node: image builds: each architecture is built on a node of its own, and every node runs the index", {
  ignore: lacks("nodes"),
}, async (t) => {
  await using lab = await openLab();
  await using bed = await openImageBuildBed(lab);
  const before = await auditLength(lab);
  let image = "";

  await t.step("O-154 installed by its component, the service is ready and leads", async () => {
    await install(lab, { components: COMPONENTS, deployments: [BUILDS], others: trusting(bed) });
    await rolledOut(lab, { name: BUILDS });
    const pods = ["get", "pods", "-l", "app.kubernetes.io/component=image-builds", "-o", "name"];
    const pod = (await kubectl(lab, "-n", NAMESPACE, ...pods)).trim().replace("pod/", "");
    await waitUntil("the pod to hold the Lease", async () => {
      const holder = ["get", "lease", BUILDS, "-o", "jsonpath={.spec.holderIdentity}"];
      return pod !== "" && (await kubectl(lab, "-n", NAMESPACE, ...holder)).includes(pod);
    }, { deadlineMs: 60_000 });
  });
  await t.step("P-161 the pool is given an index of what the pods of both Jobs have handed over", async () => {
    await wantImage(lab, bed, FIRST);
    image = await waitForImage(lab);
    const children = await readPlatforms(bed.registry, image);
    assert.deepEqual(Object.keys(children ?? {}), ["amd64", "arm64"]);
    assert.deepEqual(children, await digestsHandedOver(lab));
  });
  await t.step("P-040 two Jobs, each on a node of its own architecture", async () => {
    assert.equal((await jobsSince(lab, before)).length, 2);
    const nodes = await nodesOfJobs(lab);
    const archOf = new Map<string, string>(lab.lab.hosts.map(({ name, arch }) => [name, arch]));
    assert.deepEqual([...new Set(nodes.map(([arch]) => arch))].sort(), ["amd64", "arm64"]);
    for (const [arch, node] of nodes) assert.equal(archOf.get(node), arch, node);
  });
  await t.step("P-002 two nodes of amd64 and one of arm64: pool and ConfigMap say so", async () => {
    const annotation = "jsonpath={.metadata.annotations.archway\\.dev/architectures}";
    assert.equal(await kubectl(lab, "get", "machineconfigpool", POOL, "-o", annotation), "amd64,arm64");
    const map = ["get", "configmap", "archway-architectures", "-o", `jsonpath={.data.${POOL}}`];
    const { set, nodeCounts } = JSON.parse(await kubectl(lab, "-n", BUILD_NAMESPACE, ...map));
    assert.deepEqual({ set, nodeCounts }, { set: ["amd64", "arm64"], nodeCounts: { amd64: 2, arm64: 1 } });
  });
  await t.step("O-146 without a pull secret the base image is read with the copy of the cluster's", () => {
    return assertOnBase(bed, image);
  });
  await t.step("every node pulls the index with the secret, and runs what was built for it", () => {
    return assertRunsEverywhere(lab, bed, { image, texts: FIRST });
  });
  await t.step("the text of amd64 alone is changed: one Job more, and the image for arm64 stays", async () => {
    const was = await readPlatforms(bed.registry, image);
    await wantImage(lab, bed, SECOND);
    image = await waitForImage(lab, image);
    const now = await readPlatforms(bed.registry, image);
    assert.equal(now?.["arm64"], was?.["arm64"]);
    assert.notEqual(now?.["amd64"], was?.["amd64"]);
    assert.equal((await jobsSince(lab, before)).length, 3);
    await assertRunsEverywhere(lab, bed, { image, texts: SECOND });
  });
  await t.step(
    "O-152 the secret with the subscription goes before the pod has started: it is said, and waited for",
    async () => {
      await createInputs(lab);
      await quota(lab, "create");
      await wantImage(lab, bed, THIRD);
      await waitUntil("the Job", async () => (await jobsSince(lab, before)).length === 4, { deadlineMs: 60_000 });
      await kubectl(lab, "-n", BUILD_NAMESPACE, "delete", "secret", ENTITLEMENT);
      await quota(lab, "delete");
      const said = `The pod of Job "[^"]+" cannot start: secret "${ENTITLEMENT}" is gone`;
      await waitUntil("the build to say so", async () => (await messagesOfBuilds(lab)).match(said) !== null, {
        deadlineMs: 120_000,
        intervalMs: 500,
      });
      const events = ["get", "events", "-A", "-o", 'jsonpath={range .items[*]}{.reason} {.message}{"\\n"}{end}'];
      await waitUntil("the kubelet to say so", async () => {
        return (await kubectl(lab, ...events)).match(`FailedMount .*secret "${ENTITLEMENT}" not found`) !== null;
      }, { deadlineMs: 120_000, intervalMs: 500 });
      assert.match(await kubectl(lab, ...events), new RegExp(`ArchBuildWaiting amd64: ${said}`));
      await createEntitlement(lab);
      image = await waitForImage(lab, image);
      assert.equal((await messagesOfBuilds(lab)).match(said), null, "it is taken back");
    },
  );
  await t.step(
    "O-123 subscription, package repositories and their keys are read by the build where they are mounted",
    async () => {
      const namespace = await lab.createNamespace("built");
      await createPullSecret(lab, namespace, { ...bed.registry, name: "pull" });
      const node = lab.lab.hosts.find(({ arch }) => arch === "amd64")?.name ?? "";
      assert.deepEqual(await runOn(lab, namespace, { node, image }), [
        `${MACHINES.amd64}: ${THIRD.amd64}`,
        "/etc/pki/entitlement/entitlement.pem: a subscription",
        "/etc/yum.repos.d/team.repo: [team]",
        "/etc/pki/rpm-gpg/RPM-GPG-KEY-team: a key",
        "from the pool",
      ]);
      await kubectl(lab, "delete", "namespace", namespace, "--wait=false");
    },
  );
  await t.step("O-153 with the MachineOSConfig its builds go, and all that belongs to them", async () => {
    assert.ok((await listBelongings(lab)).length > 0);
    await kubectl(lab, "delete", "machineosconfig", POOL, "--timeout=60s");
    await waitUntil("all of it to be gone", async () => (await listBelongings(lab)).length === 0, {
      deadlineMs: 120_000,
      intervalMs: 500,
    });
  });
  await t.step("no request was refused for want of a right; uninstalled, nothing of it is left", async () => {
    assert.deepEqual(await refusedSince(lab, before, { account: BUILDS }), []);
    await uninstall(lab, { components: COMPONENTS });
    await assertNothingLeft(lab);
  });
});
