import assert from "node:assert/strict";
import { LARGE_BYTES, openLoadLimit, POD_LOAD } from "../../../lib/server/load_limit.ts";
import { FakeClock } from "../../support/fake_clock.ts";
import { keepLog } from "../../support/logs.ts";

const { requests: MAX_REQUESTS, largeBytes: MAX_LARGE_BYTES } = POD_LOAD;

const open = () => {
  const [clock, log] = [new FakeClock(), keepLog()];
  return { limit: openLoadLimit(POD_LOAD, { clock, log }), clock, log };
};

Deno.test("openLoadLimit() takes so many small requests and the next when one has left", () => {
  const { limit } = open();
  const leaves = Array.from({ length: MAX_REQUESTS }, () => limit.enter(LARGE_BYTES));
  assert.ok(leaves.every((leave) => leave !== undefined));
  assert.equal(limit.enter(1), undefined);
  leaves[0]?.();
  assert.ok(limit.enter(1) !== undefined);
});

Deno.test("openLoadLimit() takes so many bytes of large requests, and small ones beside them", () => {
  const { limit } = open();
  const half = MAX_LARGE_BYTES / 2;
  const [first, second] = [limit.enter(half), limit.enter(half)];
  assert.ok(first !== undefined && second !== undefined);
  assert.equal(limit.enter(LARGE_BYTES + 1), undefined);
  assert.ok(limit.enter(LARGE_BYTES) !== undefined);
  first();
  assert.ok(limit.enter(half) !== undefined);
});

Deno.test("openLoadLimit() reports an overload once, and again after ten seconds without a refusal", async () => {
  const { limit, clock, log } = open();
  limit.enter(MAX_LARGE_BYTES);
  for (let refused = 0; refused < 5; refused++) {
    assert.equal(limit.enter(MAX_LARGE_BYTES), undefined);
    await clock.advance(1_000);
  }
  assert.equal(log.lines.length, 1);
  await clock.advance(10_000);
  limit.enter(MAX_LARGE_BYTES);
  assert.equal(log.lines.length, 2);
});
