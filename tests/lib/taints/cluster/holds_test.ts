import assert from "node:assert/strict";
import { openHolds } from "../../../../lib/taints/cluster/apply.ts";
import { FakeClock } from "../../../support/fake_clock.ts";

Deno.test("openHolds() keeps a bounded number of refusals", async () => {
  const clock = new FakeClock();
  const holds = openHolds(clock);
  for (let at = 0; at < 3_000; at++) {
    holds.settle(`shop/pod-${at}`, at % 2 === 0 ? { kind: "written" } : { kind: "failed", why: "no" }, "1");
    await clock.advance(100);
  }
  assert.equal(holds.refusals.get("shop/pod-1"), undefined);
  assert.equal(holds.refusals.get("shop/pod-2999"), "no");
  assert.ok(holds.isHeld("shop/pod-2999"));
});
