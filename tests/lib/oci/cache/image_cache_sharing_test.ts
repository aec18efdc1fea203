import assert from "node:assert/strict";
import { LOOK_UP_AGAIN, makeCredential, makeRequest, type RequestParts } from "../../../support/inspectors.ts";
import type { KeyValueStore } from "../../../../lib/kv/store.ts";
import type { RegistryRead } from "../../../../lib/oci/registry_reader.ts";
import { silentLogger } from "../../../../lib/log.ts";
import { ImageCache } from "../../../../lib/oci/cache/image_cache.ts";
import type { InspectionReport, PlannedRequest } from "../../../../lib/oci/inspection_request.ts";
import { type InspectionPriority, mostUrgent } from "../../../../lib/oci/callers.ts";
import { FakeClock } from "../../../support/fake_clock.ts";
import { openMemoryStore } from "../../../support/memory_store.ts";
import { makePlatforms, makeRead } from "../../../support/reports.ts";
import { turn } from "../../../support/until.ts";

const READ = makeRead(makePlatforms());

const open = (kv?: KeyValueStore) => {
  /** What the registry was asked, to be answered by the test. */
  const calls: { readonly request: PlannedRequest; readonly finish: (read: RegistryRead) => void }[] = [];
  const clock = new FakeClock();
  const cache = new ImageCache({
    registry: {
      read: (request) => new Promise((finish) => calls.push({ request, finish })),
      head: () => Promise.reject(new Error("no HEAD is expected")),
    },
    kv,
    clock,
    log: silentLogger,
    maxEntries: 100,
    tagTtlMs: 300_000,
  });
  const inspect = (more: RequestParts = {}): Promise<InspectionReport> =>
    cache.inspect(
      makeRequest("registry.example/app:v1", { priority: "admission", ...more }),
      new AbortController().signal,
    );
  return { inspect, calls, clock };
};

Deno.test("ImageCache.inspect() reads the store and asks the registry once for 1 000 equal requests at the same time", async () => {
  const store = openMemoryStore();
  let reads = 0;
  const { inspect, calls } = open({ ...store, get: (key) => (reads++, store.get(key)) });
  const reports = Promise.all(Array.from({ length: 1_000 }, () => inspect()));
  await turn();
  assert.deepEqual([calls.length, reads], [1, 1]);
  calls[0]?.finish(READ);
  assert.equal(new Set(await reports).size, 1);
});

Deno.test("ImageCache.inspect() keeps apart what differs in image, credentials or depth", async () => {
  const { inspect, calls } = open();
  const different: readonly RequestParts[] = [
    {},
    { image: "registry.example/app:v2" },
    { credentials: [makeCredential("registry.example", { password: "one" })] },
    { credentials: [makeCredential("registry.example", { password: "two" })] },
    { depth: "config" },
  ];
  const reports = Promise.all(different.map((more) => inspect(more)));
  await turn();
  assert.equal(calls.length, different.length);
  for (const call of calls) call.finish(READ);
  await reports;
});

Deno.test("ImageCache.inspect() asks with the strongest priority of those who wait", async () => {
  const { inspect, calls } = open();
  const reports = [inspect({ priority: "prewarm" })];
  await turn();
  const urgency = (): InspectionPriority | undefined => calls.map(({ request }) => mostUrgent(request.callers))[0];
  assert.equal(urgency(), "prewarm");
  reports.push(inspect({ priority: "gated" }));
  reports.push(inspect({ priority: "admission" }));
  await turn();
  assert.equal(urgency(), "gated");
  calls[0]?.finish(READ);
  await Promise.all(reports);
});

Deno.test("ImageCache.inspect() asks for all of its callers, each once, also those who join later", async () => {
  const { inspect, calls } = open();
  const reports = [inspect({ namespace: "one" })];
  await turn();
  const callers = calls[0]?.request.callers;
  const joined: unknown[] = [];
  callers?.onJoin((caller) => joined.push(caller));
  for (const namespace of ["one", "two", "two"]) reports.push(inspect({ namespace }));
  assert.deepEqual(joined, [{ namespace: "two", priority: "admission" }]);
  assert.deepEqual(callers?.members.map(({ namespace }) => namespace), ["one", "two"]);
  calls[0]?.finish(READ);
  await Promise.all(reports);
});

Deno.test("ImageCache.inspect() joins nothing under way for a request that wants a later look-up", async () => {
  const { inspect, calls } = open();
  const reports = [inspect()];
  await turn();
  reports.push(inspect({ freshness: LOOK_UP_AGAIN }));
  await turn();
  assert.equal(calls.length, 2);
  for (const call of calls) call.finish(READ);
  await Promise.all(reports);
});
