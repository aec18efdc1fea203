import assert from "node:assert/strict";
import type { Archway } from "./support/archway.ts";
import { read, stateOf } from "./support/cluster_access.ts";
import { CONFIG } from "./support/objects.ts";
import { isReleased, listPods, renderPod } from "./support/pods.ts";
import { forbid } from "./support/taken_rights.ts";
import { waitUntil } from "./support/wait.ts";
import { openWorkingBed } from "./support/walk_bed.ts";

const IMAGE = "registry.invalid/team/app:1";

/** Why it stopped gating, by its log, which a replica that starts writes for other reasons as well; undefined while it gates. */
async function lastStop(replica: Archway): Promise<unknown> {
  const lines = (await replica.logs()).filter(({ message }) => /^(?:not )?gating pods$/.test(String(message)));
  return read(lines.at(-1), "properties", "reason");
}

for (const verb of ["list", "patch"]) {
  Deno.test(`without the right to ${verb} pods no replica gates, until it is back`, async () => {
    await using bed = await openWorkingBed({ replica: { args: ["--max-gate-age=5s"] } });
    const { controlPlane, archway } = bed;
    const second = await bed.startReplica({ name: "archway-2" });
    const namespace = await controlPlane.createNamespace("rightless");
    const create = async (name: string): Promise<void> => {
      const pod = renderPod({ name, images: [IMAGE] });
      await controlPlane.create(`/api/v1/namespaces/${namespace}/pods`, pod);
    };
    const allow = await forbid(controlPlane, verb);
    // A watch that is open stays so: the right to list is asked for when the leader starts, or its watch stalls.
    if (verb === "list") {
      await archway.stop();
      // It is ready once the right is back; when this test fails before, that failure is not to hide the test's.
      archway.restart().catch(() => {});
    } else await create("held");
    await waitUntil("both replicas to stop gating", async () => {
      const gating = await Promise.all([archway, second].map((replica) => replica.metric("archway_gating")));
      const reasons = await Promise.all([archway, second].map(lastStop));
      return gating.every((value) => value === 0) && reasons.every((reason) => reason === "LeaderImpaired");
    });
    await waitUntil(
      "the condition",
      async () => stateOf(await controlPlane.get(CONFIG), "GatingStopped") === "True LeaderImpaired",
    );
    await create("ungated");
    const [ungated] = (await listPods(controlPlane, namespace)).filter(({ name }) => name === "ungated");
    const last = await Promise.all([archway, second].map(lastStop));
    assert.ok(ungated !== undefined && isReleased(ungated), `a pod was gated that nobody can release: ${last}`);
    await allow();
    await waitUntil("both replicas to gate again", async () => {
      const gating = await Promise.all([archway, second].map((replica) => replica.metric("archway_gating")));
      return gating.every((value) => value === 1);
    }, { deadlineMs: 90_000 });
    await waitUntil(
      "the condition",
      async () => stateOf(await controlPlane.get(CONFIG), "GatingStopped") === "False Gating",
    );
    await waitUntil("every pod to be free", async () => (await listPods(controlPlane, namespace)).every(isReleased));
  });
}
