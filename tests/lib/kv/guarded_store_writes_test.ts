import assert from "node:assert/strict";
import { WriteTurns } from "../../../lib/kv/guarded_store.ts";
import { turn } from "../../support/until.ts";

Deno.test("WriteTurns.run() lets four writes go at once, the others in their turn", async () => {
  const turns = new WriteTurns();
  let underWay = 0;
  let most = 0;
  const write = async (): Promise<number> => {
    most = Math.max(most, ++underWay);
    await turn();
    underWay -= 1;
    return 1;
  };
  const written = await Promise.all(Array.from({ length: 100 }, () => turns.run(write)));
  assert.deepEqual([written.length, most], [100, 4]);
});

Deno.test("WriteTurns.drained() waits for all, also for those that fail", async () => {
  const turns = new WriteTurns();
  const ended: number[] = [];
  const writes = Array.from({ length: 40 }, (_, at) =>
    turns.run(async () => {
      await Promise.resolve();
      ended.push(at);
      if (at % 2 === 0) throw new Error("no");
    }).catch(() => {}));
  await turns.drained();
  assert.equal(ended.length, 40);
  await Promise.all(writes);
});
