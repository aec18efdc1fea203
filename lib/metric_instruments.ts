// How metrics are made, so that all series of a counter whose labels are known are there at zero from the start.
import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** Upper bounds in seconds of histograms, as the MTO has them. */
export const LATENCY_BUCKETS_SECONDS: readonly number[] = [
  0.001,
  0.002,
  0.005,
  0.01,
  0.02,
  0.05,
  0.1,
  0.2,
  0.3,
  0.4,
  0.5,
  0.6,
  0.7,
  0.8,
  0.9,
  1,
  2,
  4,
];

/** The same, and further up to twice the default of `--max-gate-age`: for what can take longer than 4 s. */
export const WAIT_BUCKETS_SECONDS: readonly number[] = [...LATENCY_BUCKETS_SECONDS, 8, 15, 30, 60, 120];

/** Makers of metrics that register in one registry. */
export interface Instruments {
  /** With {@link LATENCY_BUCKETS_SECONDS} where no bounds are given. */
  histogram(name: string, help: string, buckets?: readonly number[]): Histogram;
  /** With labels its series appear as they are counted. */
  counter<L extends string = never>(name: string, help: string, labelNames?: readonly L[]): Counter<L>;
  /** With labels, and all that each can be: every combination is there at zero. */
  labelled<L extends string>(name: string, help: string, labels: Readonly<Record<L, readonly string[]>>): Counter<L>;
  gauge<L extends string = never>(name: string, help: string, labelNames?: readonly L[]): Gauge<L>;
}

/** Makers for a registry. */
export function instrumentsOf(registry: Registry): Instruments {
  const registers = [registry];
  return {
    histogram: (name, help, buckets = LATENCY_BUCKETS_SECONDS) =>
      new Histogram({ name, help, buckets: [...buckets], registers }),
    counter: (name, help, labelNames = []) => new Counter({ name, help, labelNames: [...labelNames], registers }),
    labelled: (name, help, labels) => {
      const counter = new Counter({ name, help, labelNames: Object.keys(labels), registers });
      for (const combination of combine(labels)) counter.inc(combination, 0);
      return counter;
    },
    gauge: (name, help, labelNames = []) => new Gauge({ name, help, labelNames: [...labelNames], registers }),
  };
}

/** Every combination of the labels' values. */
function combine(labels: Readonly<Record<string, readonly string[]>>): readonly Readonly<Record<string, string>>[] {
  return Object.entries(labels).reduce<readonly Readonly<Record<string, string>>[]>(
    (all, [label, values]) => all.flatMap((one) => values.map((value) => ({ ...one, [label]: value }))),
    [{}],
  );
}
