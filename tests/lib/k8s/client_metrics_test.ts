import assert from "node:assert/strict";
import { Registry } from "prom-client";
import { ClientMetrics } from "../../../lib/k8s/client_metrics.ts";
import { WorkQueue } from "../../../lib/k8s/work_queue.ts";
import { silentLogger } from "../../../lib/log.ts";
import { whileRunning } from "../../controllers/make.ts";
import { FakeClock } from "../../support/fake_clock.ts";

function open(): { readonly metrics: ClientMetrics; read(sample: string): Promise<number | undefined> } {
  const registry = new Registry();
  return {
    metrics: new ClientMetrics(registry),
    // Undefined where there is none; labels in the order of the text.
    read: async (sample) => {
      const line = (await registry.metrics()).split("\n").find((one) => one.startsWith(`${sample} `));
      return line === undefined ? undefined : Number(line.slice(sample.length + 1));
    },
  };
}

Deno.test("ClientMetrics counts adds, retries, depth, waiting and work of a queue by its name", async () => {
  const clock = new FakeClock();
  const { metrics, read } = open();
  const queue = new WorkQueue({
    name: "pod-placement",
    parallel: 1,
    clock,
    log: silentLogger,
    backoff: { baseMs: 60_000, capMs: 60_000 },
    metrics: metrics.queue("pod-placement"),
    reconcile: async (key, signal) => {
      await clock.sleep(1_500, signal);
      if (key === "bad") throw new Error("no");
      return { kind: "done" };
    },
  });
  const sum = (name: string): Promise<number | undefined> => read(`${name}{name="pod-placement"}`);
  assert.equal(await sum("workqueue_adds_total"), 0);
  await whileRunning({ clock }, queue, async () => {
    for (const key of ["bad", "good"]) queue.add(key);
    await clock.advance(1_000);
    assert.equal(await sum("workqueue_depth"), 1);
    await clock.advance(3_000);
    const names = ["adds_total", "depth", "retries_total", "queue_duration_seconds_sum", "work_duration_seconds_sum"];
    const sums = await Promise.all([...names, "work_duration_seconds_count"].map((name) => sum(`workqueue_${name}`)));
    assert.deepEqual(sums, [2, 0, 1, 1.5, 3, 2]);
  });
});

const CALLS: readonly (readonly [status: number, code: string])[] = [
  [200, "200"],
  [409, "409"],
  [418, "other"],
  [0, "<error>"],
];

for (const [status, code] of CALLS) {
  Deno.test(`ClientMetrics counts status ${status} of the API server as "${code}"`, async () => {
    const { metrics, read } = open();
    metrics.apiCall({ method: "PATCH", status, durationMs: 250 });
    assert.equal(await read(`rest_client_requests_total{code="${code}",method="PATCH"}`), 1);
    assert.equal(await read(`rest_client_requests_total{code="${code}",method="GET"}`), 0);
    assert.equal(await read('rest_client_request_duration_seconds_sum{verb="PATCH"}'), 0.25);
  });
}
