import assert from "node:assert/strict";
import { atWork, BuildBed, ignore, REBUILD } from "./support/build_bed.ts";
import { contents } from "./support/build_objects.ts";
import { BUILDER, renderBuilder } from "./support/builder_sync.ts";
import { conditionOf, read } from "./support/cluster_access.ts";
import { isIndexPush, registryError } from "./support/indexing.ts";
import { waitUntil } from "./support/wait.ts";

/** Shorter than any wait of this file, longer than a Job takes that does not hang. */
const JOB_DEADLINE = "20s";

async function statusOf(bed: BuildBed, type: string): Promise<string> {
  return String(read(conditionOf(await bed.config(), type), "status") ?? "absent");
}

/** When an index is pushed for the first time, the image of arm64 is gone. */
function loseImage(bed: BuildBed): { readonly lost: readonly string[] } {
  const lost: string[] = [];
  bed.relay.intercept = async (request) => {
    const { digest } = bed.player.played.findLast(({ arch }) => arch === "arm64") ?? assert.fail("nothing was built");
    if (!isIndexPush(request) || lost.length > 0) return undefined;
    lost.push(digest);
    await bed.registry.deleteManifest("team/os", digest);
    return undefined;
  };
  return { lost };
}

Deno.test(
  "P-070 P-136 image builds: another builder, a Job that hangs and images that are lost publish nothing but a whole index",
  { ignore },
  async (t) => {
    await using bed = await BuildBed.open({ settings: { jobDeadline: JOB_DEADLINE } });
    await t.step("the operator's own builder has a replica: AnotherBuilderActive, and nothing is made", async () => {
      // Its pod is not ready: no kubelet is there to say so.
      await bed.cluster.create(BUILDER.replace(/\/[^/]*$/, ""), renderBuilder("builder.test/other:v1"));
      await waitUntil("a replica", async () => read(await bed.cluster.get(BUILDER), "status", "replicas") === 1);
      await bed.startArchway();
      await bed.createConfig(contents("first"));
      await waitUntil("the condition", async () => await statusOf(bed, "AnotherBuilderActive") === "True");
      await bed.settled();
      assert.deepEqual([await bed.builds(), await bed.jobsCreated(), bed.pushes()], [[], 0, []]);
    });
    await t.step("when it has none any more: built and published", async () => {
      await bed.cluster.patch(BUILDER, { spec: { replicas: 0 } });
      await bed.waitForPublished();
      assert.equal(await statusOf(bed, "AnotherBuilderActive"), "False");
      assert.equal(await bed.jobsCreated(), 2);
    });
    await t.step(
      "a Job that hangs: DeadlineExceeded, nothing is published, the other image is kept (P-070)",
      async () => {
        const [before, builds] = [await bed.published(), await bed.builds()];
        bed.player.fate = (arch) => ({ kind: arch === "arm64" ? "hang" : "succeed" });
        await bed.replaceConfig(contents("second"));
        const { message, archStatus } = await bed.newBuild("Failed", builds, 120_000);
        assert.match(message, /arm64: DeadlineExceeded/);
        assert.deepEqual([archStatus, await bed.published()], ["amd64=Succeeded,arm64=Failed", before]);
        bed.player.fate = () => ({ kind: "succeed" });
      },
    );
    await t.step(
      "an image that is lost before the index is made: built once more, then published (P-136)",
      async () => {
        const [jobs, played] = [await bed.jobsCreated(), bed.player.played.length];
        const { lost } = loseImage(bed);
        const reference = await bed.publish(contents("third"), { deadlineMs: 120_000 });
        assert.deepEqual(bed.player.built(played), ["amd64", "arm64", "arm64"]);
        assert.equal(await bed.jobsCreated() - jobs, 3);
        const children = await bed.platformsOf(reference);
        assert.deepEqual(Object.keys(children ?? {}), ["amd64", "arm64"]);
        assert.deepEqual([lost.length, lost.includes(children?.["arm64"] ?? "")], [1, false]);
      },
    );
  },
);

/** As registries do whose tags cannot be moved: the first index under a tag is the last. */
function keepTags(bed: BuildBed): { readonly refused: readonly string[] } {
  const taken = new Set<string>();
  const refused: string[] = [];
  bed.relay.intercept = (request) => {
    const [, tag = ""] = /\/manifests\/([^/:]+)$/.exec(request.path) ?? [];
    if (!isIndexPush(request) || tag === "") return undefined;
    if (!taken.has(tag)) {
      taken.add(tag);
      return undefined;
    }
    refused.push(tag);
    return registryError(400, "TAG_INVALID");
  };
  return { refused };
}

Deno.test(
  "P-088 image builds: a registry whose tags cannot be moved gets another tag, and the old one stays",
  { ignore },
  atWork(async (bed) => {
    const { refused } = keepTags(bed);
    const first = await bed.publish(contents("first"));
    const [build] = await bed.builds();
    const { name = "", uid } = build ?? {};
    await bed.annotate({ [REBUILD]: "all" });
    const second = await bed.waitForPublished({ other: first, deadlineMs: 90_000 });
    await bed.settled();
    const after = (await bed.builds()).filter((one) => one.name === name);
    assert.deepEqual(after.map((one) => [one.state, one.uid === uid]), [["Succeeded", false]]);
    assert.deepEqual(refused, [name]);
    const [kept, moved] = [`${bed.repositoryOf()}:${name}`, `${bed.repositoryOf()}:${name}-r1`];
    assert.deepEqual(await bed.platformsOf(kept), await bed.platformsOf(first));
    assert.deepEqual(await bed.platformsOf(moved), await bed.platformsOf(second));
  }),
);
