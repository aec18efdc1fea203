// An upgrade whose pools the original's node controller played, against the same with our script: see ../README.md.
import assert from "node:assert/strict";
import { type Conversation, hashOfProgram, POOLS, type PoolState, type Rollout, RolloutSchema } from "./rollout.ts";

const RECORD = new URL("../records/rollout.json", import.meta.url);

async function readRollout(): Promise<Rollout> {
  return RolloutSchema.parse(JSON.parse(await Deno.readTextFile(RECORD)));
}

/** Its states, but for those of before the controller has looked at what is new: the script has none. */
function outlineOf(states: readonly PoolState[]): readonly string[] {
  const texts = states.filter(({ isBehind }) => !isBehind).map((
    { updated, machines, isUpdating, isDegraded, isWaitedFor, isNew },
  ) =>
    [`${updated}/${machines}`, isUpdating && "updating", isDegraded && "degraded", isWaitedFor && "waited for"].filter(
      (text) => text !== false,
    ).join(" ") + (isNew ? " new" : "")
  );
  return [...new Set(texts)];
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
    assert.deepEqual(outlineOf(nodeController.pools[pool] ?? []), outlineOf(script.pools[pool] ?? []));
    const behind = nodeController.pools[pool]?.filter(({ isBehind }) => isBehind) ?? [];
    assert.ok(behind.length > 0 && behind.every(({ isWaitedFor }) => isWaitedFor), "not yet begun is not done");
    assert.equal(nodeController.cordoned[pool], script.cordoned[pool]);
  });
}
