// The rest of what the machine config operator measures of builds: when they begin and end, how long they wait, run and are
// pushed, what becomes of their Jobs, and how far the rollout is.
import { type Counter, type Gauge, Histogram, type Registry } from "prom-client";
import { instrumentsOf } from "./metric_instruments.ts";
import {
  BUILD_BUCKETS,
  BUILD_STATES,
  type BuildStateLabel,
  ENDED_STATES,
  LABEL_OF,
  type ShownArch,
  type ShownBuild,
} from "./shown_build.ts";

/** These metrics. */
export interface BuildCourseMetrics {
  /** A pool's build as it is now, and as it was shown before; undefined: it was not. */
  show(now: ShownBuild, before: ShownBuild | undefined): void;
  /** An attempt to push what is published ended, after so long (ms). */
  pushed(pool: string, options: { readonly state: "succeeded" | "failed"; readonly ms: number }): void;
}

/** Upper bounds (seconds). */
const QUEUE_BUCKETS = [5, 10, 30, 60, 120, 300, 600];
const PUSH_BUCKETS = [1, 2, 5, 10, 30, 60, 120, 300, 600];

/** Registers them. */
export function openBuildCourseMetrics(registry: Registry): BuildCourseMetrics {
  const [gauges, totals] = [openGauges(registry), openTotals(registry)];
  return {
    show: (now, before) => {
      showGauges(gauges, now);
      countCourse(totals, now, before);
    },
    pushed: (pool, { state, ms }) => {
      totals.pushes.inc({ pool, state });
      totals.pushing.observe({ pool, state }, ms / 1_000);
    },
  };
}

interface CourseGauges {
  readonly start: Gauge<"pool">;
  readonly end: Gauge<"pool" | "state">;
  readonly jobs: Gauge<"pool" | "state">;
  readonly push: Gauge<"pool" | "state">;
  readonly layered: Gauge<"pool">;
  readonly updated: Gauge<"pool">;
  readonly total: Gauge<"pool">;
}

function openGauges(registry: Registry): CourseGauges {
  const { gauge } = instrumentsOf(registry);
  return {
    start: gauge("ocl_build_start_timestamp_seconds", "When a pool's build began.", ["pool"]),
    end: gauge("ocl_build_end_timestamp_seconds", "When a pool's build ended, by how.", ["pool", "state"]),
    jobs: gauge("ocl_build_job_state", "State of the Jobs of a pool's build; 1 for one of them.", ["pool", "state"]),
    push: gauge("ocl_image_push_state", "State of pushing a pool's image; 1 for one of them.", ["pool", "state"]),
    layered: gauge("ocl_layered_nodes_count", "Nodes of a pool that run an image of a build.", ["pool"]),
    updated: gauge("ocl_rollout_updated_nodes", "Nodes of a pool that run what is published.", ["pool"]),
    total: gauge("ocl_rollout_total_nodes", "Nodes of a pool.", ["pool"]),
  };
}

interface CourseTotals {
  readonly changes: Counter<"pool">;
  readonly retries: Counter<"pool">;
  readonly pushes: Counter<"pool" | "state">;
  readonly building: Histogram<"pool" | "state">;
  readonly queued: Histogram<"pool">;
  readonly pushing: Histogram<"pool" | "state">;
}

function openTotals(registry: Registry): CourseTotals {
  const registers = [registry];
  const { counter } = instrumentsOf(registry);
  const histogram = <L extends string>(
    name: string,
    help: string,
    { labelNames, buckets }: { readonly labelNames: readonly L[]; readonly buckets: readonly number[] },
  ): Histogram<L> => new Histogram({ name, help, labelNames: [...labelNames], buckets: [...buckets], registers });
  return {
    changes: counter("ocl_config_change_total", "Changes of the configuration that a pool is to run.", ["pool"]),
    retries: counter("ocl_build_retries_total", "Pods of Jobs after the first one.", ["pool"]),
    pushes: counter("ocl_image_push_total", "Attempts to push a pool's image, by how they ended.", ["pool", "state"]),
    building: histogram("ocl_build_duration_seconds", "Time from a build's first Job to its end.", {
      labelNames: ["pool", "state"],
      buckets: BUILD_BUCKETS,
    }),
    queued: histogram("ocl_build_queue_duration_seconds", "Time from a build's creation to its first Job.", {
      labelNames: ["pool"],
      buckets: QUEUE_BUCKETS,
    }),
    pushing: histogram("ocl_image_push_duration_seconds", "Time that an attempt to push took.", {
      labelNames: ["pool", "state"],
      buckets: PUSH_BUCKETS,
    }),
  };
}

function showGauges(gauges: CourseGauges, { pool, state, archs, push, nodes, times }: ShownBuild): void {
  const jobs = jobsState(archs);
  for (const label of BUILD_STATES) {
    gauges.jobs.set({ pool, state: label }, Number(jobs === label));
    gauges.push.set({ pool, state: label }, Number(push === label));
  }
  gauges.layered.set({ pool }, nodes.layered);
  gauges.updated.set({ pool }, nodes.updated);
  gauges.total.set({ pool }, nodes.total);
  gauges.start.set({ pool }, secondsOf(times.startedAt) ?? 0);
  for (const ended of ENDED_STATES) gauges.end.remove({ pool, state: ended.toLowerCase() });
  const endedAt = secondsOf(times.endedAt);
  if (endedAt !== undefined && ENDED_STATES.includes(state)) gauges.end.set({ pool, state: LABEL_OF[state] }, endedAt);
}

/** One word for all Jobs: what runs before what has failed before what waits before what is done. */
function jobsState(archs: readonly ShownArch[]): BuildStateLabel {
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

/** What a replica sees for the first time when it begins to lead has been counted by another one. */
function countCourse(totals: CourseTotals, now: ShownBuild, before: ShownBuild | undefined): void {
  if (before === undefined) return;
  const { pool, times, state } = now;
  if (now.rendered !== "" && before.rendered !== "" && now.rendered !== before.rendered) totals.changes.inc({ pool });
  const isOther = before.build !== now.build || before.times.createdAt !== times.createdAt;
  const known: ShownBuild["times"] = isOther ? {} : before.times;
  const retries = retriesOf(now.archs) - (isOther ? 0 : retriesOf(before.archs));
  if (retries > 0) totals.retries.inc({ pool }, retries);
  const [created, started, ended] = [times.createdAt, times.startedAt, times.endedAt].map(secondsOf);
  if (known.startedAt === undefined && created !== undefined && started !== undefined) {
    totals.queued.observe({ pool }, Math.max(0, started - created));
  }
  if (known.endedAt === undefined && started !== undefined && ended !== undefined) {
    totals.building.observe({ pool, state: LABEL_OF[state] }, Math.max(0, ended - started));
  }
}

function retriesOf(archs: readonly ShownArch[]): number {
  return archs.reduce((sum, { attempts }) => sum + Math.max(0, attempts - 1), 0);
}

function secondsOf(time: string | undefined): number | undefined {
  const ms = Date.parse(time ?? "");
  return Number.isNaN(ms) ? undefined : ms / 1_000;
}
