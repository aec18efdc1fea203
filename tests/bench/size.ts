// B5 and B6: memory idle and at its most, and CPU a gated pod, in a burst and in one of ten times the pods.
import type { Bench } from "./bench.ts";
import { pointAt } from "./growth_axes.ts";
import { type GrowthResult, measureGrowth } from "./growth_point.ts";
import { atMost, NEVER, type Row, rowOf } from "./table.ts";

export async function benchSize({ options: { pods }, tell, keep }: Bench): Promise<readonly Row[]> {
  const measure = async (count: number): Promise<GrowthResult> => {
    const result = await measureGrowth(pointAt("pods", count));
    const { burstMs, cpuMsPerPod, peakMb } = result;
    tell(
      `${count} gated pods: ${burstMs.toFixed(0)} ms, ${cpuMsPerPod.toFixed(2)} ms CPU a pod, ${peakMb.toFixed(0)} MB`,
    );
    return result;
  };
  const small = await measure(pods);
  const big = await measure(10 * pods);
  keep("size", { small, big });
  return [
    rowOf("B5 memory, idle, MB", small.idleMb, atMost(90)),
    rowOf(`B5 most memory, ${10 * pods} gated pods, MB`, big.peakMb, atMost(250)),
    rowOf(`B6 CPU a gated pod of ${pods}, ms`, small.cpuMsPerPod, atMost(2.2)),
    {
      measure: `B6 CPU a gated pod of ${10 * pods}, ms`,
      archway: big.cpuMsPerPod,
      baseline: { name: `of ${pods}`, value: small.cpuMsPerPod },
      target: { kind: "atMostTimesBaseline", factor: 1.2 },
    },
    // A pod whose events are dropped costs less: the row above counts only while this one holds.
    rowOf(`B6 events dropped of ${10 * pods} gated pods`, big.eventsDropped, NEVER),
  ];
}
