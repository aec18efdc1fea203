// The arguments of `deno task bench:cluster`. Pure.
import { parseArgs } from "node:util";

/** Targets of the protocol that `--only` may name. */
export const MEASURES = ["B1", "B2", "B3", "B4", "B5", "B6", "B7", "B8", "U1"] as const;

export type Measure = (typeof MEASURES)[number];

export interface BenchOptions {
  readonly only: readonly Measure[];
  /** Pods of an ordinary burst; B5 and B6 also take ten times as many. */
  readonly pods: number;
  readonly rounds: number;
  /** Grows with each run; short runs have one of their own, so that they spoil no figures. */
  readonly resultsFile: string;
  /** How long a registry fails in the B8 rows. */
  readonly faultMs: number;
  readonly loadMs: number;
  readonly idleConnections: number;
  /** The cluster of the U1 rows, and how long a plan waits there (ms). */
  readonly upgrades: { readonly nodes: number; readonly pools: number; readonly idleMs: number };
  /** Images of the 429 row, and of the B4 rows. */
  readonly images: number;
  readonly mto: string | undefined;
}

export const USAGE = `deno task bench:cluster [options]
  --only B2,B4              measure these alone (${MEASURES.join(", ")}); the results file keeps the others
  --pods N                  pods of a burst (1000); B5 and B6 also take ten times as many
  --rounds N                rounds of what is compared (3); medians are shown
  --short                   small numbers everywhere: proves that it runs, measures nothing worth telling
  --mto DIR                 run B1 (unknown images), B2, B3 and, in its first round, B8 with the Multiarch Tuning Operator
                            too, built by Go from a copy of its repository
`;

export function parseBenchOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: "string", multiple: true, default: [] },
      pods: { type: "string" },
      rounds: { type: "string" },
      short: { type: "boolean", default: false },
      mto: { type: "string" },
    },
  });
  const size = values.short
    ? {
      pods: 20,
      rounds: 1,
      faultMs: 1_000,
      loadMs: 200,
      idleConnections: 20,
      images: 5,
      upgrades: { nodes: 6, pools: 3, idleMs: 5_000 },
      resultsFile: ".archway/bench-cluster-short.json",
    }
    : {
      pods: 1_000,
      rounds: 3,
      faultMs: 30_000,
      loadMs: 3_000,
      idleConnections: 1_000,
      images: 50,
      upgrades: { nodes: 499, pools: 50, idleMs: 120_000 },
      resultsFile: new URL("./results/cluster.json", import.meta.url).pathname,
    };
  return {
    ...size,
    only: parseOnly(values.only.flatMap((text) => text.split(","))),
    pods: parseCount("--pods", values.pods) ?? size.pods,
    rounds: parseCount("--rounds", values.rounds) ?? size.rounds,
    mto: values.mto,
  };
}

function parseOnly(names: readonly string[]): readonly Measure[] {
  const chosen = MEASURES.filter((measure) => names.includes(measure));
  if (chosen.length !== new Set(names).size) {
    throw new Error(`Cannot measure "${names}": --only takes ${MEASURES.join(", ")}, with commas between them.`);
  }
  return chosen.length === 0 ? MEASURES : chosen;
}

/** A whole number from 1 on; undefined stays. */
export function parseCount(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d*$/.test(text)) throw new Error(`Cannot use ${name} "${text}": not a whole number from 1 on.`);
  return Number(text);
}
