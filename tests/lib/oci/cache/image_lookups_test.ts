import assert from "node:assert/strict";
import fc from "fast-check";
import type { InspectionReport } from "../../../../lib/oci/inspection_request.ts";
import { failureOf } from "../../../../lib/oci/errors.ts";
import { callersOf } from "../../../../lib/oci/callers.ts";
import { ImageLookups, LOOKUPS_PER_SECOND, nextBeginning } from "../../../../lib/oci/cache/image_lookups.ts";
import { FakeClock } from "../../../support/fake_clock.ts";
import { makeReport } from "../../../support/reports.ts";

const NEVER = new AbortController().signal;
const callers = callersOf({ priority: "gated" });

const open = (delayMs: number) => {
  const clock = new FakeClock();
  const lookups = new ImageLookups({ clock });
  const began: number[] = [];
  const lookUp = async (): Promise<InspectionReport> => {
    const beganAtMs = clock.monotonicMs();
    began.push(beganAtMs);
    await clock.sleep(delayMs, NEVER);
    return makeReport({ kind: "failed", failure: failureOf("Timeout", "") }, { resolved: String(beganAtMs) });
  };
  return {
    clock,
    began,
    /** Asks as a pod that is admitted now; gives when the look-up that answered began. */
    ask: async (signal = NEVER): Promise<number> =>
      Number((await lookups.share("image", { lookupSinceMs: clock.monotonicMs(), callers, signal }, lookUp)).resolved),
  };
};

Deno.test("nextBeginning() lets at most four look-ups begin within any second, and the next one soon", () => {
  fc.assert(fc.property(fc.array(fc.integer({ min: 0, max: 600 }), { maxLength: 40 }), (waits) => {
    const all: number[] = [];
    let nowMs = 0;
    for (const wait of waits) {
      nowMs += wait;
      const beginMs = nextBeginning(all, nowMs);
      assert.ok(beginMs >= nowMs && beginMs >= (all.at(-1) ?? 0));
      assert.ok(beginMs - nowMs <= 500, `waits ${beginMs - nowMs} ms`);
      nowMs = beginMs;
      all.push(beginMs);
      const inSecond = all.filter((atMs) => atMs > beginMs - 1_000).length;
      assert.ok(inSecond <= LOOKUPS_PER_SECOND, `${inSecond} within a second`);
    }
  }));
});

Deno.test("ImageLookups.share() gives one look-up to all who came before it began, and another to those that come later", async () => {
  const { clock, began, ask } = open(100);
  const startMs = clock.monotonicMs();
  const early = [ask(), ask()];
  await clock.advance(10);
  clock.jumpWall(-10);
  const late = [ask(), ask()];
  await clock.advance(200);
  assert.deepEqual(await Promise.all(early), [startMs, startMs]);
  assert.deepEqual(await Promise.all(late), [startMs + 10, startMs + 10]);
  assert.equal(began.length, 2);
});

Deno.test("ImageLookups.share() lets later ones wait for the next look-up together", async () => {
  const { clock, began, ask } = open(5_000);
  const answers: Promise<number>[] = [];
  for (let at = 0; at < 200; at++) {
    answers.push(ask());
    await clock.advance(5);
  }
  await clock.advance(10_000);
  assert.equal((await Promise.all(answers)).length, 200);
  assert.ok(began.length <= 6, `${began.length} look-ups for 200 pods within a second`);
});

Deno.test("ImageLookups.share() gives up a planned look-up that all have left, and begins the next one in its place", async () => {
  const { clock, began, ask } = open(0);
  await ask();
  await clock.advance(1);
  await ask();
  await clock.advance(1);
  const leaving = new AbortController();
  const left = assert.rejects(ask(leaving.signal));
  await clock.advance(1);
  leaving.abort();
  await left;
  const next = ask();
  await clock.advance(1_000);
  await next;
  assert.equal(began.length, 3);
});

Deno.test("ImageLookups.share() makes nobody wait for look-ups that others planned and left", async () => {
  const { clock, began, ask } = open(100);
  const startMs = clock.monotonicMs();
  // As a pod that is created and deleted again nearly twenty times a second.
  for (let cycle = 0; cycle < 94; cycle++) {
    const leaving = new AbortController();
    const left = assert.rejects(ask(leaving.signal));
    await clock.advance(3);
    leaving.abort();
    await left;
    await clock.advance(50);
  }
  assert.ok(began.length <= 21, `${began.length} look-ups in ${clock.monotonicMs() - startMs} ms`);
  const comesMs = clock.monotonicMs();
  const honest = ask();
  await clock.advance(1_000);
  const waitedMs = await honest - comesMs;
  assert.ok(waitedMs <= 500, `waits ${waitedMs} ms`);
});

Deno.test("ImageLookups.share() keeps to its rate when callers leave and come in one moment", async () => {
  const { clock, began, ask } = open(100);
  for (let cycle = 0; cycle < 200; cycle++) {
    const leaving = new AbortController();
    const left = [assert.rejects(ask(leaving.signal))];
    await clock.advance(5);
    leaving.abort();
    const next = new AbortController();
    left.push(assert.rejects(ask(next.signal)));
    await Promise.resolve();
    next.abort();
    await Promise.all(left);
  }
  for (const atMs of began) {
    const inSecond = began.filter((other) => other > atMs - 1_000 && other <= atMs).length;
    assert.ok(inSecond <= LOOKUPS_PER_SECOND, `${inSecond} within a second`);
  }
  const comesMs = clock.monotonicMs();
  const honest = ask();
  await clock.advance(1_000);
  assert.ok(await honest - comesMs <= 500);
});
