import assert from "node:assert/strict";
import { openWorkloadAdvice, type WorkloadAdvice } from "../../../controllers/upgrades/workload_advice.ts";
import { noAnswer } from "../../support/until.ts";

function start(look: WorkloadAdvice): () => Promise<void> {
  const stop = new AbortController();
  const running = look.run(stop.signal);
  return async () => {
    stop.abort();
    await running;
  };
}

Deno.test("a look at workloads is made when its findings are wanted, once, and reports that it has ended", async () => {
  const ended = Promise.withResolvers<void>();
  let looks = 0;
  const advise = (): Promise<readonly string[]> => Promise.resolve([`look ${++looks}`]);
  const look = openWorkloadAdvice(advise, ended.resolve);
  const stop = start(look);
  await Promise.resolve();
  assert.equal(looks, 0, "nobody wants it yet");
  assert.deepEqual([look.sentences(), look.sentences()], [undefined, undefined]);
  await ended.promise;
  assert.deepEqual([look.sentences(), looks], [["look 1"], 1]);
  await stop();
  await start(look)();
  assert.deepEqual([look.sentences(), looks], [["look 1"], 1], "the next term has it");
});

Deno.test("a look at workloads that fails says so in place of its findings", async () => {
  const ended = Promise.withResolvers<void>();
  const look = openWorkloadAdvice(() => Promise.reject(new Error("no registry")), ended.resolve);
  const stop = start(look);
  look.sentences();
  await ended.promise;
  assert.deepEqual(look.sentences(), ["Workloads were not looked at: no registry"]);
  await stop();
});

Deno.test("a look at workloads that is cut off is made again in the next term", async () => {
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  let looks = 0;
  const advise = (signal: AbortSignal): Promise<readonly string[]> => {
    if (looks++ > 0) return Promise.resolve(["found"]);
    begun.resolve();
    return noAnswer(signal);
  };
  const look = openWorkloadAdvice(advise, ended.resolve);
  const stop = start(look);
  look.sentences();
  await begun.promise;
  await stop();
  assert.equal(look.sentences(), undefined);
  const stopAgain = start(look);
  await ended.promise;
  assert.deepEqual(look.sentences(), ["found"]);
  await stopAgain();
});
