import assert from "node:assert/strict";
import { dirname } from "node:path";
import { lacks } from "../support/needs.ts";
import { atWork, BuildBed, BUILDS_GROUP, ignore, TWO } from "./support/build_bed.ts";
import { BUILD_NAMESPACE, contents } from "./support/build_objects.ts";
import { isIndexPush } from "./support/indexing.ts";
import { pause, repeatedly } from "./support/wait.ts";
import { runCommand } from "../support/commands.ts";

const [, ARM64] = TWO;
const MAPS = `/api/v1/namespaces/${BUILD_NAMESPACE}/configmaps`;

/** No Job, one record for each build, and an index of these architectures whose images are all there. */
async function assertWhole(bed: BuildBed, archs: readonly string[]): Promise<void> {
  await bed.settled();
  assert.deepEqual(await bed.jobs(), []);
  const records = (await bed.cluster.names(MAPS)).filter((name) => name.startsWith("archs-"));
  const builds = (await bed.builds()).map(({ name }) => `archs-${name}`);
  assert.deepEqual(records.toSorted(), builds.toSorted());
  const reference = await bed.published();
  const children = await bed.platformsOf(reference);
  assert.deepEqual(Object.keys(children ?? {}), archs);
  for (const [arch, digest] of Object.entries(children ?? {})) {
    assert.deepEqual(await bed.platformsOf(`${bed.repositoryOf()}@${digest}`), { [arch]: digest });
  }
}

function meddle(bed: BuildBed): AsyncDisposable {
  let at = 0;
  return repeatedly(0, async () => {
    const startedMs = performance.now();
    const builds = (await bed.builds()).map(({ name }) => name);
    const document = { metadata: { annotations: { "example.com/touched": String(at++) } } };
    const paths = [
      `${BUILDS_GROUP}/machineosconfigs/worker`,
      `${BUILDS_GROUP}/machineconfigpools/worker`,
      ...builds.flatMap((name) => [`${BUILDS_GROUP}/machineosbuilds/${name}`, `${MAPS}/archs-${name}`]),
    ];
    await Promise.all(paths.map((path) => bed.cluster.request("PATCH", path, document)));
    // As often as a busy cluster's controllers do, and no more: where writes take long, so do Archway's tries.
    await pause(Math.max(200, 5 * (performance.now() - startedMs)));
  });
}

Deno.test(
  "image builds: other clients write all the time: conflicts are met, one Job for each architecture, one index (P-072)",
  { ignore },
  atWork(async (bed) => {
    {
      await using _meddling = meddle(bed);
      for (const text of ["first", "second", "third"]) await bed.publish(contents(text), { deadlineMs: 120_000 });
    }
    await assertWhole(bed, ["amd64", "arm64"]);
    assert.equal(await bed.jobsCreated(), 6, "one Job for each architecture of each text");
    const refused = (await bed.writes()).filter((write) => write.endsWith(" 409"));
    assert.ok(refused.length > 0, "no conflict was met");
  }),
);

/** Runs the registry's own garbage collection, which takes what no tag leads to. */
async function collectGarbage(bed: BuildBed): Promise<void> {
  const config = `${dirname(bed.registry.caFile)}/config.yml`;
  await runCommand("docker-registry", ["garbage-collect", "--delete-untagged", config]);
}

Deno.test(
  "image builds: a registry that is slow, collects garbage, or has its tags moved (P-148)",
  { ignore },
  atWork(async (bed, t) => {
    await t.step("it collects what has no tag before the index is pushed: the images stay (P-148)", async () => {
      let collected = 0;
      bed.relay.intercept = async (request) => {
        if (!isIndexPush(request) || collected > 0) return undefined;
        collected++;
        await collectGarbage(bed);
        return undefined;
      };
      await bed.publish(contents("first"));
      assert.equal(collected, 1);
      await assertWhole(bed, ["amd64", "arm64"]);
      bed.relay.intercept = () => undefined;
    });
    await t.step("it answers each request after a second: published", async () => {
      bed.relay.intercept = async () => {
        await pause(1_000);
        return undefined;
      };
      await bed.publish(contents("second"), { deadlineMs: 120_000 });
      bed.relay.intercept = () => undefined;
      await assertWhole(bed, ["amd64", "arm64"]);
    });
    await t.step("somebody moves the tag of arm64: the image that was built is found by its digest", async () => {
      const children = await bed.platformsOf(await bed.published());
      const played = bed.player.played.length;
      const { tag = "" } = bed.player.played.findLast(({ arch }) => arch === "arm64") ?? {};
      const moved = tag.slice(tag.lastIndexOf(":") + 1);
      await bed.registry.push("team/os", moved, { single: { architecture: "arm64" }, salt: "moved" });
      const after = await bed.platformsOf(await bed.publish(contents("third", "second")));
      await assertWhole(bed, ["amd64", "arm64"]);
      assert.deepEqual([bed.player.built(played), after?.["arm64"]], [["amd64"], children?.["arm64"]]);
    });
    await t.step("somebody moves the tag of the index: what is published stays what it is", async () => {
      const before = await bed.published();
      const build = (await bed.builds()).find(({ digest }) => digest === before);
      await bed.registry.push("team/os", build?.name ?? "", { single: { architecture: "amd64" }, salt: "other" });
      const jobs = await bed.jobsCreated();
      await bed.annotate({ "example.com/look": "1" });
      await assertWhole(bed, ["amd64", "arm64"]);
      assert.deepEqual([await bed.published(), await bed.jobsCreated()], [before, jobs]);
    });
  }),
);

Deno.test({
  name: "image builds: an index without the service's own architecture is found again, and built once (P-090)",
  ignore: lacks("go") || Deno.build.arch === "aarch64",
}, async () => {
  await using bed = await BuildBed.open({ nodes: [ARM64], settings: { alwaysIndex: true } });
  const first = await bed.startArchway({ identity: "one" });
  const reference = await bed.publish(contents("first"));
  await assertWhole(bed, ["arm64"]);
  const [index = ""] = [reference.slice(reference.indexOf("@") + 1)];
  assert.notEqual(index, (await bed.platformsOf(reference))?.["arm64"], "an index of one");
  first.kill("SIGTERM");
  await first.ended;
  const writes = (await bed.writes()).length;
  await bed.startArchway({ identity: "two" });
  await bed.annotate({ "example.com/look": "1" });
  await bed.settled({ forMs: 4_000 });
  const seen = { jobs: await bed.jobsCreated(), writes: (await bed.writes()).length, reference: await bed.published() };
  assert.deepEqual(seen, { jobs: 1, writes, reference });
  assert.equal((await bed.builds()).length, 1);
});
