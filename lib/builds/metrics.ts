// The metrics of image builds: the machine config operator's, and the same by architecture. Pools are few, so they are
// labels.
import type { Registry } from "prom-client";
import { KNOWN_ARCHITECTURES } from "../arch.ts";
import { parseTime } from "../vocabulary/time.ts";
import {
  type GaugeRow,
  type GaugeSeries,
  type GaugeTable,
  type MetricsOf,
  type MetricTable,
  openGauges,
  openMetrics,
} from "../metrics.ts";
import type { PoolBuildView, PublishOutcome } from "./decide/effects.ts";
import { ARCHITECTURE_STATES, type ArchitectureBuild } from "./decide/types.ts";

const BUILD_STATES = ["none", "pending", "building", "succeeded", "failed", "interrupted", "pushing"] as const;

type BuildState = typeof BUILD_STATES[number];

const LABEL_OF: Readonly<Record<PoolBuildView["state"], BuildState>> = {
  none: "none",
  initial: "pending",
  Prepared: "pending",
  Building: "building",
  Succeeded: "succeeded",
  Failed: "failed",
  Interrupted: "interrupted",
};

const BUILD_BUCKETS = [60, 120, 300, 600, 900, 1_200, 1_800, 2_700, 3_600];
const PUBLISH_BUCKETS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600];

const COUNTED = {
  ocl_build_total: { type: "counter", help: "Builds of a pool that ended, by how.", labels: ["pool", "state"] },
  ocl_build_queue_duration_seconds: {
    type: "histogram",
    help: "Time from a build's creation to its first Job.",
    labels: ["pool"],
    buckets: [5, 10, 30, 60, 120, 300, 600],
  },
  ocl_build_duration_seconds: {
    type: "histogram",
    help: "Time from a build's first Job to its end.",
    labels: ["pool", "state"],
    buckets: BUILD_BUCKETS,
  },
  ocl_build_retries_total: { type: "counter", help: "Pods of Jobs after the first one.", labels: ["pool"] },
  ocl_config_change_total: {
    type: "counter",
    help: "Changes of the configuration that a pool is to run.",
    labels: ["pool"],
  },
  ocl_arch_build_total: {
    type: "counter",
    help: "Builds of one architecture that ended, by how.",
    labels: ["pool", "arch", "state"],
  },
  ocl_arch_build_duration_seconds: {
    type: "histogram",
    help: "Time that one architecture's build took.",
    labels: ["pool", "arch", "state"],
    buckets: BUILD_BUCKETS,
  },
  ocl_arch_reuse_total: {
    type: "counter",
    help: "Images of one architecture that were there already.",
    labels: ["pool", "arch"],
  },
  ocl_image_push_total: {
    type: "counter",
    help: "Attempts to push a pool's image, by how they ended.",
    labels: ["pool", "state"],
  },
  ocl_image_push_duration_seconds: {
    type: "histogram",
    help: "Time that an attempt to push took.",
    labels: ["pool", "state"],
    buckets: [1, 2, 5, 10, 30, 60, 120, 300, 600],
  },
  ocl_index_publish_total: {
    type: "counter",
    help: "Attempts to publish a pool's image, by result.",
    labels: ["pool", "result"],
  },
  ocl_index_publish_duration_seconds: {
    type: "histogram",
    help: "Time that publishing took.",
    labels: ["pool"],
    buckets: PUBLISH_BUCKETS,
  },
} as const satisfies MetricTable;

type PoolViews = readonly PoolBuildView[];

const GAUGES: GaugeTable<PoolViews> = {
  mco_mosc_count: { help: "MachineOSConfigs.", read: (views) => views.length },
  ocl_build_state: ofPools(
    "State of a pool's build; 1 for one of them.",
    ({ state }) => oneOf(BUILD_STATES, LABEL_OF[state]),
  ),
  ocl_active_builds: ofPools(
    "Builds of a pool that have begun and not ended.",
    ({ state }) => only(Number(state === "Prepared" || state === "Building")),
  ),
  ocl_build_start_timestamp_seconds: ofPools(
    "When a pool's build began.",
    ({ times }) => only(secondsOf(times.startedAt) ?? 0),
  ),
  ocl_build_end_timestamp_seconds: ofPools("When a pool's build ended, by how.", ({ state, times }) => {
    const endedAt = secondsOf(times.endedAt);
    return endedAt === undefined || !hasEnded(state) ? [] : [[{ state: LABEL_OF[state] }, endedAt]];
  }),
  ocl_build_job_state: ofPools(
    "State of the Jobs of a pool's build; 1 for one of them.",
    ({ archs }) => oneOf(BUILD_STATES, jobsState(archs)),
  ),
  ocl_image_push_state: ofPools(
    "State of pushing a pool's image; 1 for one of them.",
    ({ push }) => oneOf(BUILD_STATES, push),
  ),
  ocl_layered_nodes_count: ofPools("Nodes of a pool that run an image of a build.", ({ nodes }) => only(nodes.layered)),
  ocl_rollout_updated_nodes: ofPools("Nodes of a pool that run what is published.", ({ nodes }) => only(nodes.updated)),
  ocl_rollout_total_nodes: ofPools("Nodes of a pool.", ({ nodes }) => only(nodes.total)),
  ocl_arch_build_state: ofPools(
    "State of one architecture's build; 1 for one of them.",
    ({ archs }) =>
      forEachArchitecture((name) => oneOf(ARCHITECTURE_STATES, archs.find(({ arch }) => arch === name)?.state)),
  ),
  ocl_pool_architectures: ofPools(
    "1 for each architecture that a pool's image is built for.",
    ({ architectures }) => forEachArchitecture((name) => only(Number(architectures.includes(name)))),
  ),
  ocl_uncovered_nodes: ofPools(
    "Nodes of a pool whose architecture its published image lacks.",
    ({ uncovered }) => forEachArchitecture((name) => only(uncovered.filter(({ arch }) => arch === name).length)),
  ),
};

function ofPools(help: string, read: (view: PoolBuildView) => readonly GaugeSeries[]): GaugeRow<PoolViews> {
  return {
    help,
    labels: ["pool", "arch", "state"],
    read: (views) =>
      views.flatMap((view) => read(view).map(([labels, value]) => [{ pool: view.pool, ...labels }, value] as const)),
  };
}

export class BuildMetrics {
  readonly #counted: MetricsOf<typeof COUNTED>;
  readonly show: (views: PoolViews) => void;

  constructor(registry: Registry) {
    this.#counted = openMetrics(registry, COUNTED);
    this.show = openGauges(registry, GAUGES);
  }

  /** Counts what changed. Without `before` it counts nothing: another replica has counted what this one sees first. */
  count(now: PoolBuildView, before: PoolBuildView | undefined): void {
    if (before === undefined) return;
    const { pool, times: { createdAt, startedAt, endedAt } } = now;
    const isNewBuild = before.build !== now.build || before.times.createdAt !== createdAt;
    const known: Pick<PoolBuildView, "state" | "times" | "archs"> = isNewBuild ? NOTHING : before;
    const state = LABEL_OF[now.state];
    const counted = this.#counted;
    const isReconfigured = now.rendered !== before.rendered && now.rendered !== "" && before.rendered !== "";
    if (isReconfigured) counted.ocl_config_change_total.inc({ pool });
    const retries = retriesOf(now.archs) - retriesOf(known.archs);
    if (retries > 0) counted.ocl_build_retries_total.inc({ pool }, retries);
    if (hasEnded(now.state) && known.state !== now.state) counted.ocl_build_total.inc({ pool, state });
    const queued = known.times.startedAt === undefined ? secondsBetween(createdAt, startedAt) : undefined;
    if (queued !== undefined) counted.ocl_build_queue_duration_seconds.observe({ pool }, queued);
    const built = known.times.endedAt === undefined ? secondsBetween(startedAt, endedAt) : undefined;
    if (built !== undefined) counted.ocl_build_duration_seconds.observe({ pool, state }, built);
    for (const one of now.archs) {
      if (known.archs.find(({ arch }) => arch === one.arch)?.state !== one.state) this.#countArchitecture(pool, one);
    }
  }

  #countArchitecture(pool: string, { arch, state, startedAt, finishedAt }: ArchitectureBuild): void {
    const counted = this.#counted;
    if (state === "Reused") counted.ocl_arch_reuse_total.inc({ pool, arch });
    if (!hasEnded(state)) return;
    counted.ocl_arch_build_total.inc({ pool, arch, state });
    const seconds = secondsBetween(startedAt, finishedAt);
    if (seconds !== undefined) counted.ocl_arch_build_duration_seconds.observe({ pool, arch, state }, seconds);
  }

  /** Counts an attempt to publish, which took `ms`. A lost image and an immutable tag count as retries. */
  published(pool: string, outcome: PublishOutcome, ms: number): void {
    const counted = this.#counted;
    const isDone = outcome.kind === "published";
    const state = isDone ? "succeeded" : "failed";
    const result = isDone ? outcome.isNew ? "published" : "unchanged" : outcome.kind === "failed" ? "failed" : "retry";
    counted.ocl_index_publish_total.inc({ pool, result });
    counted.ocl_index_publish_duration_seconds.observe({ pool }, ms / 1_000);
    counted.ocl_image_push_total.inc({ pool, state });
    counted.ocl_image_push_duration_seconds.observe({ pool, state }, ms / 1_000);
  }
}

const NOTHING = { state: "none", times: {}, archs: [] } as const;

function only(value: number): readonly GaugeSeries[] {
  return [[{}, value]];
}

function oneOf(states: readonly string[], is: string | undefined): readonly GaugeSeries[] {
  return states.map((state) => [{ state }, Number(state === is)]);
}

function forEachArchitecture(series: (arch: string) => readonly GaugeSeries[]): readonly GaugeSeries[] {
  return KNOWN_ARCHITECTURES.flatMap((arch) =>
    series(arch).map(([labels, value]) => [{ arch, ...labels }, value] as const)
  );
}

function hasEnded(state: string): boolean {
  return ["Succeeded", "Failed", "Interrupted"].includes(state);
}

/** One state for all Jobs: running comes before failed, failed before pending, and pending before succeeded. */
function jobsState(archs: readonly ArchitectureBuild[]): BuildState {
  const states = archs.filter(({ job }) => job !== undefined).map(({ state }) => state);
  const rows = [
    ["Building", "building"],
    ["Failed", "failed"],
    ["Interrupted", "interrupted"],
    ["Preparing", "pending"],
    ["Succeeded", "succeeded"],
  ] as const;
  return rows.find(([state]) => states.includes(state))?.[1] ?? "none";
}

function retriesOf(archs: readonly ArchitectureBuild[]): number {
  return archs.reduce((sum, { attempts }) => sum + Math.max(0, attempts - 1), 0);
}

function secondsOf(time: string | undefined): number | undefined {
  const ms = parseTime(time);
  return ms === undefined ? undefined : ms / 1_000;
}

function secondsBetween(from: string | undefined, to: string | undefined): number | undefined {
  const [start, end] = [secondsOf(from), secondsOf(to)];
  return start === undefined || end === undefined ? undefined : Math.max(0, end - start);
}
