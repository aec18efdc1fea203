// What a replica holds now: memory, descriptors, and how late its event loop has been.
import { readMemoryMb } from "../bench/process_usage.ts";
import type { Archway } from "../cluster/support/archway.ts";

export interface ProcessSample {
  /** `performance.now()` of the look. */
  readonly atMs: number;
  readonly pid: number;
  readonly rssMb: number;
  readonly descriptors: number;
}

/** Looks at a running replica. Linux only. */
export async function sampleProcess(replica: Archway): Promise<ProcessSample> {
  const pid = replica.pid();
  const descriptors = await Array.fromAsync(Deno.readDir(`/proc/${pid}/fd`));
  return {
    atMs: performance.now(),
    pid,
    rssMb: await readMemoryMb(pid),
    descriptors: descriptors.length,
  };
}

/** Upper bound (ms) of the 99th percentile of the event loop's delay since the process started; Infinity beyond all buckets. */
export async function eventLoopP99Ms(replica: Archway): Promise<number> {
  const text = await replica.metrics();
  const buckets = [...text.matchAll(/^archway_event_loop_delay_seconds_bucket\{le="([^"]+)"\} (\d+)/gm)];
  const total = Number(buckets.at(-1)?.[2] ?? 0);
  const reached = buckets.find(([, , count]) => Number(count) >= 0.99 * total);
  return Number((reached?.[1] ?? "").replace("+Inf", "Infinity")) * 1_000;
}

/** First, last and highest of a row of numbers, and how much the end of the row lies above its beginning. */
export interface Course {
  readonly first: number;
  readonly last: number;
  readonly peak: number;
  readonly growth: number;
}

/**
 * The course of a row of samples; NaN of an empty one. Growth compares the lowest of the last quarter with the lowest of the
 * first: caches and idle connections come and go, and what leaks does not go.
 */
export function courseOf(numbers: readonly number[]): Course {
  const quarter = Math.max(1, Math.floor(numbers.length / 4));
  return {
    first: numbers[0] ?? NaN,
    last: numbers.at(-1) ?? NaN,
    peak: Math.max(...numbers),
    growth: Math.min(...numbers.slice(-quarter)) - Math.min(...numbers.slice(0, quarter)),
  };
}
