// The metrics of a process that places pods, as `serve` registers them.
import { Registry } from "prom-client";
import { EXEC_FORMAT_COUNTERS } from "../../lib/exec_format/metrics.ts";
import { ClientMetrics } from "../../lib/k8s/client_metrics.ts";
import { openGauges, openMetrics } from "../../lib/metrics.ts";
import { PLACEMENT_GAUGES, type PlacementGauges, PlacementMetrics } from "../../lib/placement/metrics.ts";
import { SERVER_METRICS } from "../../lib/server/metrics.ts";
import { TAINT_COUNTERS, TAINT_GAUGES, type TaintGauges } from "../../lib/taints/metrics.ts";
import { openUpgradeMetrics, SETTINGS_GAUGES } from "../../lib/upgrades/metrics.ts";

const NOTHING: PlacementGauges = {
  ...{ gatedPods: 0, unadmittedPods: 0, cachedInspections: 0, isLeading: false, isGating: false },
  memory: { rss: 0, heapUsed: 0 },
  registries: [],
};

export class ProcessMetrics {
  readonly registry = new Registry();
  readonly placement = new PlacementMetrics(this.registry);
  readonly client = new ClientMetrics(this.registry);
  readonly server = openMetrics(this.registry, SERVER_METRICS);
  readonly execFormat = openMetrics(this.registry, EXEC_FORMAT_COUNTERS);
  readonly taints = openMetrics(this.registry, TAINT_COUNTERS);
  readonly #setGauges = openGauges(this.registry, PLACEMENT_GAUGES);
  readonly #setTaints = openGauges(this.registry, TAINT_GAUGES);

  /** The text of a scrape. */
  async text(gauges?: Partial<PlacementGauges>, taints?: TaintGauges): Promise<string> {
    this.#setGauges({ ...NOTHING, ...gauges });
    this.#setTaints(taints);
    return await this.registry.metrics();
  }
}

export function openPlacementMetrics(): PlacementMetrics {
  return new PlacementMetrics(new Registry());
}

/** The text of a scrape of what upgrades measure. */
export async function upgradeMetrics(): Promise<string> {
  const registry = new Registry();
  openUpgradeMetrics(registry);
  openGauges(registry, SETTINGS_GAUGES);
  return await registry.metrics();
}

/** Each metric of a scrape and its type. */
export function typesIn(text: string): readonly (readonly [name: string, type: string])[] {
  return [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = "", type = ""]) => [name, type]);
}

export function seriesIn(text: string): readonly string[] {
  return typesIn(text).flatMap(([name, type]) =>
    type === "histogram" ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name]
  );
}
