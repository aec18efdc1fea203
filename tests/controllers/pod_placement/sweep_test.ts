import assert from "node:assert/strict";
import { sweepRepeatedly } from "../../../controllers/pod_placement/sweep.ts";
import type { ListOptions } from "../../../lib/k8s/api.ts";
import { silentLogger } from "../../../lib/log.ts";
import { FakeClock } from "../../support/fake_clock.ts";
import { MemoryCluster } from "../../support/memory_kube_api.ts";

Deno.test("sweepRepeatedly() reads pods 50 at a time, without letting the API server ignore that, and looks at each page at once", async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const asked: ListOptions[] = [];
  const steps: string[] = [];
  const api = {
    ...new MemoryCluster().api,
    list: (_: unknown, options: ListOptions) => {
      asked.push(options);
      const page = asked.length;
      steps.push(`page ${page}`);
      const items = [{ metadata: { name: `pod-${page}`, namespace: "team" } }];
      return Promise.resolve({ items, resourceVersion: "7", ...(page < 3 ? { continue: `after-${page}` } : {}) });
    },
  };
  const unadmitted = {
    candidateOf: ({ metadata }: { readonly metadata: { readonly name: string } }) => void steps.push(metadata.name),
    conclude: () => Promise.resolve(void steps.push("end")),
  };
  const options = { unadmitted, isWatched: () => true, onUnlabelled: () => {} };
  const sweeping = sweepRepeatedly({ api, clock, log: silentLogger }, options, stop.signal);
  await clock.advance(1_000);
  stop.abort();
  await sweeping.catch(() => {});
  assert.deepEqual(steps, ["page 1", "pod-1", "page 2", "pod-2", "page 3", "pod-3", "end"]);
  const selection = { fieldSelector: "status.phase=Pending", limit: 50 };
  assert.deepEqual(asked, [selection, { ...selection, continue: "after-1" }, { ...selection, continue: "after-2" }]);
});
