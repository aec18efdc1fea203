// What every section of `deno task bench:cluster` is given.
import type { WalkBed } from "../cluster/support/walk_bed.ts";
import type { BenchOptions } from "./cluster_options.ts";
import type { StartContender } from "./contender.ts";
import type { OriginalContender } from "./original.ts";

/** One round of a section. */
export interface BenchRound {
  /** A control plane of its own: the API server's watches become slower with all that was created and deleted before. */
  readonly openBed: () => Promise<WalkBed>;
  readonly options: BenchOptions;
  readonly reference: StartContender<OriginalContender> | undefined;
  readonly tell: (line: string) => void;
  /** 0, 1, … : a section measures one round at a time, and who goes first changes with it. */
  readonly round: number;
  readonly keep: (name: string, value: unknown) => void;
}

export interface Bench extends BenchRound {
  readonly bed: WalkBed;
}
