import assert from "node:assert/strict";
import { ApiError } from "../../../lib/k8s/api_error.ts";
import { BUNDLED } from "../../lib/placement/decide/make.ts";
import { failPod, openRepairScene, REPAIRING, strayPod } from "./make.ts";

Deno.test("a pod that its owner makes again, and Archway would place elsewhere, is evicted once, and an event reports why", async () => {
  const repaired = openRepairScene();
  const { scene, evictions } = repaired;
  await scene.run(async () => {
    await failPod(repaired, strayPod("web-1"));
    assert.deepEqual(evictions, ["web-1"]);
    assert.deepEqual(scene.recorded.map(({ reason }) => reason), ["ExecFormatError", "ArchAwareExecFormatRepaired"]);
    assert.deepEqual(scene.counted, ["status", "evicted"]);
  });
});

Deno.test("nothing is evicted without the switch, no bare pod, and none that might be placed here again", async () => {
  const bundled = { ...strayPod("web-1"), spec: { nodeName: "node-1", ...BUNDLED } };
  for (const [repairs, pod] of [[false, strayPod("web-1")], [true, strayPod("web-1", "")], [true, bundled]] as const) {
    const repaired = openRepairScene({ settings: { ...REPAIRING, repairs } });
    await repaired.scene.run(async () => {
      await failPod(repaired, pod);
      await repaired.scene.clock.advance(60_000);
      assert.deepEqual(repaired.evictions, []);
    });
  }
});

Deno.test("evictions are ten seconds apart, and three an hour of one owner", async () => {
  const repaired = openRepairScene();
  const { scene, evictions } = repaired;
  await scene.run(async () => {
    for (const name of ["web-1", "web-2", "web-3", "web-4"]) await failPod(repaired, strayPod(name));
    assert.equal(evictions.length, 1);
    await scene.clock.advance(10_000);
    assert.equal(evictions.length, 2);
    await scene.clock.advance(60_000);
    assert.deepEqual([evictions.length, scene.counted.filter((word) => word === "refused")], [3, ["refused"]]);
    await failPod(repaired, strayPod("other-1", "other"));
    assert.equal(evictions.at(-1), "other-1");
  });
});

function forbid(): never {
  throw new ApiError("the budget needs it", { status: 429, reason: "TooManyRequests" });
}

Deno.test("evictions that a budget forbids do not take the turns of others", async () => {
  const repaired = openRepairScene({ onEvict: (name) => name.startsWith("web") && forbid() });
  await repaired.scene.run(async () => {
    for (let at = 1; at <= 5; at++) await failPod(repaired, strayPod(`web-${at}`, `web-${at}`));
    await failPod(repaired, strayPod("other-1", "other"));
    await repaired.scene.clock.advance(8_000);
    assert.ok(repaired.evictions.includes("other-1"), repaired.evictions.join());
  });
});

Deno.test("an eviction that a budget forbids is tried again, for an hour", async () => {
  const repaired = openRepairScene({ onEvict: forbid });
  const { scene, evictions } = repaired;
  await scene.run(async () => {
    await failPod(repaired, strayPod("web-1"));
    await scene.clock.advance(31_000);
    assert.deepEqual([evictions.length, scene.counted], [2, ["status", "deferred", "deferred"]]);
    await scene.clock.advance(2 * 3_600_000);
    assert.equal(scene.counted.at(-1), "refused");
    assert.ok(evictions.length > 100 && evictions.length < 130, String(evictions.length));
  });
});
