import assert from "node:assert/strict";
import { Registry } from "prom-client";
import { BuildMetrics } from "../../../lib/builds/metrics.ts";
import type { PoolBuildView } from "../../../lib/builds/decide/effects.ts";
import type { ArchitectureBuild } from "../../../lib/builds/decide/types.ts";

const JOB = { name: "j", uid: "u" };
const REUSED: ArchitectureBuild = { arch: "amd64", buildKey: "k", state: "Reused", attempts: 0 };
const RUNS: ArchitectureBuild = {
  ...{ arch: "arm64", buildKey: "k", state: "Building", attempts: 1, job: JOB },
  startedAt: "2026-01-01T00:00:00Z",
};
const BUILDING: PoolBuildView = {
  ...{ pool: "worker", build: "worker-1", state: "Building", published: "" },
  architectures: ["amd64", "arm64"],
  archs: [REUSED, RUNS],
  rendered: "rendered-worker-1",
  times: { createdAt: "2025-12-31T23:59:30Z", startedAt: "2026-01-01T00:00:00Z" },
  push: "none",
  nodes: { total: 3, layered: 2, updated: 0 },
  uncovered: [{ node: "a", arch: "arm64" }, { node: "b", arch: "arm64" }],
};
const DONE: PoolBuildView = {
  ...BUILDING,
  state: "Succeeded",
  archs: [REUSED, { ...RUNS, state: "Succeeded", attempts: 3, finishedAt: "2026-01-01T00:10:00Z" }],
  times: { ...BUILDING.times, endedAt: "2026-01-01T00:12:00Z" },
  push: "succeeded",
  nodes: { total: 3, layered: 3, updated: 2 },
  uncovered: [],
};

class Bed {
  readonly #registry = new Registry();
  #views: readonly PoolBuildView[] = [];
  readonly metrics = new BuildMetrics(this.#registry);

  show(...views: readonly PoolBuildView[]): void {
    for (const now of views) {
      this.metrics.count(now, this.#views[0]);
      this.#views = [now];
    }
  }

  remove(): void {
    this.#views = [];
  }

  async series(): Promise<Readonly<Record<string, number>>> {
    this.metrics.show(this.#views);
    const lines = (await this.#registry.metrics()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    return Object.fromEntries(
      lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))]),
    );
  }
}

Deno.test("gauges have one state for each pool and architecture, and what ended is counted", async () => {
  const bed = new Bed();
  bed.show(BUILDING);
  const first = await bed.series();
  assert.equal(first['ocl_arch_build_state{pool="worker",arch="arm64",state="Building"}'], 1);
  assert.equal(first['ocl_uncovered_nodes{pool="worker",arch="arm64"}'], 2);
  assert.equal(first["mco_mosc_count"], 1);
  assert.equal(first['ocl_arch_reuse_total{pool="worker",arch="amd64"}'], undefined, "counted by whoever led before");
  bed.show(DONE, DONE);
  const second = await bed.series();
  assert.equal(second['ocl_build_state{pool="worker",state="building"}'], 0);
  assert.equal(second['ocl_build_total{pool="worker",state="succeeded"}'], 1);
  assert.equal(second['ocl_arch_build_total{pool="worker",arch="arm64",state="Succeeded"}'], 1);
  assert.equal(second['ocl_arch_build_duration_seconds_sum{pool="worker",arch="arm64",state="Succeeded"}'], 600);
  assert.equal(second['ocl_uncovered_nodes{pool="worker",arch="arm64"}'], 0);
});

Deno.test("a pool that is gone has no gauge, and publishing is counted by its result", async () => {
  const bed = new Bed();
  bed.show(DONE);
  bed.metrics.published("worker", { kind: "retry", message: "" }, 2_000);
  bed.remove();
  const now = await bed.series();
  assert.equal(now["mco_mosc_count"], 0);
  assert.deepEqual(GAUGES.flatMap((name) => statesOf(now, name)), []);
  assert.equal(now['ocl_index_publish_total{pool="worker",result="retry"}'], 1);
  assert.equal(now['ocl_index_publish_duration_seconds_sum{pool="worker"}'], 2);
});

function statesOf(all: Readonly<Record<string, number>>, name: string): readonly string[] {
  return Object.entries(all).flatMap(([key, value]) => {
    const [, found, state] = /^(\w+)\{pool="worker",state="(\w+)"\}$/.exec(key) ?? [];
    return found === name && value === 1 && state !== undefined ? [state] : [];
  });
}

const INTERRUPTED: PoolBuildView = { ...DONE, state: "Interrupted", archs: [{ ...RUNS, state: "Interrupted" }] };
const GAUGES = ["ocl_build_state", "ocl_build_job_state", "ocl_image_push_state"];
const WAITING: PoolBuildView = {
  ...BUILDING,
  state: "initial",
  archs: [],
  times: { createdAt: "2025-12-31T23:59:30Z" },
  nodes: { total: 3, layered: 0, updated: 0 },
};

Deno.test("O-092 gauges have one state of build, Jobs and push at a time, and say times, nodes and how many builds are active", async () => {
  const bed = new Bed();
  const rows: readonly (readonly [PoolBuildView, readonly string[], active: number])[] = [
    [WAITING, ["pending", "none", "none"], 0],
    [BUILDING, ["building", "building", "none"], 1],
    [{ ...BUILDING, push: "pushing" }, ["building", "building", "pushing"], 1],
    [DONE, ["succeeded", "succeeded", "succeeded"], 0],
    [INTERRUPTED, ["interrupted", "interrupted", "succeeded"], 0],
  ];
  for (const [shown, states, active] of rows) {
    bed.show(shown);
    const all = await bed.series();
    assert.deepEqual(GAUGES.map((name) => statesOf(all, name)), states.map((state) => [state]));
    assert.equal(all['ocl_active_builds{pool="worker"}'], active);
    const { total, layered, updated } = shown.nodes;
    const nodes = ["ocl_rollout_total_nodes", "ocl_layered_nodes_count", "ocl_rollout_updated_nodes"];
    assert.deepEqual(nodes.map((name) => all[`${name}{pool="worker"}`]), [total, layered, updated]);
  }
  const all = await bed.series();
  assert.equal(all['ocl_build_start_timestamp_seconds{pool="worker"}'], Date.parse("2026-01-01T00:00:00Z") / 1_000);
  const ended = Object.entries(all).filter(([name]) => name.startsWith("ocl_build_end_timestamp_seconds"));
  assert.deepEqual(ended, [[
    'ocl_build_end_timestamp_seconds{pool="worker",state="interrupted"}',
    Date.parse("2026-01-01T00:12:00Z") / 1_000,
  ]]);
});

Deno.test("O-092 counters and histograms have each wait, end, retry, change and push once", async () => {
  const bed = new Bed();
  bed.show(WAITING, BUILDING, DONE, DONE, { ...DONE, rendered: "rendered-worker-2" });
  bed.metrics.published("worker", { kind: "published", reference: "", children: [], isNew: true }, 3_000);
  bed.metrics.published("worker", { kind: "failed", reason: "PushDenied", message: "" }, 1_000);
  const all = await bed.series();
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
