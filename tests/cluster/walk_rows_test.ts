// The walks of tests/support/walk on a real control plane: what becomes of each pod, and that the real scheduler runs those that
// were placed on a node whose architecture their images have.
import { runWalk, WALKS } from "../support/walk/walks.ts";
import { openWalkCluster } from "./support/walk_subject.ts";

Deno.test("control plane: every walk of the playground", async (t) => {
  await using cluster = await openWalkCluster();
  for (const walk of WALKS) {
    await t.step(walk.name, async (step) => {
      const subject = await cluster.begin(walk.setting, walk.prepare);
      await runWalk(step, subject, walk);
    });
  }
});
