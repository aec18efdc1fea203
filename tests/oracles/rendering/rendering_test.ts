// What the original's render controller made of MachineConfigs, as builds and upgrades read it: see ../README.md.
import assert from "node:assert/strict";
import { type MachineConfigPool, parseMachineConfigPool } from "../../../lib/vocabulary/machines.ts";
import { Resource } from "../../../lib/k8s/types.ts";
import { OsImages } from "../../../lib/upgrades/cluster/os_images.ts";
import { describeTrouble, summarizePools } from "../../../lib/upgrades/decide/pools.ts";
import {
  decideConvergence,
  imageComparisons,
  type MigrationFacts,
} from "../../../lib/upgrades/decide/release/convergence.ts";
import { NO_ARCH, rawBuildNode } from "../../lib/builds/decide/make.ts";
import { Simulator } from "../../lib/builds/decide/simulator.ts";
import { FROM, makeCluster } from "../../lib/upgrades/decide/make_plan.ts";
import { MemoryCluster } from "../../support/memory_kube_api.ts";
import { hashOfProgram, OWN_IMAGE, readRendering, RELEASES, type Rendering, type SeenObject } from "./rendering.ts";

Deno.test("the record of rendering is of this program", async () => {
  assert.equal((await readRendering()).program.sha256, await hashOfProgram(), "run.ts --only rendering --record");
});

function seenPool({ turns }: Rendering, turn: string, name: string): SeenObject {
  return turns[turn]?.find(({ metadata }) => metadata.name === name) ?? assert.fail(`no pool ${name} at "${turn}"`);
}

function poolsAt({ turns }: Rendering, turn: string): readonly MachineConfigPool[] {
  return (turns[turn] ?? assert.fail(turn)).map(parseMachineConfigPool);
}

/** How many images are built in each turn, or why none is; at "no such kernel" the Containerfile is changed as well. */
function course(record: Rendering, pool: string): Readonly<Record<string, string>> {
  const bed = new Simulator([], { name: pool, pool });
  bed.nodes = ["amd64", "arm64"].map((reported) => rawBuildNode({ reported, roles: [pool] }));
  return Object.fromEntries(
    Object.keys(record.turns).map((turn) => {
      const seen = seenPool(record, turn, pool);
      bed.pool = { ...seen, metadata: { ...seen.metadata, uid: "uid-pool" } };
      const { rendered } = parseMachineConfigPool(seen);
      bed.rendered = record.rendered.find(({ metadata }) => metadata.name === rendered) ?? assert.fail(rendered);
      if (turn === "no such kernel") bed.edit({ name: pool, pool, files: [{ ...NO_ARCH, content: "RUN another\n" }] });
      bed.reset();
      bed.settle();
      const { status, reason } = Object(bed.condition(bed.config, "BuildNotPossible"));
      return [turn, status === "True" ? reason : `${bed.made.length} images`];
    }),
  );
}

Deno.test("what the original renders is built for each pool that it concerns, and nothing while it cannot render", async () => {
  const record = await readRendering();
  const worker = {
    "a template": "2 images",
    "a kernel and an extension": "2 images",
    "an image of its own": "0 images",
    "the marks of Archway": "0 images",
    "no such kernel": "PoolDegraded",
    "without it": "2 images",
    "the next release": "0 images",
    "templates of it": "2 images",
  };
  assert.deepEqual(course(record, "worker"), worker);
  assert.deepEqual(course(record, "infra"), { ...worker, "an image of its own": "2 images" });
});

Deno.test("a pool that the original cannot render for is named, with its words, although all its nodes are updated", async () => {
  const pools = poolsAt(await readRendering(), "no such kernel");
  assert.ok(summarizePools(pools).isDone);
  assert.deepEqual(
    describeTrouble(pools, []),
    ["infra", "worker"].map((pool) =>
      `MachineConfigPool ${pool} is degraded (Failed to render configuration for pool ${pool}: ` +
      "could not generate rendered MachineConfig: kernelType=tiny is invalid)"
    ),
  );
});

Deno.test("what Archway writes into a pool stays there, whatever the original writes after it", async () => {
  const record = await readRendering();
  const turns = Object.keys(record.turns);
  for (const turn of turns.slice(turns.indexOf("the marks of Archway"))) {
    const { annotations, conditions } = parseMachineConfigPool(seenPool(record, turn, "worker"));
    assert.equal(annotations["archway.dev/architectures"], "amd64");
    assert.equal(conditions.find(({ type }) => type === "ImageBuildDegraded")?.reason, "BuildSuccess");
  }
});

/** What a migration still waits for at this turn, if it began at "without it". */
async function lackAt(record: Rendering, turn: string): Promise<string | undefined> {
  const cluster = new MemoryCluster();
  for (const one of record.rendered) cluster.put(Resource.machineConfigs, one);
  const before = poolsAt(record, "without it").map(({ name, currentRendered }) => [name, currentRendered]);
  const baseline = { image: "", operatorImages: {}, renderedConfigs: Object.fromEntries(before) };
  const pools = poolsAt(record, turn);
  const images = new OsImages(cluster.api);
  const compare = () => images.compare(imageComparisons(pools, baseline), new AbortController().signal);
  await compare();
  const osImages = await compare();
  const clusterVersion = makeCluster();
  const facts: MigrationFacts = {
    ...{ version: FROM, clusterVersion, operators: [], pools, osImages, baseline, smoke: "notWanted" },
  };
  const convergence = decideConvergence(facts, ["nodes"]);
  return convergence.kind === "open" ? convergence.message : undefined;
}

Deno.test("a migration waits for pools that are not rendered anew, and for no image that a MachineConfig of the user's names", async () => {
  const record = await readRendering();
  const late = "MachineConfigPools: infra (configuration from before), worker (configuration from before)";
  assert.equal(await lackAt(record, "the next release"), late);
  const images = poolsAt(record, "templates of it").map(({ currentRendered }) =>
    record.rendered.find(({ metadata }) => metadata.name === currentRendered)?.spec["osImageURL"]
  );
  assert.deepEqual(images, [OWN_IMAGE, RELEASES.after.image]);
  assert.equal(await lackAt(record, "templates of it"), undefined);
});
