import assert from "node:assert/strict";
import { Registry } from "prom-client";
import { type GaugeTable, openGauges, openMetrics } from "../../lib/metrics.ts";

async function samples(registry: Registry): Promise<readonly string[]> {
  return (await registry.metrics()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
}

Deno.test("openMetrics() shows every combination of labels that are known at zero, and of others none", async () => {
  const registry = new Registry();
  const metrics = openMetrics(registry, {
    plain_total: { type: "counter", help: "a" },
    known_total: { type: "counter", help: "b", labels: { path: ["x", "y"], outcome: ["in", "out"] } },
    open_total: { type: "counter", help: "c", labels: ["pool"] },
    size: { type: "gauge", help: "d", labels: ["pool"] },
  });
  metrics.known_total.inc({ path: "x", outcome: "out" }, 2);
  assert.deepEqual(await samples(registry), [
    "plain_total 0",
    'known_total{path="x",outcome="in"} 0',
    'known_total{path="x",outcome="out"} 2',
    'known_total{path="y",outcome="in"} 0',
    'known_total{path="y",outcome="out"} 0',
  ]);
  metrics.open_total.inc({ pool: "worker" });
  metrics.size.set({ pool: "worker" }, 3);
  assert.deepEqual((await samples(registry)).slice(5), ['open_total{pool="worker"} 1', 'size{pool="worker"} 3']);
});

Deno.test("openMetrics() shows histograms of known labels at zero, with the bounds of the row", async () => {
  const registry = new Registry();
  openMetrics(registry, {
    time_seconds: { type: "histogram", help: "a", labels: { verb: ["GET"] }, buckets: [1, 2] },
  });
  assert.deepEqual(await samples(registry), [
    'time_seconds_bucket{le="1",verb="GET"} 0',
    'time_seconds_bucket{le="2",verb="GET"} 0',
    'time_seconds_bucket{le="+Inf",verb="GET"} 0',
    'time_seconds_sum{verb="GET"} 0',
    'time_seconds_count{verb="GET"} 0',
  ]);
});

Deno.test("openGauges() reads each at a scrape and removes the series that are gone", async () => {
  const registry = new Registry();
  const table: GaugeTable<readonly string[] | undefined> = {
    pods: { help: "a", read: (pods) => pods?.length },
    pod: { help: "b", labels: ["name"], read: (pods = []) => pods.map((name, at) => [{ name }, at]) },
  };
  const refresh = openGauges(registry, table);
  refresh(["a", "b"]);
  assert.deepEqual(await samples(registry), ["pods 2", 'pod{name="a"} 0', 'pod{name="b"} 1']);
  refresh(["b"]);
  assert.deepEqual(await samples(registry), ["pods 1", 'pod{name="b"} 0']);
  refresh(undefined);
  assert.deepEqual(await samples(registry), []);
});
