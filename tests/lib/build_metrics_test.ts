// The metrics of image builds: gauges show what is, counters what changed while this replica looked.
import assert from "node:assert/strict";
import { Registry } from "prom-client";
import { openBuildMetrics, type ShownBuild } from "../../lib/build_metrics.ts";

const BUILDING: ShownBuild = {
  pool: "worker",
  config: "worker",
  build: "worker-1",
  state: "Building",
  architectures: ["amd64", "arm64"],
  archs: [
    { arch: "amd64", state: "Reused" },
    { arch: "arm64", state: "Building", startedAt: "2026-01-01T00:00:00Z" },
  ],
  uncovered: [{ arch: "arm64" }, { arch: "arm64" }],
};
const DONE: ShownBuild = {
  ...BUILDING,
  state: "Succeeded",
  archs: [
    { arch: "amd64", state: "Reused" },
    { arch: "arm64", state: "Succeeded", startedAt: "2026-01-01T00:00:00Z", finishedAt: "2026-01-01T00:10:00Z" },
  ],
  uncovered: [],
};

async function series(registry: Registry): Promise<Readonly<Record<string, number>>> {
  const lines = (await registry.metrics()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))]),
  );
}

Deno.test("show() sets one state for each pool and architecture, and counts what ended", async () => {
  const registry = new Registry();
  const metrics = openBuildMetrics(registry);
  metrics.show(BUILDING, undefined);
  const first = await series(registry);
  assert.equal(first['ocl_build_state{pool="worker",state="building"}'], 1);
  assert.equal(first['ocl_arch_build_state{pool="worker",arch="arm64",state="Building"}'], 1);
  assert.equal(first['ocl_uncovered_nodes{pool="worker",arch="arm64"}'], 2);
  assert.equal(first['ocl_active_builds{pool="worker"}'], 1);
  assert.equal(first["mco_mosc_count"], 1);
  assert.equal(first['ocl_arch_reuse_total{pool="worker",arch="amd64"}'], undefined, "counted by whoever led before");
  metrics.show(DONE, BUILDING);
  metrics.show(DONE, DONE);
  const second = await series(registry);
  assert.equal(second['ocl_build_state{pool="worker",state="building"}'], 0);
  assert.equal(second['ocl_build_state{pool="worker",state="succeeded"}'], 1);
  assert.equal(second['ocl_build_total{pool="worker",state="succeeded"}'], 1);
  assert.equal(second['ocl_arch_build_total{pool="worker",arch="arm64",state="Succeeded"}'], 1);
  assert.equal(
    second['ocl_arch_build_duration_seconds_sum{pool="worker",arch="arm64",state="Succeeded"}'] ??
      second['ocl_arch_build_duration_seconds_sum{arch="arm64",pool="worker",state="Succeeded"}'],
    600,
  );
  assert.equal(second['ocl_uncovered_nodes{pool="worker",arch="arm64"}'], 0);
});

Deno.test("forgetPool() leaves a pool without a build, and publishing is counted by its result", async () => {
  const registry = new Registry();
  const metrics = openBuildMetrics(registry);
  metrics.show(DONE, undefined);
  metrics.indexPublished("worker", { result: "retry", ms: 2_000 });
  metrics.forgetPool("worker");
  const now = await series(registry);
  assert.deepEqual([now["mco_mosc_count"], now['ocl_build_state{pool="worker",state="none"}']], [0, 1]);
  assert.equal(now['ocl_index_publish_total{pool="worker",result="retry"}'], 1);
  assert.equal(now['ocl_index_publish_duration_seconds_sum{pool="worker"}'], 2);
});
