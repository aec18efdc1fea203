// The machine config operator's own builder steps aside and comes back, on a real control plane: what image-builds-hold and
// image-builds-hold-pods make of the requests that the operator sends at each of its syncs. Nothing else is touched.
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { type ClusterAccess, expectStatus, read } from "./support/cluster_access.ts";
import { bareControlPlane } from "./support/shared_control_plane.ts";
import { waitUntil } from "./support/wait.ts";

const MCO = "openshift-machine-config-operator";
const BUILDER = "machine-os-builder";
const COMPONENTS = fileURLToPath(new URL("../../manifests/components/", import.meta.url));

function pathOf(namespace: string, name = ""): string {
  return `/apis/apps/v1/namespaces/${namespace}/deployments${name === "" ? "" : `/${name}`}`;
}

async function send(cluster: ClusterAccess, method: string, path: string, body?: unknown): Promise<unknown> {
  const answer = await cluster.request(method, path, body);
  expectStatus(`${method} ${path}`, answer, [200, 201]);
  return answer.body;
}

function renderDeployment(name: string): Readonly<Record<string, unknown>> {
  const labels = { "k8s-app": name };
  return {
    ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name } },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "builder", image: "builder.test/mco:v1" }] } },
    },
  };
}

/** As the operator scales: without the version that it has read. */
async function scaleUp(cluster: ClusterAccess, namespace: string, name: string): Promise<void> {
  const scale = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name, namespace }, spec: { replicas: 1 } };
  await send(cluster, "PUT", `${pathOf(namespace, name)}/scale`, scale);
}

async function apply(cluster: ClusterAccess, component: string): Promise<void> {
  const { code, stderr } = await cluster.kubectl(["apply", "-f", `${COMPONENTS}${component}/policy.yaml`]);
  assert.deepEqual([code, stderr], [0, ""]);
}

async function openWithBuilder(cluster: ClusterAccess): Promise<string> {
  await send(cluster, "POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: MCO } });
  const elsewhere = await cluster.createNamespace("elsewhere");
  await send(cluster, "POST", pathOf(MCO), renderDeployment(BUILDER));
  return elsewhere;
}

const replicasOf = async (cluster: ClusterAccess, namespace: string, name: string): Promise<unknown> =>
  read(await send(cluster, "GET", pathOf(namespace, name)), "spec", "replicas");

Deno.test("image-builds-hold: the operator's builder stays at 0 replicas, by requests that change nothing", async (t) => {
  await using cluster = await bareControlPlane();
  const elsewhere = await openWithBuilder(cluster);
  const builder = pathOf(MCO, BUILDER);

  await t.step(
    "what runs goes on until anything writes the Deployment, scaling it to 1 included; then it is held",
    async () => {
      await apply(cluster, "image-builds-hold");
      assert.equal(await replicasOf(cluster, MCO, BUILDER), 1);
      await waitUntil("the builder to be held", async () => {
        await scaleUp(cluster, MCO, BUILDER);
        return await replicasOf(cluster, MCO, BUILDER) === 0;
      });
      await waitUntil("no pods", async () => {
        const { status } = Object(await send(cluster, "GET", builder));
        return read(status, "observedGeneration") !== undefined && read(status, "replicas") === undefined;
      });
    },
  );

  await t.step("scaling to 1 at each sync changes nothing, not even the version; an update to 1 leaves 0", async () => {
    const current = Object(await send(cluster, "GET", builder));
    const updated = await send(cluster, "PUT", builder, { ...current, spec: { ...current.spec, replicas: 1 } });
    assert.equal(read(updated, "spec", "replicas"), 0);
    const versions = new Set<unknown>();
    // The first sync may add who wrote which field.
    for (let sync = 0; sync < 6; sync++) {
      await scaleUp(cluster, MCO, BUILDER);
      const { metadata, spec } = Object(await send(cluster, "GET", builder));
      assert.equal(spec.replicas, 0);
      if (sync > 0) versions.add(metadata.resourceVersion);
    }
    assert.equal(versions.size, 1);
    const { code, stderr } = await cluster.kubectl(["-n", MCO, "scale", `deployment/${BUILDER}`, "--replicas=1"]);
    assert.deepEqual([code, stderr, await replicasOf(cluster, MCO, BUILDER)], [0, "", 0]);
  });

  await t.step("a template that the operator changes is taken, and rolled out with no pod", async () => {
    const current = Object(await send(cluster, "GET", builder));
    const { template } = Object(renderDeployment(BUILDER).spec);
    const containers = [{ name: "builder", image: "builder.test/mco:v2" }];
    const spec = { ...current.spec, template: { ...template, spec: { containers } } };
    const { metadata } = Object(await send(cluster, "PUT", builder, { ...current, spec }));
    // What the operator waits for after it has changed the Deployment.
    await waitUntil("its rollout", async () => {
      const { status } = Object(await send(cluster, "GET", builder));
      return status.observedGeneration >= metadata.generation && status.updatedReplicas === status.replicas &&
        status.unavailableReplicas === undefined;
    });
    const rolledOut = await send(cluster, "GET", builder);
    assert.equal(read(rolledOut, "status", "replicas"), undefined);
    assert.equal(read(rolledOut, "spec", "template", "spec", "containers", 0, "image"), "builder.test/mco:v2");
  });

  await t.step("made again it begins at 0; other names and namespaces are as they were", async () => {
    await send(cluster, "DELETE", builder);
    await waitUntil("it is gone", async () => !await cluster.exists(builder));
    assert.equal(read(await send(cluster, "POST", pathOf(MCO), renderDeployment(BUILDER)), "spec", "replicas"), 0);
    for (const [namespace, name] of [[MCO, "machine-config-operator"], [elsewhere, BUILDER]] as const) {
      await send(cluster, "POST", pathOf(namespace), renderDeployment(name));
      await scaleUp(cluster, namespace, name);
      assert.equal(await replicasOf(cluster, namespace, name), 1);
    }
  });

  await t.step(
    "switched back by one command, that changes nothing by itself: the next sync starts the builder",
    async () => {
      const before = Object(await send(cluster, "GET", builder));
      await cluster.run([
        "delete",
        "mutatingadmissionpolicybinding",
        "archway-image-builds-hold",
      ]);
      const after = Object(await send(cluster, "GET", builder));
      assert.deepEqual([after.spec, after.metadata.generation], [before.spec, before.metadata.generation]);
      await waitUntil("the builder to start", async () => {
        await scaleUp(cluster, MCO, BUILDER);
        return await replicasOf(cluster, MCO, BUILDER) === 1;
      });
    },
  );
});

Deno.test("image-builds-hold-pods: the operator's builder gets no pod, and builds do", async (t) => {
  await using cluster = await bareControlPlane();
  await cluster.addNodes([{ name: "amd64-1", arch: "amd64" }]);
  const elsewhere = await openWithBuilder(cluster);
  const pods = `/api/v1/namespaces/${MCO}/pods`;
  const podOf = (kind: string, name: string): unknown => ({
    ...{ apiVersion: "v1", kind: "Pod" },
    metadata: { name: "tried", ownerReferences: [{ apiVersion: "apps/v1", kind, name, uid: crypto.randomUUID() }] },
    spec: { containers: [{ name: "builder", image: "builder.test/mco:v1" }] },
  });
  const tryPod = async (namespace: string, kind: string, name: string): Promise<number> => {
    const path = `/api/v1/namespaces/${namespace}/pods?dryRun=All`;
    return (await cluster.request("POST", path, podOf(kind, name))).status;
  };

  await t.step("no pod of the builder is made any more; those of Jobs, other owners and namespaces are", async () => {
    await apply(cluster, "image-builds-hold-pods");
    await waitUntil("the refusal", async () => await tryPod(MCO, "ReplicaSet", `${BUILDER}-5d9`) === 422);
    assert.equal(await tryPod(MCO, "Job", `${BUILDER}-5d9`), 201);
    assert.equal(await tryPod(MCO, "ReplicaSet", "machine-config-operator-5d9"), 201);
    assert.equal(await tryPod(elsewhere, "ReplicaSet", `${BUILDER}-5d9`), 201);
  });

  await t.step("its pod, once deleted, does not come back, and the Deployment says that it runs none", async () => {
    await send(cluster, "DELETE", `${pods}?labelSelector=k8s-app%3D${BUILDER}&gracePeriodSeconds=0`);
    await waitUntil("no replicas", async () => {
      const { spec, status } = Object(await send(cluster, "GET", pathOf(MCO, BUILDER)));
      const conditions: readonly unknown[] = status.conditions ?? [];
      return spec.replicas === 1 && status.replicas === undefined &&
        conditions.some((one) => read(one, "type") === "ReplicaFailure" && read(one, "status") === "True");
    });
  });

  await t.step("switched back by one command: Kubernetes makes the pod at its next try", async () => {
    const binding = ["validatingadmissionpolicybinding", "archway-image-builds-hold-pods"];
    await cluster.run(["delete", ...binding]);
    await waitUntil("the pod", async () => {
      // A new template is such a try; without one it comes after a back-off.
      await cluster.kubectl(["-n", MCO, "rollout", "restart", `deployment/${BUILDER}`]);
      return read(await send(cluster, "GET", pathOf(MCO, BUILDER)), "status", "replicas") !== undefined;
    });
  });
});
