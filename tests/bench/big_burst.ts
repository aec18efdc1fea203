// B5 and B6 at ten times the pods: does memory stay bounded, and CPU a pod flat?
import { index } from "../cluster/support/walk_bed.ts";
import type { Bench } from "./bench.ts";
import { runBurst } from "./burst.ts";
import { startArchwayContender } from "./contender.ts";
import { readCpuMs, readMemoryMb } from "./process_usage.ts";
import type { Row } from "./table.ts";

/** One burst of the ordinary size and one of ten times that, every pod gated, each by a fresh process. */
export async function benchBigBurst(bench: Bench): Promise<readonly Row[]> {
  const { pods } = bench.options;
  const small = await measure(bench, pods);
  const big = await measure(bench, 10 * pods);
  bench.keep("bigBurst", { small, big });
  return [
    {
      measure: `B5 most memory in a burst of ${10 * pods} gated pods, MB`,
      archway: big.peakMb,
      target: { kind: "atMost", limit: 250 },
    },
    {
      measure: `B6 CPU a gated pod of ${10 * pods}, ms`,
      archway: big.cpuMsPerPod,
      baseline: { name: `of ${pods}`, value: small.cpuMsPerPod },
      target: { kind: "atMostTimesBaseline", factor: 1.2 },
    },
  ];
}

interface Usage {
  readonly totalMs: number;
  readonly cpuMsPerPod: number;
  readonly peakMb: number;
}

async function measure({ bed, tell }: Bench, count: number): Promise<Usage> {
  const image = await bed.push(`bench/big-${count}`, index("amd64", "arm64"));
  await using contender = await startArchwayContender(bed, { args: ["--warm-admission=false"] });
  const pid = contender.archway.pid();
  const beforeMs = await readCpuMs(pid);
  const { totalMs } = await runBurst(bed.controlPlane, { image, count });
  const usage = {
    totalMs,
    cpuMsPerPod: (await readCpuMs(pid) - beforeMs) / count,
    peakMb: await readMemoryMb(pid, "VmHWM"),
  };
  tell(
    `burst of ${count}: ${totalMs.toFixed(0)} ms, ${usage.cpuMsPerPod.toFixed(2)} ms CPU a pod, ${
      usage.peakMb.toFixed(0)
    } MB`,
  );
  return usage;
}
