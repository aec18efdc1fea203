// The metrics of image builds: gauges show what is, counters what changed while this replica looked.
import assert from "node:assert/strict";
import { Registry } from "prom-client";
import { openBuildMetrics } from "../../lib/build_metrics.ts";
import type { ShownBuild } from "../../lib/shown_build.ts";

const BUILDING: ShownBuild = {
  pool: "worker",
  config: "worker",
  build: "worker-1",
  state: "Building",
  architectures: ["amd64", "arm64"],
  archs: [
    { arch: "amd64", state: "Reused", attempts: 0 },
    { arch: "arm64", state: "Building", attempts: 1, job: {}, startedAt: "2026-01-01T00:00:00Z" },
  ],
  rendered: "rendered-worker-1",
  times: { createdAt: "2025-12-31T23:59:30Z", startedAt: "2026-01-01T00:00:00Z" },
  push: "none",
  nodes: { total: 3, layered: 2, updated: 0 },
  uncovered: [{ arch: "arm64" }, { arch: "arm64" }],
};
const DONE: ShownBuild = {
  ...BUILDING,
  state: "Succeeded",
  archs: [
    { arch: "amd64", state: "Reused", attempts: 0 },
    {
      ...{ arch: "arm64", state: "Succeeded", attempts: 3, job: {} },
      ...{ startedAt: "2026-01-01T00:00:00Z", finishedAt: "2026-01-01T00:10:00Z" },
    },
  ],
  times: { ...BUILDING.times, endedAt: "2026-01-01T00:12:00Z" },
  push: "succeeded",
  nodes: { total: 3, layered: 3, updated: 2 },
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

Deno.test("removePool() leaves a pool without a build, and publishing is counted by its result", async () => {
  const registry = new Registry();
  const metrics = openBuildMetrics(registry);
  metrics.show(DONE, undefined);
  metrics.indexPublished("worker", { result: "retry", ms: 2_000 });
  metrics.removePool("worker");
  const now = await series(registry);
  assert.deepEqual([now["mco_mosc_count"], now['ocl_build_state{pool="worker",state="none"}']], [0, 1]);
  assert.equal(now['ocl_index_publish_total{pool="worker",result="retry"}'], 1);
  assert.equal(now['ocl_index_publish_duration_seconds_sum{pool="worker"}'], 2);
});

/** What the gauges of one name say 1 of, by their label `state`. */
function statesOf(all: Readonly<Record<string, number>>, name: string): readonly string[] {
  return Object.entries(all).flatMap(([key, value]) => {
    const [, found, state] = /^(\w+)\{pool="worker",state="(\w+)"\}$/.exec(key) ?? [];
    return found === name && value === 1 && state !== undefined ? [state] : [];
  });
}

const GAUGES = ["ocl_build_state", "ocl_build_job_state", "ocl_image_push_state"];
const WAITING: ShownBuild = {
  ...BUILDING,
  state: "initial",
  archs: [],
  times: { createdAt: "2025-12-31T23:59:30Z" },
  nodes: { total: 3, layered: 0, updated: 0 },
};

Deno.test("O-092 gauges have one state of build, Jobs and push at a time, and say times, nodes and how many builds are active", async () => {
  const registry = new Registry();
  const metrics = openBuildMetrics(registry);
  const rows: readonly (readonly [ShownBuild, readonly string[], active: number])[] = [
    [WAITING, ["pending", "none", "none"], 0],
    [BUILDING, ["building", "building", "none"], 1],
    [{ ...BUILDING, push: "pushing" }, ["building", "building", "pushing"], 1],
    [DONE, ["succeeded", "succeeded", "succeeded"], 0],
    [
      { ...DONE, state: "Interrupted", archs: [{ arch: "arm64", state: "Interrupted", attempts: 1, job: {} }] },
      ["interrupted", "interrupted", "succeeded"],
      0,
    ],
  ];
  let before: ShownBuild | undefined;
  for (const [shown, states, active] of rows) {
    metrics.show(shown, before);
    before = shown;
    const all = await series(registry);
    assert.deepEqual(GAUGES.map((name) => statesOf(all, name)), states.map((state) => [state]));
    assert.equal(all['ocl_active_builds{pool="worker"}'], active);
    const { total, layered, updated } = shown.nodes;
    const nodes = ["ocl_rollout_total_nodes", "ocl_layered_nodes_count", "ocl_rollout_updated_nodes"];
    assert.deepEqual(nodes.map((name) => all[`${name}{pool="worker"}`]), [total, layered, updated]);
  }
  const all = await series(registry);
  assert.equal(all['ocl_build_start_timestamp_seconds{pool="worker"}'], Date.parse("2026-01-01T00:00:00Z") / 1_000);
  const ended = Object.entries(all).filter(([name]) => name.startsWith("ocl_build_end_timestamp_seconds"));
  assert.deepEqual(ended, [[
    'ocl_build_end_timestamp_seconds{pool="worker",state="interrupted"}',
    Date.parse("2026-01-01T00:12:00Z") / 1_000,
  ]]);
});

Deno.test("O-092 counters and histograms have each wait, end, retry, change and push once", async () => {
  const registry = new Registry();
  const metrics = openBuildMetrics(registry);
  metrics.show(WAITING, undefined);
  metrics.show(BUILDING, WAITING);
  metrics.show(DONE, BUILDING);
  metrics.show(DONE, DONE);
  metrics.show({ ...DONE, rendered: "rendered-worker-2" }, DONE);
  metrics.indexPublished("worker", { result: "published", ms: 3_000 });
  metrics.indexPublished("worker", { result: "failed", ms: 1_000 });
  const all = await series(registry);
  const value = (name: string, labels = ""): number | undefined => all[`${name}{pool="worker"${labels}}`];
  assert.equal(value("ocl_build_queue_duration_seconds_count"), 1);
  assert.equal(value("ocl_build_queue_duration_seconds_sum"), 30);
  assert.equal(value("ocl_build_duration_seconds_sum", ',state="succeeded"'), 720);
  assert.equal(value("ocl_build_retries_total"), 2);
  assert.equal(value("ocl_config_change_total"), 1);
  assert.equal(value("ocl_image_push_total", ',state="succeeded"'), 1);
  assert.equal(value("ocl_image_push_total", ',state="failed"'), 1);
  assert.equal(value("ocl_image_push_duration_seconds_sum", ',state="succeeded"'), 3);
});
