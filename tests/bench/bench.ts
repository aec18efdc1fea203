// What every section of `deno task bench:cluster` is given.
import type { WalkBed } from "../cluster/support/walk_bed.ts";
import type { BenchOptions } from "./cluster_options.ts";
import type { StartContender } from "./contender.ts";
import type { OriginalContender } from "./original.ts";

/** The bed they share, and where their words and raw numbers go. */
export interface Bench {
  readonly bed: WalkBed;
  readonly options: BenchOptions;
  /** Starts the operator to compare with, when one was given. */
  readonly reference: StartContender<OriginalContender> | undefined;
  readonly tell: (line: string) => void;
  /** 0, 1, … : a section measures one round at a time, and who goes first changes with it. */
  readonly round: number;
  /** Keeps raw numbers of this round for the results file. */
  readonly keep: (name: string, value: unknown) => void;
}
