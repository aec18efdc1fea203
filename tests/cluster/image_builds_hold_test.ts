// The machine config operator's own builder steps aside and comes back, on a real control plane: what image-builds-hold and
// image-builds-hold-webhook make of the requests that the operator sends at each of its syncs, which the record of its own
// code has. Nothing else is touched.
import assert from "node:assert/strict";
import { readRecord } from "../oracles/record.ts";
import { questionsOf } from "../oracles/subject.ts";
import { BUILDER } from "../oracles/subjects/builder.ts";
import { holdByPolicy, holdByWebhook } from "./support/builder_hold.ts";
import { BUILDER_NAME, renderBuilder } from "./support/builder_sync.ts";
import { startBuildService } from "./support/build_service.ts";
import { type ClusterAccess, expectStatus, read } from "./support/cluster_access.ts";
import type { RunningProcess } from "./support/process.ts";
import { bareControlPlane } from "./support/shared_control_plane.ts";
import { waitUntil } from "./support/wait.ts";

const MCO = "openshift-machine-config-operator";
const IMAGE = "builder.test/mco:v1";

function pathOf(namespace: string, name = ""): string {
  return `/apis/apps/v1/namespaces/${namespace}/deployments${name === "" ? "" : `/${name}`}`;
}

async function send(cluster: ClusterAccess, method: string, path: string, body?: unknown): Promise<unknown> {
  const answer = await cluster.request(method, path, body);
  expectStatus(`${method} ${path}`, answer, [200, 201]);
  return answer.body;
}

/** As the operator scales: without the version that it has read. */
async function scaleUp(cluster: ClusterAccess, namespace: string, name: string): Promise<void> {
  const scale = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name, namespace }, spec: { replicas: 1 } };
  await send(cluster, "PUT", `${pathOf(namespace, name)}/scale`, scale);
}

async function openWithBuilder(cluster: ClusterAccess): Promise<string> {
  await send(cluster, "POST", "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: MCO } });
  const elsewhere = await cluster.createNamespace("elsewhere");
  await send(cluster, "POST", pathOf(MCO), renderBuilder(IMAGE));
  return elsewhere;
}

/** The turns of the operator's own code, by its record, from where nothing runs: each request, and what it then finds. */
async function replayRecord(cluster: ClusterAccess): Promise<number> {
  const { answers } = await readRecord(BUILDER);
  const builder = pathOf(MCO, BUILDER_NAME);
  let turns = 0;
  for (const [at, { existing, required, held }] of questionsOf(BUILDER).entries()) {
    if (held.length < 2 || read(existing, "spec", "replicas") === 1) continue;
    await send(cluster, "DELETE", builder);
    await waitUntil("it is gone", async () => !await cluster.exists(builder));
    if (existing !== undefined) await send(cluster, "POST", pathOf(MCO), existing);
    for (const turn of Object(answers[at])) {
      const before = await generationOf(cluster);
      for (const write of turn.writes) await writeAs(cluster, write, Object(required));
      assert.equal(await replicasOf(cluster, MCO, BUILDER_NAME), turn.replicas);
      assert.equal(await generationOf(cluster) !== before, turn.changes > 0, JSON.stringify({ at, turn }));
      turns++;
    }
  }
  return turns;
}

async function generationOf(cluster: ClusterAccess): Promise<unknown> {
  return read((await cluster.request("GET", pathOf(MCO, BUILDER_NAME))).body, "metadata", "generation");
}

/** The operator's apply leaves the replicas as it has read them. */
async function writeAs(
  cluster: ClusterAccess,
  write: string,
  required: Readonly<Record<string, unknown>>,
): Promise<void> {
  if (write === "create deployments/") return void await send(cluster, "POST", pathOf(MCO), required);
  if (write === "update deployments/scale") return await scaleUp(cluster, MCO, BUILDER_NAME);
  assert.equal(write, "update deployments/");
  // The Deployment's controller writes as well.
  await waitUntil("the update", async () => {
    const { spec, ...current } = Object(await send(cluster, "GET", pathOf(MCO, BUILDER_NAME)));
    const next = { ...current, spec: { ...spec, template: read(required, "spec", "template") } };
    return (await cluster.request("PUT", pathOf(MCO, BUILDER_NAME), next)).status === 200;
  });
}

const replicasOf = async (cluster: ClusterAccess, namespace: string, name: string): Promise<unknown> =>
  read(await send(cluster, "GET", pathOf(namespace, name)), "spec", "replicas");

interface Hold {
  readonly begin: () => Promise<void>;
  /** What a user deletes to switch back. */
  readonly binding: readonly [kind: string, name: string];
}

async function assertHeld(t: Deno.TestContext, cluster: ClusterAccess, { begin, binding }: Hold): Promise<void> {
  const elsewhere = await openWithBuilder(cluster);
  const builder = pathOf(MCO, BUILDER_NAME);

  await t.step("what runs goes on until a write of the Deployment, even scaling it to 1; then it is held", async () => {
    await begin();
    assert.equal(await replicasOf(cluster, MCO, BUILDER_NAME), 1);
    await waitUntil("the builder to be held", async () => {
      await scaleUp(cluster, MCO, BUILDER_NAME);
      return await replicasOf(cluster, MCO, BUILDER_NAME) === 0;
    });
    await waitUntil("no pods", async () => {
      const { status } = Object(await send(cluster, "GET", builder));
      return read(status, "observedGeneration") !== undefined && read(status, "replicas") === undefined;
    });
  });

  await t.step("scaling to 1 at each sync changes nothing, not even the version; an update to 1 leaves 0", async () => {
    const current = Object(await send(cluster, "GET", builder));
    const updated = await send(cluster, "PUT", builder, { ...current, spec: { ...current.spec, replicas: 1 } });
    assert.equal(read(updated, "spec", "replicas"), 0);
    const versions = new Set<unknown>();
    // The first sync may add who wrote which field.
    for (let sync = 0; sync < 6; sync++) {
      await scaleUp(cluster, MCO, BUILDER_NAME);
      const { metadata, spec } = Object(await send(cluster, "GET", builder));
      assert.equal(spec.replicas, 0);
      if (sync > 0) versions.add(metadata.resourceVersion);
    }
    assert.equal(versions.size, 1);
    const { code, stderr } = await cluster.kubectl(["-n", MCO, "scale", `deployment/${BUILDER_NAME}`, "--replicas=1"]);
    assert.deepEqual([code, stderr, await replicasOf(cluster, MCO, BUILDER_NAME)], [0, "", 0]);
  });

  await t.step("a template that the operator changes is taken, and rolled out with no pod", async () => {
    const current = Object(await send(cluster, "GET", builder));
    const { template } = Object(renderBuilder("builder.test/mco:v2")["spec"]);
    const spec = { ...current.spec, template };
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
    assert.equal(read(await send(cluster, "POST", pathOf(MCO), renderBuilder(IMAGE)), "spec", "replicas"), 0);
    for (const [namespace, name] of [[MCO, "machine-config-operator"], [elsewhere, BUILDER_NAME]] as const) {
      await send(cluster, "POST", pathOf(namespace), renderBuilder(IMAGE, name));
      await scaleUp(cluster, namespace, name);
      assert.equal(await replicasOf(cluster, namespace, name), 1);
    }
  });

  await t.step("the operator's own code, by its record: after its first turn nothing changes any more", async () => {
    assert.ok(await replayRecord(cluster) >= 8);
  });

  await t.step("switched back by one command, which changes nothing: the next sync starts the builder", async () => {
    const before = Object(await send(cluster, "GET", builder));
    await cluster.run(["delete", ...binding]);
    const after = Object(await send(cluster, "GET", builder));
    assert.deepEqual([after.spec, after.metadata.generation], [before.spec, before.metadata.generation]);
    await waitUntil("the builder to start", async () => {
      await scaleUp(cluster, MCO, BUILDER_NAME);
      return await replicasOf(cluster, MCO, BUILDER_NAME) === 1;
    });
  });
}

Deno.test("image-builds-hold: the operator's builder stays at 0 replicas, by requests that change nothing", async (t) => {
  await using cluster = await bareControlPlane();
  await assertHeld(t, cluster, {
    begin: holdByPolicy(cluster).install,
    binding: ["mutatingadmissionpolicybinding", "archway-image-builds-hold"],
  });
});

async function startHolding(cluster: ClusterAccess, args: readonly string[]): Promise<RunningProcess> {
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "archway-system" } };
  await cluster.create("/api/v1/namespaces", namespace);
  return await startBuildService({
    ...{ directory: cluster.directory, kubeconfig: cluster.kubeconfigFile, registry: "127.0.0.1:1" },
    ...{ settings: {}, identity: "hold", args },
  });
}

Deno.test("image-builds-hold-webhook: the same by the process itself, and without it the operator goes on", async (t) => {
  await using cluster = await bareControlPlane();
  const { args, install } = await holdByWebhook(cluster);
  await using service = await startHolding(cluster, args);
  const binding = ["mutatingwebhookconfiguration", "archway-image-builds-hold-webhook"] as const;
  await assertHeld(t, cluster, { begin: install, binding });
  await t.step("while the process is away the operator's requests pass, and its builder runs", async () => {
    await install();
    await waitUntil("the builder to be held", async () => {
      await scaleUp(cluster, MCO, BUILDER_NAME);
      return await replicasOf(cluster, MCO, BUILDER_NAME) === 0;
    });
    await service.stop();
    await scaleUp(cluster, MCO, BUILDER_NAME);
    assert.equal(await replicasOf(cluster, MCO, BUILDER_NAME), 1);
  });
});
