// The growth results as a table: a row for each point that was measured. Pure.
import { nameOf } from "./growth_axes.ts";
import type { GrowthResult } from "./growth_point.ts";
import type { MachineFacts } from "./machine.ts";

export type GrowthEntry = GrowthResult & { readonly machine: MachineFacts };

export const COLUMNS = [
  ...["Point", "CPU ms a pod (≤ 2.2)", "Met", "ms an image", "Idle MB", "Most MB (≤ 250)", "Met"],
  ...["Writes", "Events", "Reads", "Watched KB", "Gate p50 ms"],
];

export function cellsOf(result: GrowthResult): readonly string[] {
  return [
    nameOf(result.point),
    ...[result.cpuMsPerPod.toFixed(2), met(result.cpuMsPerPod, 2.2), result.cpuMsPerImage.toFixed(2)],
    ...[result.idleMb.toFixed(0), result.peakMb.toFixed(0), met(result.peakMb, 250)],
    ...[result.writesPerPod.toFixed(2), result.eventsPerPod.toFixed(2), String(result.reads)],
    ...[(result.watchedBytesPerPod / 1_024).toFixed(1), result.gateP50Ms.toFixed(0)],
  ];
}

function met(measured: number, limit: number): string {
  return measured <= limit ? "yes" : "**no**";
}
