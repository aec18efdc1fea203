import assert from "node:assert/strict";
import { type BackgroundAdvice, openBackgroundAdvice } from "../../../controllers/upgrades/background_advice.ts";
import { FakeClock } from "../../support/fake_clock.ts";
import { noAnswer } from "../../support/until.ts";
import { whileRunning } from "../make.ts";

function during(look: BackgroundAdvice, play: () => void | Promise<void>): Promise<void> {
  return whileRunning({ clock: new FakeClock() }, look, play);
}

Deno.test("a look at workloads is made when its findings are wanted, once, and reports that it has ended", async () => {
  const ended = Promise.withResolvers<void>();
  let looks = 0;
  const advise = (): Promise<readonly string[]> => Promise.resolve([`look ${++looks}`]);
  const look = openBackgroundAdvice(advise, ended.resolve);
  await during(look, async () => {
    assert.equal(looks, 0, "nobody wants it yet");
    assert.deepEqual([look.sentences(), look.sentences()], [undefined, undefined]);
    await ended.promise;
    assert.deepEqual([look.sentences(), looks], [["look 1"], 1]);
  });
  await during(look, () => {});
  assert.deepEqual([look.sentences(), looks], [["look 1"], 1], "the next term has it");
});

Deno.test("a look at workloads that fails says so in place of its findings", async () => {
  const ended = Promise.withResolvers<void>();
  const look = openBackgroundAdvice(() => Promise.reject(new Error("no registry")), ended.resolve);
  await during(look, async () => {
    look.sentences();
    await ended.promise;
    assert.deepEqual(look.sentences(), ["Workloads were not looked at: no registry"]);
  });
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
  const look = openBackgroundAdvice(advise, ended.resolve);
  await during(look, async () => {
    look.sentences();
    await begun.promise;
  });
  assert.equal(look.sentences(), undefined);
  await during(look, async () => {
    await ended.promise;
    assert.deepEqual(look.sentences(), ["found"]);
  });
});
