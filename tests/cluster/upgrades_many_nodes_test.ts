// A look at an upgrade of a large cluster costs as few requests as one of a small cluster.
import assert from "node:assert/strict";
import { lookAtManyNodes } from "./support/upgrade_many_nodes.ts";

Deno.test("upgrades: no look at 500 nodes in 50 pools reads more than ten times, and the quickest with all reads takes a second at most", async () => {
  // One more comes with the spare capacity.
  const { looks } = await lookAtManyNodes({ nodes: 499, pools: 50 });
  const words = looks.map(({ reads, requests, tookMs }) => `${reads} of ${requests} in ${Math.round(tookMs)} ms`);
  const most = Math.max(...looks.map(({ reads }) => reads));
  assert.ok(most > 5 && most <= 10, words.join(", "));
  const fullMs = looks.filter(({ reads }) => reads === most).map(({ tookMs }) => tookMs);
  assert.ok(Math.min(...fullMs) <= 1_000, words.join(", "));
});
