import assert from "node:assert/strict";
import { BuildBed, BUILDS_GROUP, ignore } from "./support/build_bed.ts";
import { content } from "./support/build_objects.ts";
import { listAt, read } from "./support/cluster_access.ts";
import { registryError } from "./support/indexing.ts";
import { waitUntil } from "./support/wait.ts";

const CURRENT_IMAGE = "machineconfiguration.openshift.io/currentImage";

async function waitForNothing(bed: BuildBed): Promise<void> {
  let left: readonly string[] = [];
  await waitUntil("nothing to be left", async () => (left = await bed.belongings()).length === 0, {
    says: async () => `left: ${left.join(", ")}; log: ${await bed.log()}`,
  });
}

async function digestsOf(bed: BuildBed, reference: string): Promise<readonly string[]> {
  const children = Object.values(await bed.platformsOf(reference) ?? {});
  return [reference.slice(reference.indexOf("@") + 1), ...children];
}

Deno.test("image builds: what goes takes everything of its own along (O-070 O-077 O-122 O-147 O-153 P-171 P-172)", {
  ignore,
}, async (t) => {
  await using bed = await BuildBed.open();
  const archway = await bed.startArchway();
  let hasEnded = false;
  void archway.ended.then(() => hasEnded = true);
  await t.step("a pool changes without a MachineOSConfig: nothing is made (O-070)", async () => {
    for (const text of ["one", "two"]) await bed.render({ files: { "/etc/motd": text } });
    await bed.settled();
    assert.deepEqual([await bed.belongings(), await bed.jobsCreated(), bed.relay.requests], [[], 0, []]);
  });
  await t.step("one for a pool that does not exist is deleted: the service goes on (O-147)", async () => {
    await bed.createConfig({ pool: "infra", ...content("none") });
    await waitUntil("it to be said", async () => {
      const conditions = listAt(await bed.config("infra"), "status", "conditions");
      return conditions.some((one) => read(one, "reason") === "PoolNotFound");
    });
    await bed.deleteConfig("infra");
    await bed.settled();
    assert.equal(hasEnded, false);
  });
  await t.step("an older build whose images are gone is built again under its name (O-122)", async () => {
    const first = await bed.publish(content("first"));
    const [older] = await bed.builds();
    const second = await bed.publish(content("second"));
    await bed.settled();
    for (const digest of await digestsOf(bed, first)) await bed.registry.deleteManifest("team/os", digest);
    const again = await bed.publish(content("first"));
    await bed.settled();
    const rebuilt = (await bed.builds()).find(({ digest }) => digest === again);
    assert.deepEqual([rebuilt?.name, rebuilt?.uid === older?.uid], [older?.name, false]);
    const jobs = await bed.jobsCreated();
    assert.equal(await bed.publish(content("second")), second, "the newer one is still there");
    await bed.settled();
    assert.equal(await bed.jobsCreated(), jobs);
    const digests = await digestsOf(bed, again);
    assert.equal((await bed.present(digests)).length, 3);
    await bed.cluster.delete(`${BUILDS_GROUP}/machineosbuilds/${rebuilt?.name}`);
    await waitUntil("its images to go", async () => (await bed.present(digests)).length === 0);
    assert.equal((await bed.present(await digestsOf(bed, second))).length, 3);
  });
  await t.step(
    "the MachineOSConfig is deleted: all of several builds goes, with their images (O-077 O-153)",
    async () => {
      const before = await digestsOf(bed, await bed.published());
      const digests = [...before, ...await digestsOf(bed, await bed.publish(content("third")))];
      await bed.settled();
      assert.equal((await bed.builds()).length, 2);
      assert.equal((await bed.present(digests)).length, 6);
      await bed.deleteConfig();
      await waitForNothing(bed);
      assert.deepEqual(await bed.present(digests), []);
    },
  );
  await t.step("a node runs the image: it stays, and goes when the node has another one (P-172)", async () => {
    const reference = await bed.publish(content("run"));
    await bed.cluster.patch("/api/v1/nodes/arm64-1", { metadata: { annotations: { [CURRENT_IMAGE]: reference } } });
    await bed.settled();
    const digests = await digestsOf(bed, reference);
    await bed.deleteConfig();
    await waitUntil("its record alone to be left", async () => {
      const left = await bed.belongings();
      return left.length === 1 && left[0]?.startsWith("archs-") === true;
    });
    await bed.settled();
    assert.equal((await bed.present(digests)).length, 3);
    await bed.cluster.patch("/api/v1/nodes/arm64-1", { metadata: { annotations: { [CURRENT_IMAGE]: null } } });
    await waitForNothing(bed);
    assert.deepEqual(await bed.present(digests), []);
  });
  await t.step("a registry that deletes nothing: one event says so, and all else goes (P-171)", async () => {
    const digests = await digestsOf(bed, await bed.publish(content("kept")));
    await bed.settled();
    bed.relay.intercept = ({ method, path }) =>
      method === "DELETE" && path.includes("/manifests/") ? registryError(405, "UNSUPPORTED") : undefined;
    await bed.deleteConfig();
    await waitForNothing(bed);
    assert.equal((await bed.present(digests)).length, 3);
    const about = async (): Promise<readonly unknown[]> =>
      await bed.cluster.list("/api/v1/events?fieldSelector=reason%3DImageNotDeleted");
    await waitUntil("the event", async () => (await about()).length > 0);
    await bed.settled();
    const [event, ...more] = await about();
    assert.deepEqual([read(event, "type"), read(event, "count"), more], ["Warning", 1, []]);
    assert.match(String(read(event, "message")), /the registry deletes nothing/);
  });
});
