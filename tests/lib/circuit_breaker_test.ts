import assert from "node:assert/strict";
import fc from "fast-check";
import { CircuitBreaker } from "../../lib/circuit_breaker.ts";
import { FakeClock } from "../support/fake_clock.ts";

function open(clock: FakeClock): CircuitBreaker {
  const breaker = new CircuitBreaker({ clock, threshold: 3, baseMs: 500, capMs: 2_000 });
  for (let failures = 0; failures < 3; failures++) {
    assert.equal(breaker.state, "closed");
    assert.ok(breaker.tryPass());
    breaker.failed();
  }
  return breaker;
}

Deno.test("CircuitBreaker opens after failures in a row only", () => {
  const breaker = new CircuitBreaker({ clock: new FakeClock(), threshold: 3, baseMs: 500, capMs: 2_000 });
  for (let turn = 0; turn < 10; turn++) {
    breaker.failed();
    breaker.failed();
    breaker.succeeded();
  }
  assert.equal(breaker.state, "closed");
});

Deno.test("CircuitBreaker stays open twice as long after each failed probe, up to its cap", async () => {
  const clock = new FakeClock();
  const breaker = open(clock);
  const waits: number[] = [];
  for (let turn = 0; turn < 4; turn++) {
    waits.push(breaker.openForMs);
    await clock.advance(breaker.openForMs);
    assert.ok(breaker.tryPass());
    breaker.failed();
  }
  assert.deepEqual(waits, [500, 1_000, 2_000, 2_000]);
});

Deno.test("CircuitBreaker gives the probe to another when its caller leaves, and ignores late failures of others", async () => {
  const clock = new FakeClock();
  const breaker = open(clock);
  breaker.failed();
  assert.equal(breaker.openForMs, 500, "a call from before the opening changes nothing");
  await clock.advance(500);
  assert.ok(breaker.tryPass());
  breaker.withdrew();
  assert.ok(breaker.tryPass());
});

Deno.test("CircuitBreaker always lets somebody through in the end, whatever happened before", async () => {
  const step = fc.constantFrom("pass", "succeeded", "failed", "withdrew", "wait");
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const clock = new FakeClock();
      const breaker = new CircuitBreaker({ clock, threshold: 2, baseMs: 500, capMs: 2_000 });
      let passed = 0;
      for (const name of steps) {
        if (name === "wait") await clock.advance(400);
        else if (name === "pass") passed += Number(breaker.tryPass());
        // Who passes reports once.
        else if (passed > 0) {
          passed -= 1;
          breaker[name]();
        }
      }
      for (; passed > 0; passed--) breaker.failed();
      await clock.advance(2_000);
      assert.ok(breaker.tryPass());
    }),
    { numRuns: 40 },
  );
});
