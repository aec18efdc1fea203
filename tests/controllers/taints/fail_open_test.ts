import assert from "node:assert/strict";
import { openTaintFailOpen } from "../../../controllers/taints/fail_open.ts";
import { openRateLimiter } from "../../../lib/k8s/write_limits.ts";
import { ours, rawNode, RULE } from "../../lib/taints/decide/make.ts";
import { type Follower, openFollower, seeLeader } from "../follower.ts";
import { openScene, runFor, whileRunning } from "../make.ts";
import { clusterConfig, conditionOf, taintLine } from "./make.ts";

const AFTER_MS = 60_000;
const FOREIGN = { key: "dedicated", value: "gpu", effect: "NoSchedule" };

function openBed(): { readonly bed: Follower; readonly watcher: ReturnType<typeof openTaintFailOpen> } {
  const scene = openScene(
    clusterConfig(),
    rawNode({ name: "a", taints: [FOREIGN, ours("amd64")] }),
    rawNode({ name: "b", taints: [ours("arm64", "NoExecute"), FOREIGN, ours("amd64")] }),
    rawNode({ name: "c", taints: [FOREIGN] }),
  );
  const { follower, deps } = openFollower(scene, { seconds: 15 });
  const watcher = openTaintFailOpen({
    ...deps,
    lifter: { api: deps.api, key: RULE.key, limiter: openRateLimiter(scene.clock) },
    metrics: { archway_arch_taint_writes_total: { inc: () => {} } },
    afterMs: AFTER_MS,
  });
  return { bed: follower, watcher };
}

Deno.test("openTaintFailOpen() lifts our taint and nothing else when no replica has led for long enough, and reports it", async () => {
  const { bed, watcher } = openBed();
  bed.renew("2026-11-21T12:00:00.000000Z");
  await whileRunning(bed, watcher, async () => {
    await bed.clock.advance(AFTER_MS + 15_000);
    assert.equal(taintLine(bed.cluster), "a:gpu+amd64 b:arm64+gpu+amd64 c:gpu");
    await bed.clock.advance(10_000);
    assert.equal(taintLine(bed.cluster), "a:gpu b:gpu c:gpu");
    const names = bed.calls.flatMap(({ verb, plural, name }) => verb === "patch" && plural === "nodes" ? [name] : []);
    assert.deepEqual(names, ["a", "b"], "one write a node, none where there is no taint of ours");
    assert.deepEqual(bed.recorded.map(({ type, reason }) => `${type} ${reason}`), ["Warning ArchTaintsFailedOpen"]);
    assert.match(bed.recorded[0]?.message ?? "", /No replica has led for 60 s.*2 nodes/);
    assert.equal(conditionOf(bed.cluster), "False FailedOpen");
  });
});

Deno.test("openTaintFailOpen() stops in the middle when a leader is back", async () => {
  const { bed, watcher } = openBed();
  bed.cluster.beforePatch = () => seeLeader(bed);
  await runFor(bed, watcher, AFTER_MS + 30_000);
  assert.equal(taintLine(bed.cluster), "a:gpu b:arm64+gpu+amd64 c:gpu");
});
