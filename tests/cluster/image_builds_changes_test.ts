import assert from "node:assert/strict";
import { atWork, type BuildBed, ignore, REBUILD, TWO } from "./support/build_bed.ts";
import { entry } from "./support/build_objects.ts";
import type { SeenBuild } from "./support/seen_builds.ts";
import { read } from "./support/cluster_access.ts";
import { waitUntil } from "./support/wait.ts";

const [amd64, arm64] = TWO;
const POOL = "/apis/machineconfiguration.openshift.io/v1/machineconfigpools/worker";

interface Expected {
  readonly built: readonly string[];
  /** `same`: nothing else is published. `new`: another digest. `moved`: the same digest elsewhere. */
  readonly published: "same" | "new" | "moved";
  readonly pushes?: boolean;
}

const BOTH: Expected = { built: ["amd64", "arm64"], published: "new" };
const ARM64: Expected = { built: ["arm64"], published: "new" };
const REUSED: Expected = { built: [], published: "new" };
const NOTHING: Expected = { built: [], published: "same" };

async function change(bed: BuildBed, make: () => Promise<unknown>, expected: Expected): Promise<string> {
  const before = await bed.published();
  const [played, jobs, pushes] = [bed.player.played.length, await bed.jobsCreated(), bed.pushes().length];
  await make();
  if (expected.published !== "same") await bed.waitForPublished({ other: before });
  if (expected.pushes === true) await waitUntil("a push", () => bed.pushes().length > pushes);
  await bed.settled();
  const after = await bed.published();
  const seen = {
    built: bed.player.built(played),
    jobs: await bed.jobsCreated() - jobs,
    published: after === before ? "same" : digestOf(after) === digestOf(before) ? "moved" : "new",
    ...(expected.pushes === undefined ? {} : { pushes: bed.pushes().length > pushes }),
  };
  const all = { jobs: expected.built.length, ...expected };
  if (JSON.stringify(Object.entries(seen).sort()) !== JSON.stringify(Object.entries(all).sort())) {
    assert.deepEqual(seen, all, `builds: ${JSON.stringify(await bed.builds())}; log: ${await bed.log()}`);
  }
  const builds = await bed.builds();
  assert.ok(builds.some(({ digest }) => digest === after), `no build has ${after}: ${JSON.stringify(builds)}`);
  return after;
}

type Step = (what: string, make: () => Promise<unknown>, expected: Expected) => Promise<unknown>;

function stepsOf(t: Deno.TestContext, bed: BuildBed): Step {
  return (what, make, expected) => t.step(what, async () => void await change(bed, make, expected));
}

function digestOf(reference: string): string {
  return reference.slice(reference.indexOf("@") + 1);
}

Deno.test(
  "image builds: every change of what an image is made of builds what it concerns and nothing else (P-080 P-084)",
  { ignore },
  atWork(async (bed, t) => {
    const step = stepsOf(t, bed);
    const start = [entry("NoArch", "a"), entry("ARM64", "b")];
    const replace = (...containerFile: typeof start) => (): Promise<void> => bed.replaceConfig({ containerFile });
    let first = "";
    await t.step("created: both", async () => {
      first = await change(bed, () => bed.createConfig({ containerFile: start }), BOTH);
    });
    await t.step("ARM64 entry edited: arm64, and the amd64 child stays", async () => {
      const before = await bed.platformsOf(await bed.published());
      const after = await bed.platformsOf(await change(bed, replace(entry("NoArch", "a"), entry("ARM64", "c")), ARM64));
      assert.equal(after?.["amd64"], before?.["amd64"]);
      assert.notEqual(after?.["arm64"], before?.["arm64"]);
    });
    await t.step("back to earlier content: reused, the same digest as before", async () => {
      assert.equal(await change(bed, replace(...start), REUSED), first);
    });
    await step("ARM64 entry taken away where NoArch differs: arm64", replace(entry("NoArch", "a")), ARM64);
    const file = (): Promise<string> => bed.render({ files: { "/etc/motd": "another" } });
    await step("a file of the MachineConfig: nothing is built, the same digest", file, NOTHING);
    const kernel = { kernelArguments: ["quiet"], extensions: ["usbguard"], kernelType: "realtime" };
    await step("kernel arguments, extensions and the kernel: both", () => bed.render(kernel), BOTH);
    await t.step("osImageURL: both, on that image; taken away again: reused, the same digest (O-140)", async () => {
      const before = await change(bed, () => bed.render({}), REUSED);
      const platforms = TWO.map(({ arch: architecture }) => ({ architecture }));
      const { digest } = await bed.registry.push("base/os", "v2", { platforms, salt: "another" });
      const osImageURL = `${bed.relay.host}/base/os@${digest}`;
      const played = bed.player.played.length;
      await change(bed, () => bed.render({ osImageURL }), BOTH);
      assert.deepEqual(bed.player.played.slice(played).map(({ base }) => base), [osImageURL, osImageURL]);
      assert.equal(await change(bed, () => bed.render({}), REUSED), before);
    });
  }),
);

Deno.test(
  "image builds: secrets, tags, repositories, lost images and rebuilds (P-080 P-085 P-087 P-089 P-162)",
  { ignore },
  atWork(async (bed, t) => {
    const step = stepsOf(t, bed);
    const containerFile = [entry("NoArch", "a")];
    await change(bed, () => bed.createConfig({ containerFile }), BOTH);
    await t.step("push and pull secrets renamed: nothing", async () => {
      for (const name of ["push-2", "pull-2"]) await bed.createSecret(name);
      const renamed = { containerFile, pushSecret: "push-2", pullSecret: "pull-2" };
      await change(bed, () => bed.replaceConfig(renamed), { ...NOTHING, pushes: false });
    });
    const tag = (): Promise<void> => bed.replaceConfig({ containerFile, tag: "other" });
    await step("push tag alone: nothing", tag, { ...NOTHING, pushes: false });
    await t.step("the arm64 image deleted: arm64 is built", async () => {
      const lost = (await bed.platformsOf(await bed.published()))?.["arm64"] ?? "";
      await bed.registry.deleteManifest("team/os", lost);
      await change(bed, () => bed.annotate({ "example.com/look": "2" }), ARM64);
    });
    await t.step("repository: copied, the same digest elsewhere", async () => {
      const move = (): Promise<void> => bed.replaceConfig({ containerFile, repository: "team/moved" });
      const now = await change(bed, move, { built: [], published: "moved", pushes: true });
      assert.ok(now.startsWith(`${bed.relay.host}/team/moved@`), now);
      assert.deepEqual(Object.keys(await bed.platformsOf(now) ?? {}), ["amd64", "arm64"]);
    });
    await t.step("index deleted, children there: pushed again, the same digest", async () => {
      const now = await bed.published();
      await bed.registry.deleteManifest("team/moved", digestOf(now));
      await change(bed, () => bed.annotate({ "example.com/look": "1" }), { ...NOTHING, pushes: true });
      await waitUntil("the index", async () => await bed.platformsOf(now) !== undefined);
    });
    await t.step("rebuild arm64: arm64, the same name and another uid", async () => {
      const before = await currentBuild(bed);
      await change(bed, () => bed.annotate({ [REBUILD]: "arm64" }), ARM64);
      const after = await currentBuild(bed);
      assert.equal(after?.name, before?.name);
      assert.notEqual(after?.uid, before?.uid);
      assert.equal(read(await bed.config(), "metadata", "annotations", REBUILD), undefined);
    });
    await t.step("rebuild all, and with an empty value after success: both", async () => {
      await change(bed, () => bed.annotate({ [REBUILD]: "all" }), BOTH);
      await change(bed, () => bed.annotate({ [REBUILD]: "" }), BOTH);
    });
    await step("rebuild arm64,bogus: the part that is one", () => bed.annotate({ [REBUILD]: "arm64,bogus" }), ARM64);
  }),
);

async function currentBuild(bed: BuildBed): Promise<SeenBuild | undefined> {
  const now = await bed.published();
  return (await bed.builds()).find(({ digest }) => digest === now);
}

Deno.test(
  "image builds: a node of a second architecture joins and leaves; pools that are paused or degraded (P-080 P-147)",
  { ignore },
  atWork({
    nodes: [amd64],
  }, async (bed, t) => {
    const step = stepsOf(t, bed);
    await t.step("one architecture: one Job, the image itself is published", async () => {
      const create = (): Promise<void> => bed.createConfig({ containerFile: [entry("NoArch", "a")] });
      const now = await change(bed, create, { built: ["amd64"], published: "new" });
      const [played] = bed.player.played;
      assert.deepEqual(await bed.platformsOf(now), { amd64: played?.digest });
      assert.equal(digestOf(now), played?.digest);
    });
    await t.step("the first arm64 node: arm64 alone, in an index with the image that was there", async () => {
      const before = digestOf(await bed.published());
      const now = await change(bed, () => bed.addNode(arm64), ARM64);
      assert.equal((await bed.platformsOf(now))?.["amd64"], before);
      const pool = await bed.cluster.get(POOL);
      assert.equal(read(pool, "metadata", "annotations", "archway.dev/architectures"), "amd64,arm64");
    });
    await step("the last arm64 node leaves: nothing", () => bed.removeNode(arm64.name), { ...NOTHING, pushes: false });
    await step("it comes back: nothing", () => bed.addNode(arm64), { ...NOTHING, pushes: false });
    await t.step("a paused pool is built", async () => {
      await bed.cluster.patch(POOL, { spec: { paused: true } });
      await change(bed, () => bed.replaceConfig({ containerFile: [entry("NoArch", "b")] }), BOTH);
    });
    await t.step("a degraded pool is not built, until it is well", async () => {
      const degrade = async (status: string): Promise<void> => {
        const [reason, lastTransitionTime] = ["Test", "2026-01-01T00:00:00Z"];
        const condition = { type: "NodeDegraded", status, reason, message: "", lastTransitionTime };
        await bed.cluster.patch(`${POOL}/status`, { status: { conditions: [condition] } });
      };
      await degrade("True");
      await change(bed, () => bed.replaceConfig({ containerFile: [entry("NoArch", "c")] }), NOTHING);
      await change(bed, () => degrade("False"), BOTH);
    });
    await t.step("the MachineOSConfig deleted: its builds, Jobs, ConfigMaps and Secrets go", async () => {
      await bed.deleteConfig();
      await waitUntil("no builds, Jobs, ConfigMaps nor Secrets", async () => (await bed.belongings()).length === 0);
    });
  }),
);
