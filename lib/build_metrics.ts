// The metrics of image builds, by the names that the machine config operator has for them, and their twins for each
// architecture. Pools are few and named by administrators: they are a label here.
import { type Counter, type Gauge, Histogram, type Registry } from "prom-client";
import { KNOWN_ARCHITECTURES } from "./arch.ts";
import { openBuildCourseMetrics } from "./build_course_metrics.ts";
import { instrumentsOf } from "./metric_instruments.ts";
import {
  ARCH_BUILD_STATES,
  BUILD_BUCKETS,
  BUILD_STATES,
  ENDED_STATES,
  LABEL_OF,
  type ShownBuild,
  shownNothing,
} from "./shown_build.ts";

/** How publishing ended. */
export const PUBLISH_RESULTS = ["published", "unchanged", "retry", "failed"] as const;

/** One of {@link PUBLISH_RESULTS}. */
export type PublishResult = typeof PUBLISH_RESULTS[number];

/** The metrics. */
export interface BuildMetrics {
  /** A pool's build as it is now, and as it was shown before; undefined: it was not. */
  show(now: ShownBuild, before: ShownBuild | undefined): void;
  /** The MachineOSConfig of that name is gone. */
  removePool(config: string): void;
  /** Publishing ended, after so long (ms). */
  indexPublished(pool: string, options: { readonly result: PublishResult; readonly ms: number }): void;
}

/** Upper bounds (seconds). */
const PUBLISH_BUCKETS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600];

/** Registers them. */
export function openBuildMetrics(registry: Registry): BuildMetrics {
  const [gauges, totals, course] = [openGauges(registry), openTotals(registry), openBuildCourseMetrics(registry)];
  const pools = new Map<string, string>();
  return {
    show: (now, before) => {
      pools.set(now.config, now.pool);
      gauges.count.set(pools.size);
      showGauges(gauges, now);
      countChanges(totals, now, before);
      course.show(now, before);
    },
    removePool: (config) => {
      const pool = pools.get(config);
      pools.delete(config);
      gauges.count.set(pools.size);
      if (pool !== undefined) {
        const nothing = shownNothing(pool, config);
        showGauges(gauges, nothing);
        course.show(nothing, undefined);
      }
    },
    indexPublished: (pool, { result, ms }) => {
      totals.published.inc({ pool, result });
      totals.publishing.observe({ pool }, ms / 1_000);
      course.pushed(pool, { state: result === "retry" || result === "failed" ? "failed" : "succeeded", ms });
    },
  };
}

interface BuildGauges {
  readonly count: Gauge;
  readonly state: Gauge<"pool" | "state">;
  readonly active: Gauge<"pool">;
  readonly archState: Gauge<"pool" | "arch" | "state">;
  readonly architectures: Gauge<"pool" | "arch">;
  readonly uncovered: Gauge<"pool" | "arch">;
}

function openGauges(registry: Registry): BuildGauges {
  const { gauge } = instrumentsOf(registry);
  return {
    count: gauge("mco_mosc_count", "MachineOSConfigs.", []),
    state: gauge("ocl_build_state", "State of a pool's build; 1 for one of them.", ["pool", "state"]),
    active: gauge("ocl_active_builds", "Builds of a pool that have begun and not ended.", ["pool"]),
    archState: gauge("ocl_arch_build_state", "State of one architecture's build; 1 for one of them.", [
      "pool",
      "arch",
      "state",
    ]),
    architectures: gauge("ocl_pool_architectures", "1 for each architecture that a pool's image is built for.", [
      "pool",
      "arch",
    ]),
    uncovered: gauge("ocl_uncovered_nodes", "Nodes of a pool whose architecture its published image lacks.", [
      "pool",
      "arch",
    ]),
  };
}

interface BuildTotals {
  readonly builds: Counter<"pool" | "state">;
  readonly archBuilds: Counter<"pool" | "arch" | "state">;
  readonly archSeconds: Histogram<"pool" | "arch" | "state">;
  readonly reused: Counter<"pool" | "arch">;
  readonly published: Counter<"pool" | "result">;
  readonly publishing: Histogram<"pool">;
}

function openTotals(registry: Registry): BuildTotals {
  const registers = [registry];
  const { counter } = instrumentsOf(registry);
  return {
    builds: counter("ocl_build_total", "Builds of a pool that ended, by how.", ["pool", "state"]),
    archBuilds: counter("ocl_arch_build_total", "Builds of one architecture that ended, by how.", [
      "pool",
      "arch",
      "state",
    ]),
    archSeconds: new Histogram({
      name: "ocl_arch_build_duration_seconds",
      help: "Time that one architecture's build took.",
      labelNames: ["pool", "arch", "state"],
      buckets: [...BUILD_BUCKETS],
      registers,
    }),
    reused: counter("ocl_arch_reuse_total", "Images of one architecture that were there already.", ["pool", "arch"]),
    published: counter("ocl_index_publish_total", "Attempts to publish a pool's image, by result.", ["pool", "result"]),
    publishing: new Histogram({
      name: "ocl_index_publish_duration_seconds",
      help: "Time that publishing took.",
      labelNames: ["pool"],
      buckets: PUBLISH_BUCKETS,
      registers,
    }),
  };
}

function showGauges(gauges: BuildGauges, { pool, state, architectures, archs, uncovered }: ShownBuild): void {
  for (const label of BUILD_STATES) gauges.state.set({ pool, state: label }, Number(LABEL_OF[state] === label));
  gauges.active.set({ pool }, Number(state === "Prepared" || state === "Building"));
  for (const arch of KNOWN_ARCHITECTURES) {
    gauges.architectures.set({ pool, arch }, Number(architectures.includes(arch)));
    gauges.uncovered.set({ pool, arch }, uncovered.filter((node) => node.arch === arch).length);
    const own = archs.find((one) => one.arch === arch)?.state;
    for (const label of ARCH_BUILD_STATES) {
      gauges.archState.set({ pool, arch, state: label }, Number(own === label));
    }
  }
}

/** What a replica sees for the first time when it begins to lead has been counted by another one. */
function countChanges(totals: BuildTotals, now: ShownBuild, before: ShownBuild | undefined): void {
  if (before === undefined) return;
  const { pool } = now;
  const isOther = before.build !== now.build;
  if (ENDED_STATES.includes(now.state) && (isOther || before.state !== now.state)) {
    totals.builds.inc({ pool, state: LABEL_OF[now.state] });
  }
  for (const { arch, state, startedAt, finishedAt } of now.archs) {
    if (!isOther && before.archs.some((one) => one.arch === arch && one.state === state)) continue;
    if (state === "Reused") totals.reused.inc({ pool, arch });
    if (!ENDED_STATES.includes(state)) continue;
    totals.archBuilds.inc({ pool, arch, state });
    const seconds = (Date.parse(finishedAt ?? "") - Date.parse(startedAt ?? "")) / 1_000;
    if (seconds >= 0) totals.archSeconds.observe({ pool, arch, state }, seconds);
  }
}
