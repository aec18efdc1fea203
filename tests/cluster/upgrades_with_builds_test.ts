// An upgrade while the image of the workers is built by Archway: two components as they are installed, beside each other, and the
// scripted OpenShift with a pool whose nodes take what is published.
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { lacks } from "../support/needs.ts";
import { BuildBed } from "./support/build_bed.ts";
import { content } from "./support/build_objects.ts";
import { BUILDER, BuilderSync, renderBuilder } from "./support/builder_sync.ts";
import { BuiltPool } from "./support/built_pool.ts";
import { type ClusterAccess, read } from "./support/cluster_access.ts";
import { SHAREABLE, startControlPlane } from "./support/control_plane.ts";
import { canMountAccount } from "./support/mounted_account.ts";
import { missingForOpenShift } from "./support/openshift_crds.ts";
import { FROM, imageOf, TO } from "./support/simulated_openshift.ts";
import { UpgradeService } from "./support/upgrade_service.ts";
import { waitUntil } from "./support/wait.ts";

const ignore = lacks("go") || await missingForOpenShift() !== undefined || !await canMountAccount();
const HOLD = fileURLToPath(new URL("../../manifests/components/image-builds-hold/policy.yaml", import.meta.url));
const WORKERS = [{ name: "worker-1", arch: "amd64" }, { name: "worker-2", arch: "arm64" }];
const STEP_MS = 100;

async function installHold(cluster: ClusterAccess): Promise<void> {
  await cluster.run(["apply", "-f", HOLD]);
  const deployments = BUILDER.slice(0, BUILDER.lastIndexOf("/"));
  await waitUntil("the builder to be held", async () => {
    const { body } = await cluster.request("POST", `${deployments}?dryRun=All`, renderBuilder("builder.test/probe:v1"));
    return read(body, "spec", "replicas") === 0;
  });
}

/** The base image of each version, for both architectures. */
async function pushBases({ registry, relay }: BuildBed): Promise<Readonly<Record<string, string>>> {
  const platforms = WORKERS.map(({ arch: architecture }) => ({ architecture }));
  const pushed = [FROM, TO].map(async (version) => {
    const { digest } = await registry.push("base/os", version, { platforms, salt: version });
    return [version, `${relay.host}/base/os@${digest}`];
  });
  return Object.fromEntries(await Promise.all(pushed));
}

/** Waits until every worker has this image, and gives its configuration. */
async function configWith(pool: BuiltPool, image: string): Promise<string> {
  return await waitUntil("the workers to have the image", async () => {
    const nodes = await pool.nodes();
    const [{ current } = assert.fail("no worker")] = nodes;
    const has = ({ config, image: its }: typeof current): boolean => its === image && config === current.config;
    return nodes.every((node) => has(node.current) && has(node.desired)) && current.config;
  }).catch((cause: unknown) => {
    throw new Error(`${String(cause)}; ${String(pool.lastFault)}`, { cause });
  });
}

/** It was made, and got a template of the new version: no sync changed anything else, and none does any more. */
async function assertHeld(sync: BuilderSync): Promise<void> {
  assert.deepEqual([[...sync.replicas], [...sync.generations]], [[0], [1, 2]]);
  const { syncs } = sync;
  sync.versions.clear();
  await waitUntil("ten more syncs", () => sync.syncs > syncs + 10);
  assert.equal(sync.versions.size, 1);
}

Deno.test({
  name: "upgrades: a cluster whose workers are built by Archway is upgraded to the end",
  ignore,
  fn: async () => {
    await using cluster = await startControlPlane(SHAREABLE);
    await using builds = await BuildBed.open({ cluster, nodes: WORKERS });
    const bases = await pushBases(builds);
    await installHold(cluster);
    await using sync = new BuilderSync(cluster, { stepMs: STEP_MS });
    await using upgrades = await UpgradeService.open({
      ...{ cluster, stepMs: STEP_MS, pools: { master: 1 } },
      failsBefore: (version) => sync.failureOf(version),
    });
    await using pool = new BuiltPool(builds, { stepMs: STEP_MS, bases });
    await builds.startArchway();
    await upgrades.startReplica("one");
    await upgrades.untilPlansAreChecked();

    await builds.createConfig(content("tools"));
    const before = await builds.waitForPublished();
    const configBefore = await configWith(pool, before);
    await upgrades.storePlan();
    await upgrades.untilPhase("Upgraded");

    const after = await builds.published();
    assert.notEqual(after, before);
    assert.notEqual(await configWith(pool, after), configBefore);
    const { surroundings, openshift } = upgrades;
    assert.deepEqual(openshift.asked, [`${TO}  ${imageOf(TO)}`]);
    assert.deepEqual([surroundings.active(), await openshift.cordoned()], [[], []]);
    const { played } = builds.player;
    assert.deepEqual(played.slice(2).map(({ arch, base }) => [arch, base]).toSorted(), [
      ["amd64", bases[TO]],
      ["arm64", bases[TO]],
    ]);
    assert.deepEqual(Object.keys(await builds.platformsOf(after) ?? {}).toSorted(), ["amd64", "arm64"]);
    await assertHeld(sync);
    await builds.settled();
  },
});
