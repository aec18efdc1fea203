import assert from "node:assert/strict";
import { DONE, openController, requeueAfter } from "../../controllers/controller.ts";
import { silentLogger } from "../../lib/log.ts";
import { FakeClock } from "../support/fake_clock.ts";
import { whileRunning } from "./make.ts";

Deno.test("openController() runs its watches beside the queue, and ends with both when the signal aborts", async () => {
  const clock = new FakeClock();
  const seen: string[] = [];
  const samples: string[] = [];
  let isWatching = false;
  const watch = {
    run: async (signal: AbortSignal) => {
      isWatching = true;
      controller.enqueue("from the watch");
      await clock.sleep(Infinity, signal);
      isWatching = false;
    },
  };
  const controller = openController({
    name: "sample",
    watches: [watch],
    parallel: 1,
    clock,
    log: silentLogger,
    queueMetrics: (name) => ({
      added: () => {},
      depth: () => {},
      finished: ({ outcome }) => void samples.push(`${name} ${outcome}`),
    }),
    reconcile: (key) => {
      seen.push(key);
      return Promise.resolve(seen.length < 3 ? requeueAfter(1_000) : DONE);
    },
  });
  controller.enqueue("from before");
  await whileRunning({ clock }, controller, async () => {
    assert.deepEqual([seen, isWatching], [["from before", "from the watch"], true]);
    await clock.advance(1_000);
    assert.deepEqual(seen.slice(2), ["from before", "from the watch"]);
    assert.deepEqual(samples, ["sample requeue", "sample requeue", "sample done", "sample done"]);
  });
  assert.equal(isWatching, false);
});
