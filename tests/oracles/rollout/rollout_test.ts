// An upgrade whose pools the original's node controller played, against the same with our script: see ../README.md.
import assert from "node:assert/strict";
import { parseMachineConfigPool } from "../../../lib/vocabulary/machines.ts";
import { describeControlPlane, isPoolUpdating, summarizePools } from "../../../lib/upgrades/decide/pools.ts";
import { imageOf, renderedOf, TO } from "../../cluster/support/simulated_openshift.ts";
import { type Conversation, hashOfProgram, POOLS, type Rollout, RolloutSchema, type SeenPool } from "./rollout.ts";

const RECORD = new URL("../records/rollout.json", import.meta.url);

async function readRollout(): Promise<Rollout> {
  return RolloutSchema.parse(JSON.parse(await Deno.readTextFile(RECORD)));
}

/** What Archway makes of a pool. Messages come from MachineConfigNodes, of which there were none. */
function outlineOf(seen: SeenPool): string {
  const pool = parseMachineConfigPool(seen);
  const { isDone } = summarizePools([pool]);
  return [
    `${pool.updatedMachineCount}/${pool.machineCount}`,
    ...isPoolUpdating(pool) ? ["updating"] : [],
    ...isDone ? [] : ["waited for"],
    ...pool.currentRendered === renderedOf(pool.name, imageOf(TO)) ? ["new"] : [],
    ...describeControlPlane([pool]).map((text) => text.replace(/ \(.*/, "")),
  ].join(", ");
}

/** Before the controller has looked at what the pool is to be; the script has no such moment. */
function isBehind({ metadata, status: { observedGeneration = metadata.generation } }: SeenPool): boolean {
  return observedGeneration < metadata.generation;
}

function outlinesOf(seen: readonly SeenPool[]): readonly string[] {
  return [...new Set(seen.filter((one) => !isBehind(one)).map(outlineOf))];
}

Deno.test("the record of the roll-out is of this program", async () => {
  assert.equal((await readRollout()).program.sha256, await hashOfProgram(), "record.ts --record writes it anew");
});

Deno.test("an upgrade goes the same way with the original's node controller as with the script", async () => {
  const { nodeController, script } = await readRollout();
  // How many nodes are left when it looks is a matter of moments.
  const wayOf = ({ asked, silences, notified, steps, phase }: Conversation): unknown => (
    { asked, silences: [...new Set(silences.map((text) => text.replace(/ \d+ nodes/, "")))], notified, steps, phase }
  );
  assert.deepEqual(wayOf(nodeController), wayOf(script));
  assert.equal(nodeController.phase, "Upgraded");
});

for (const pool of Object.keys(POOLS)) {
  Deno.test(`a pool shows the same states with the original's node controller as with the script: ${pool}`, async () => {
    const { nodeController, script } = await readRollout();
    const [theirs, ours] = [nodeController, script].map(({ pools }) => pools[pool] ?? []);
    assert.deepEqual(outlinesOf(theirs ?? []), outlinesOf(ours ?? []));
    const behind = theirs?.filter(isBehind).map(outlineOf) ?? [];
    assert.ok(behind.length > 0 && behind.every((text) => text.includes("waited for")), "not yet begun is not done");
    assert.equal(nodeController.cordoned[pool], script.cordoned[pool]);
  });
}

Deno.test("a node of the control plane that fails is waited for as the original's status says it, and named", async () => {
  const { nodeController } = await readRollout();
  const degraded = outlinesOf(nodeController.pools["master"] ?? []).filter((text) => text.includes("degraded"));
  const waits = "0/2, updating, waited for, MachineConfigPool master: 0 of 2 nodes updated";
  assert.deepEqual(degraded, [`${waits}, MachineConfigPool master is degraded`]);
});
