// Metrics as tables: one for what is counted as it happens, one for what is read at a scrape. A series whose labels are
// known begins at zero.
import { Counter, Gauge, Histogram, type Registry } from "prom-client";

type LabelNames = readonly string[];
type LabelValues = Readonly<Record<string, readonly string[]>>;

interface MetricRow {
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  /** Names of the labels; or all values of each label, so that the metric's series begin at zero. */
  readonly labels?: LabelNames | LabelValues;
  /** Upper bounds of a histogram; {@link LATENCY_BUCKETS_SECONDS} where none are given. */
  readonly buckets?: readonly number[];
}

export type MetricTable = Readonly<Record<string, MetricRow>>;

type LabelsOf<Row> = Row extends { readonly labels: readonly (infer Name extends string)[] } ? Record<Name, string>
  : Row extends { readonly labels: infer Known extends LabelValues } ? { [Name in keyof Known]: Known[Name][number] }
  : undefined;

type LabelledCall<Labels, Rest extends unknown[]> = (
  ...args: Labels extends undefined ? Rest : [labels: Labels, ...rest: Rest]
) => void;

interface MetricByType<Labels> {
  readonly counter: { readonly inc: LabelledCall<Labels, [by?: number]> };
  readonly gauge: {
    readonly set: LabelledCall<Labels, [value: number]>;
    readonly remove: LabelledCall<Labels, []>;
    readonly reset: () => void;
  };
  readonly histogram: {
    readonly observe: LabelledCall<Labels, [value: number]>;
    readonly zero: (labels: Labels) => void;
  };
}

export type MetricsOf<Table extends MetricTable> = {
  readonly [Name in keyof Table]: MetricByType<LabelsOf<Table[Name]>>[Table[Name]["type"]];
};

/** A gauge that is read at each scrape: one value, or one for each series; undefined while it has none. */
export interface GaugeRow<View> {
  readonly help: string;
  readonly labels?: LabelNames;
  readonly read: (view: View) => number | undefined | readonly GaugeSeries[];
}

export type GaugeSeries = readonly [labels: Readonly<Record<string, string>>, value: number];

export type GaugeTable<View> = Readonly<Record<string, GaugeRow<View>>>;

/** Upper bounds in seconds of histograms, as the Multiarch Tuning Operator has them. */
export const LATENCY_BUCKETS_SECONDS: readonly number[] = [
  ...[0.001, 0.002, 0.005, 0.01, 0.02, 0.05],
  ...[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 2, 4],
];

/** More bounds, up to twice the default of `--max-gate-age`, for times that can be longer than 4 s. */
export const WAIT_BUCKETS_SECONDS: readonly number[] = [...LATENCY_BUCKETS_SECONDS, 8, 15, 30, 60, 120];

/** Registers metrics that are counted as events happen: `openMetrics(registry, TABLE).name_total.inc({ label })`. */
export function openMetrics<const Table extends MetricTable>(registry: Registry, table: Table): MetricsOf<Table> {
  const metrics = Object.entries(table).map(([name, row]) => [name, openMetric(registry, name, row)]);
  // The keys are those of the table, and each value is of its row's type.
  return Object.fromEntries(metrics) as MetricsOf<Table>;
}

function openMetric(registry: Registry, name: string, row: MetricRow): Counter | Gauge | Histogram {
  const { type, help, labels = [], buckets = LATENCY_BUCKETS_SECONDS } = row;
  const values = isNames(labels) ? undefined : labels;
  const options = { name, help, labelNames: isNames(labels) ? labels : Object.keys(labels), registers: [registry] };
  const series = values === undefined ? [] : combine(values);
  if (type === "histogram") {
    const histogram = new Histogram({ ...options, buckets: [...buckets] });
    for (const one of series) histogram.zero(one);
    return histogram;
  }
  const metric = type === "counter" ? new Counter(options) : new Gauge(options);
  for (const one of series) metric.inc(one, 0);
  return metric;
}

/** Registers gauges that are read at a scrape. The returned function sets them and removes the series that are gone. */
export function openGauges<View>(registry: Registry, table: GaugeTable<View>): (view: View) => void {
  const rows = Object.entries(table).map(([name, { help, labels = [], read }]) => {
    const gauge = new Gauge({ name, help, labelNames: [...labels], registers: [registry] });
    return { gauge, read };
  });
  return (view) => {
    for (const { gauge, read } of rows) {
      const value = read(view);
      if (typeof value === "number") {
        gauge.set(value);
        continue;
      }
      if (value === undefined) gauge.remove();
      else gauge.reset();
      for (const [labels, each] of value ?? []) gauge.set({ ...labels }, each);
    }
  };
}

function isNames(labels: LabelNames | LabelValues): labels is LabelNames {
  return Array.isArray(labels);
}

function combine(labels: LabelValues): readonly Readonly<Record<string, string>>[] {
  return Object.entries(labels).reduce<readonly Readonly<Record<string, string>>[]>(
    (all, [label, values]) => all.flatMap((one) => values.map((value) => ({ ...one, [label]: value }))),
    [{}],
  );
}
