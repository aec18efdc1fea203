// An upgrade while the image of the workers is built by Archway: two components as they are installed, beside each other, and the
// scripted OpenShift with a pool whose nodes take what is published.
import assert from "node:assert/strict";
import { BuildBed } from "../cluster/support/build_bed.ts";
import { type BuilderHold, holdByPolicy, holdByWebhook } from "../cluster/support/builder_hold.ts";
import { content } from "../cluster/support/build_objects.ts";
import { BUILDER, BuilderSync, renderBuilder } from "../cluster/support/builder_sync.ts";
import { BuiltPool } from "../cluster/support/built_pool.ts";
import { type ClusterAccess, read } from "../cluster/support/cluster_access.ts";
import { SHAREABLE, startControlPlane } from "../cluster/support/control_plane.ts";
import { FROM, imageOf, POOLS, TO } from "../cluster/support/simulated_openshift.ts";
import { ignore, UpgradeService } from "../cluster/support/upgrade_service.ts";
import { waitUntil } from "../cluster/support/wait.ts";

const WORKERS = [{ name: "worker-1", arch: "amd64" }, { name: "worker-2", arch: "arm64" }];
const STEP_MS = 100;

type HoldBy = (cluster: ClusterAccess) => BuilderHold | Promise<BuilderHold>;

async function installHold(cluster: ClusterAccess, { install }: BuilderHold): Promise<void> {
  await install();
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

interface UpgradeWithBuilds extends AsyncDisposable {
  readonly bases: Readonly<Record<string, string>>;
  readonly builds: BuildBed;
  readonly pool: BuiltPool;
  readonly sync: BuilderSync;
  readonly upgrades: UpgradeService;
}

/** Both components run, and the workers have the first image. */
async function open(holdBy: HoldBy): Promise<UpgradeWithBuilds> {
  await using undo = new AsyncDisposableStack();
  const cluster = undo.use(await startControlPlane(SHAREABLE));
  const builds = undo.use(await BuildBed.open({ cluster, nodes: WORKERS }));
  const bases = await pushBases(builds);
  const hold = await holdBy(cluster);
  await builds.startArchway({ args: hold.args });
  await installHold(cluster, hold);
  const sync = undo.use(new BuilderSync(cluster, { stepMs: STEP_MS }));
  const failsBefore = (version: string): string | undefined => sync.failureOf(version);
  const upgrades = undo.use(await UpgradeService.open({ cluster, stepMs: STEP_MS, pools: { master: 1 }, failsBefore }));
  const pool = undo.use(new BuiltPool(builds, { stepMs: STEP_MS, bases }));
  await upgrades.startReplica("one");
  await upgrades.untilPlansAreChecked();
  await configWith(pool, await builds.publish(content("tools")));
  const owned = undo.move();
  return { bases, builds, pool, sync, upgrades, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

async function assertUpgraded({ builds, pool, sync, upgrades }: UpgradeWithBuilds, before: string): Promise<void> {
  const after = await builds.published();
  assert.notEqual(after, before);
  assert.equal(
    await configWith(pool, after),
    read(await builds.cluster.get(`${POOLS}/worker`), "spec", "configuration", "name"),
  );
  assert.deepEqual(Object.keys(await builds.platformsOf(after) ?? {}).toSorted(), ["amd64", "arm64"]);
  const { surroundings, openshift } = upgrades;
  assert.deepEqual(openshift.asked, [`${TO}  ${imageOf(TO)}`]);
  assert.deepEqual([surroundings.active(), await openshift.cordoned()], [[], []]);
  await assertHeld(sync);
  await builds.settled();
}

/** A test of both at work; `before`: the image of the workers. */
function test(
  name: string,
  holdBy: HoldBy,
  play: (bed: UpgradeWithBuilds, before: string) => Promise<void>,
): void {
  Deno.test(name, { ignore }, async () => {
    await using bed = await open(holdBy);
    await play(bed, await bed.builds.published());
  });
}

test(
  "upgrades: a cluster whose workers are built by Archway is upgraded to the end",
  holdByPolicy,
  async (bed, before) => {
    const { bases, builds, upgrades } = bed;
    await upgrades.storePlan();
    await upgrades.untilPhase("Upgraded");
    await assertUpgraded(bed, before);
    const seen = builds.player.played.slice(2).map(({ arch, base }) => [arch, base]);
    assert.deepEqual(seen.toSorted(), [["amd64", bases[TO]], ["arm64", bases[TO]]]);
  },
);

test(
  "upgrades: a build that fails holds the workers, and is named; built again, the upgrade goes on",
  holdByWebhook,
  async (bed, before) => {
    const { builds, upgrades } = bed;
    builds.player.fate = (arch) => arch === "arm64" ? { kind: "fail", exitCode: 65 } : { kind: "succeed" };
    await upgrades.storePlan();
    let said = "";
    await upgrades.until("the build to be named", async () => {
      said = String(read(await upgrades.readPlan(), "status", "history", 0, "conditions", 0, "message"));
      return /^WorkerNodesUpgraded .*2 nodes are left; MachineConfigPool worker is degraded \(Failed to build .* arm64: /
        .test(said);
    }, { deadlineMs: 40_000 }).catch((cause: unknown) => {
      throw new Error(`It says: ${said}`, { cause });
    });
    assert.equal(await builds.published(), before);
    builds.player.fate = () => ({ kind: "succeed" });
    await builds.annotate({ "machineconfiguration.openshift.io/rebuild": "" });
    await upgrades.untilPhase("Upgraded");
    await assertUpgraded(bed, before);
    assert.deepEqual(builds.player.built(2), ["amd64", "arm64"]);
  },
);
