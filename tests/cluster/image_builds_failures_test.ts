import assert from "node:assert/strict";
import { type JsonObject, parseObject } from "../../lib/json.ts";
import { atWork, type BuildBed, ignore, REBUILD } from "./support/build_bed.ts";
import { BUILD_NAMESPACE, contents } from "./support/build_objects.ts";
import type { SeenBuild } from "./support/seen_builds.ts";
import type { Fate } from "./support/build_player.ts";
import { conditionOf, read } from "./support/cluster_access.ts";
import { isIndexPush, registryError } from "./support/indexing.ts";
import { pause, waitUntil } from "./support/wait.ts";

const POOL = "/apis/machineconfiguration.openshift.io/v1/machineconfigpools/worker";
const JOBS = `/apis/batch/v1/namespaces/${BUILD_NAMESPACE}/jobs`;
const BAD_CONTAINERFILE = 65;

let round = 0;

/** Two entries, so that both architectures are built by themselves. */
function content(arm64 = `b${round}`): ReturnType<typeof contents> {
  return contents(String(round), arm64);
}

async function want(bed: BuildBed, fate: Fate = { kind: "succeed" }): Promise<void> {
  round++;
  bed.player.fate = (arch) => arch === "arm64" ? fate : { kind: "succeed" };
  await bed.replaceConfig(content());
}

async function fails(
  bed: BuildBed,
  { fate, message }: { readonly fate: Fate; readonly message: RegExp },
): Promise<void> {
  const [published, builds] = [await bed.published(), await bed.builds()];
  await want(bed, fate);
  const build = await bed.newBuild("Failed", builds);
  assert.match(build.message, message);
  await bed.settled();
  assert.equal(await bed.published(), published, "nothing else is published");
  assert.equal(await bed.platformsOf(`${bed.repositoryOf()}:${build.name}`), undefined, "no tag names it");
  const degraded = await conditionOfPool(bed);
  assert.equal(read(degraded, "status"), "True");
  assert.match(String(read(degraded, "message")), /arm64/);
}

async function conditionOfPool(bed: BuildBed): Promise<unknown> {
  return conditionOf(await bed.cluster.get(POOL), "ImageBuildDegraded");
}

Deno.test(
  "image builds: what fails is not published, what succeeded is kept and reused (P-041 P-064 P-065 P-066 P-069 P-160)",
  { ignore },
  atWork({
    settings: { schedulingTimeout: "8s" },
  }, async (bed, t) => {
    await bed.publish(content());
    await t.step(
      "a Containerfile that cannot be built: Failed, naming the architecture (P-062)",
      async () => {
        await fails(bed, { fate: { kind: "fail", exitCode: BAD_CONTAINERFILE }, message: /arm64/ });
        const from = bed.player.played.length;
        await fails(bed, { fate: { kind: "fail" }, message: /arm64/ });
        assert.equal(bed.player.played.slice(from).filter(({ arch }) => arch === "arm64").length, 4);
      },
    );
    await t.step("mended: the other architecture is reused, one Job (P-064)", async () => {
      const [jobs, played] = [await bed.jobsCreated(), bed.player.played.length];
      bed.player.fate = () => ({ kind: "succeed" });
      await bed.publish(content("mended"));
      await bed.settled();
      assert.deepEqual([await bed.jobsCreated() - jobs, bed.player.built(played)], [1, ["arm64"]]);
      assert.equal(read(await conditionOfPool(bed), "status"), "False");
    });
    await t.step("no node of the architecture: NoNodeForArchitecture (P-041)", async () => {
      await bed.cluster.patch("/api/v1/nodes/arm64-1", { spec: { unschedulable: true } });
      await fails(bed, { fate: { kind: "succeed" }, message: /NoNodeForArchitecture/ });
      await bed.cluster.patch("/api/v1/nodes/arm64-1", { spec: { unschedulable: false } });
    });
    await t.step("a Job that is deleted: Interrupted, and built again when asked to (P-065, P-085)", async () => {
      const [before, builds] = [await bed.published(), await bed.builds()];
      await want(bed, { kind: "hang" });
      await waitUntil("arm64 alone to be built", async () => {
        return (await bed.builds()).some(({ archStatus }) => archStatus === "amd64=Succeeded,arm64=Building");
      });
      const running = await bed.cluster.list(JOBS);
      const arm64 = running.find((one) => read(one, "metadata", "labels", "archway.dev/arch") === "arm64");
      const job = String(read(arm64, "metadata", "name"));
      await bed.cluster.delete(`${JOBS}/${job}?propagationPolicy=Background`);
      await bed.newBuild("Interrupted", builds);
      assert.equal(await bed.published(), before);
      const [jobs, played] = [await bed.jobsCreated(), bed.player.played.length];
      bed.player.fate = () => ({ kind: "succeed" });
      await bed.annotate({ [REBUILD]: "" });
      await bed.waitForPublished({ other: before });
      await bed.settled();
      assert.deepEqual([await bed.jobsCreated() - jobs, bed.player.built(played)], [1, ["arm64"]]);
    });
    await t.step("a pod that is evicted: the Job makes another, the build goes on (P-069)", async () => {
      round++;
      bed.player.fate = (arch, attempt) => arch === "arm64" && attempt === 1 ? { kind: "evict" } : { kind: "succeed" };
      await bed.publish(content(), { deadlineMs: 90_000 });
    });
    await t.step("no write of a build was refused for conditions that are frozen (P-066)", async () => {
      const refused = (await bed.writes()).filter((write) => / 4(?!09|04)\d\d$/.test(write));
      assert.deepEqual(refused, []);
    });
  }),
);

async function retryOf(
  bed: BuildBed,
  before: readonly SeenBuild[],
): Promise<{ readonly path: string; readonly index: JsonObject } | undefined> {
  const known = new Set(before.map(({ uid }) => uid));
  const build = (await bed.builds()).find(({ uid }) => !known.has(uid));
  const path = `/api/v1/namespaces/${BUILD_NAMESPACE}/configmaps/archs-${build?.name ?? ""}`;
  const index = parseObject(String(read(await bed.cluster.get(path), "data", "index") ?? ""));
  return index?.["kind"] === "retry" ? { path, index } : undefined;
}

Deno.test(
  "image builds: registries that fail, refuse or lie while an index is published (P-081 P-145 P-146)",
  { ignore },
  atWork(async (bed, t) => {
    await bed.publish(content());
    const calm = (): void => {
      bed.relay.intercept = () => undefined;
      bed.relay.amend = (_, response) => response;
    };
    await t.step(
      "unreachable while images are looked up: no Job and no deletion, until it answers (P-081)",
      async () => {
        const [before, jobs] = [await bed.published(), await bed.jobsCreated()];
        bed.relay.intercept = () => registryError(503, "UNAVAILABLE");
        await want(bed);
        await waitUntil("questions", () => bed.relay.requests.length > 0);
        await pause(3_000);
        assert.equal(await bed.jobsCreated(), jobs);
        assert.equal(
          (await bed.writes()).filter((write) => write === "delete machineosbuilds.machineconfiguration.openshift.io")
            .length,
          0,
        );
        calm();
        await bed.waitForPublished({ other: before, deadlineMs: 120_000 });
      },
    );
    await t.step("no answer to the last of twenty attempts: RegistryUnavailable, nothing is published", async () => {
      const [before, builds] = [await bed.published(), await bed.builds()];
      bed.relay.intercept = (request) => isIndexPush(request) ? registryError(503, "UNAVAILABLE") : undefined;
      await want(bed);
      const { path, index } = await waitUntil("the first attempt to be recorded", () => retryOf(bed, builds));
      assert.equal(index["attempts"], 1);
      // The attempts in between are minutes apart: the record says that they have been made.
      await bed.cluster.patch(path, { data: { index: JSON.stringify({ ...index, attempts: 19, retryAtMs: 0 }) } });
      const build = await bed.newBuild("Failed", builds);
      assert.match(build.message, /RegistryUnavailable: .*503/);
      await bed.settled();
      const pushes = bed.relay.requests.length;
      await bed.annotate({ "example.com/look": "1" });
      await bed.settled();
      assert.deepEqual(bed.relay.requests.slice(pushes).filter(isIndexPush), [], "there is no further attempt");
      assert.equal(await bed.published(), before);
      calm();
    });
    for (
      const [what, message, disturb] of [
        ["denied", /PushDenied/, () => {
          bed.relay.intercept = (request) => isIndexPush(request) ? registryError(403, "DENIED") : undefined;
        }],
        ["no index is taken", /IndexUnsupported/, () => {
          bed.relay.intercept = (request) => isIndexPush(request) ? registryError(415, "MANIFEST_INVALID") : undefined;
        }],
        ["another digest is answered", /DigestMismatch/, () => {
          bed.relay.amend = (request, response) => {
            if (!isIndexPush(request)) return response;
            const headers = new Headers(response.headers);
            headers.set("docker-content-digest", `sha256:${"1".repeat(64)}`);
            return new Response(response.body, { status: response.status, headers });
          };
        }],
      ] as const
    ) {
      await t.step(`${what}: Failed, nothing is published`, async () => {
        const [before, builds] = [await bed.published(), await bed.builds()];
        disturb();
        await want(bed);
        const build = await bed.newBuild("Failed", builds);
        assert.match(build.message, message);
        assert.equal(await bed.published(), before);
        calm();
      });
    }
    await t.step("after all of it a rebuild with an empty value publishes, and builds nothing", async () => {
      const [before, played] = [await bed.published(), bed.player.played.length];
      await bed.annotate({ [REBUILD]: "" });
      await bed.waitForPublished({ other: before });
      await bed.settled();
      assert.deepEqual(bed.player.built(played), []);
    });
  }),
);
