import assert from "node:assert/strict";
import { callersOf } from "../../../../lib/oci/callers.ts";
import { FairLimiter, type Permit } from "../../../../lib/oci/limits/fair_limiter.ts";

const NEVER = new AbortController().signal;

function held(permit: Permit | undefined): Permit {
  return permit ?? assert.fail("no permit");
}

Deno.test("FairLimiter.tryAcquire() gives a namespace as many permits as are free for the others", () => {
  const limiter = new FairLimiter({ limit: 100, maxShare: 1 / 2 });
  let given = 0;
  while (limiter.tryAcquire("a") !== undefined) given++;
  assert.equal(given, 50);
  given = 0;
  while (limiter.tryAcquire("b", { weight: 10 }) !== undefined) given++;
  assert.deepEqual([given, limiter.taken], [3, 80]);
  assert.notEqual(limiter.tryAcquire("c"), undefined);
});

Deno.test("FairLimiter.tryAcquire() gives a heavy request its permits when one is free, and all of them back", () => {
  const limiter = new FairLimiter({ limit: 10, maxShare: 1 / 2 });
  const first = held(limiter.tryAcquire("a", { weight: 9 }));
  const heavy = held(limiter.tryAcquire("b", { weight: 200 }));
  assert.equal(limiter.taken, 209);
  assert.equal(limiter.tryAcquire("c"), undefined);
  heavy.release();
  heavy.release();
  assert.equal(limiter.taken, 9);
  first.release();
  assert.equal(limiter.taken, 0);
});

Deno.test("FairLimiter.acquire() gives permits by weight to what waits, namespaces in turn", async () => {
  const limiter = new FairLimiter({ limit: 10, maxShare: 1 / 2 });
  const first = held(limiter.tryAcquire("first", { weight: 10 }));
  const order: string[] = [];
  const permits: Permit[] = [];
  const waiting = ["a1", "a2", "b1"].map(async (name) => {
    const callers = callersOf({ namespace: name.slice(0, 1), priority: "gated" });
    permits.push(await limiter.acquire(callers, NEVER, { weight: 5 }));
    order.push(name);
  });
  first.release();
  await Promise.all([waiting[0], waiting[2]]);
  assert.deepEqual([order, limiter.taken, limiter.waiting], [["a1", "b1"], 10, 1]);
  for (const permit of permits.splice(0)) permit.release();
  await waiting[1];
  assert.deepEqual([order, limiter.taken], [["a1", "b1", "a2"], 5]);
});
