import assert from "node:assert/strict";
import { BuildBed, ignore, REBUILD } from "./support/build_bed.ts";
import { content } from "./support/build_objects.ts";
import { SHAREABLE, startControlPlane } from "./support/control_plane.ts";
import { waitUntil } from "./support/wait.ts";

/** Moments at which the service is killed: when so many of its writes have been answered. */
const KILLED_AFTER = [1, 2, 4, 6, 9, 13];

Deno.test("image builds: killed between any two writes, the next one goes on: one Job each, one index (P-086)", {
  ignore,
}, async (t) => {
  await using bed = await BuildBed.open();
  // A container that is started again in its pod keeps its name, and goes on without waiting for its own Lease to run out.
  let archway = await bed.startArchway({ identity: "life" });
  let before = await bed.publish(content("first"));
  for (const writes of KILLED_AFTER) {
    await t.step(`killed after ${writes} writes`, async () => {
      await bed.settled();
      const [start, jobs] = [(await bed.writes()).length, await bed.jobsCreated()];
      await bed.replaceConfig(content(`killed ${writes}`));
      await waitUntil("the moment", async () => (await bed.writes()).length >= start + writes, { intervalMs: 5 });
      archway.kill("SIGKILL");
      await archway.ended;
      archway = await bed.startArchway({ identity: "life" });
      before = await bed.waitForPublished({ other: before, deadlineMs: 90_000 });
      await bed.settled();
      assert.equal(await bed.jobsCreated() - jobs, 2, "one Job for each architecture");
      assert.deepEqual(await bed.jobs(), [], "no Job is left");
      assert.deepEqual(Object.keys(await bed.platformsOf(before) ?? {}), ["amd64", "arm64"]);
    });
  }
  await t.step("killed right after a rebuild was asked for: exactly one rebuild", async () => {
    const jobs = await bed.jobsCreated();
    await bed.annotate({ [REBUILD]: "all" });
    await waitUntil("the build to go", async () => {
      return (await bed.writes()).at(-1)?.startsWith("delete machineosbuilds") === true;
    }, { intervalMs: 5, deadlineMs: 5_000 }).catch(() => {});
    archway.kill("SIGKILL");
    await archway.ended;
    archway = await bed.startArchway({ identity: "of another pod" });
    before = await bed.waitForPublished({ other: before, deadlineMs: 90_000 });
    await bed.settled();
    assert.equal(await bed.jobsCreated() - jobs, 2);
  });
});

Deno.test(
  "image builds: two replicas and a restarted API server: no second Job, one index (P-181 P-182)",
  { ignore },
  async () => {
    await using cluster = await startControlPlane(SHAREABLE);
    await using bed = await BuildBed.open({ cluster });
    const leader = await bed.startArchway({ identity: "replica-1" });
    const first = await bed.publish(content("first"));
    await bed.startArchway({ identity: "replica-2" });
    bed.player.fate = () => ({ kind: "hang" });
    await bed.replaceConfig(content("second"));
    await waitUntil("both Jobs", async () => await bed.jobsCreated() === 4);
    leader.kill("SIGKILL");
    await cluster.restartApiServer("killed");
    bed.player.fate = () => ({ kind: "succeed" });
    bed.player.release();
    const second = await bed.waitForPublished({ other: first, deadlineMs: 240_000 });
    await bed.settled();
    assert.equal(await bed.jobsCreated(), 4, "no Job was made twice");
    assert.deepEqual(await bed.jobs(), []);
    assert.deepEqual(Object.keys(await bed.platformsOf(second) ?? {}), ["amd64", "arm64"]);
  },
);
