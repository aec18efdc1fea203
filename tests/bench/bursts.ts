// B2, B3 and B7: bursts of pods of a cold and of a warm image beside their floors, in alternating order.
import { SCHEDULING_GATE } from "../../lib/names.ts";
import { index } from "../cluster/support/walk_bed.ts";
import type { Bench, BenchRound } from "./bench.ts";
import { type Burst, runBurst } from "./burst.ts";
import { startArchwayContender, type StartContender } from "./contender.ts";
import { startNoPatchWebhook } from "./no_patch_webhook.ts";
import { startPatcher } from "./patcher.ts";
import { readCpuMs } from "./process_usage.ts";
import { Samples } from "./statistics.ts";
import { atMost, NEVER, NO_TARGET, type Row, rowOf } from "./table.ts";

/** Gates every pod, as where no image is known yet: without it only the first pods of a cold burst are gated. */
const GATE_ALWAYS = "--warm-admission=false";
/** A patcher with as many workers as Archway has. */
const EQUAL_PATCHER = "patcher of 64 workers";

export async function benchBursts(bench: BenchRound): Promise<readonly Row[]> {
  const { reference, round } = bench;
  const samples = new Samples();
  const steps: readonly ((run: BurstRun) => Promise<void>)[] = [
    (run) => run.webhookFloors(),
    (run) => run.patcher("patcher", 16),
    (run) => run.patcher(EQUAL_PATCHER, 64),
    (run) => run.archway(round),
    (run) => run.archwayGatingAlways(round),
    ...(reference === undefined ? [] : [(run: BurstRun) => run.reference(reference, round)]),
  ];
  // Who goes first changes, so that a machine that slows down is fair to all.
  for (const step of round % 2 === 0 ? steps : steps.toReversed()) {
    await using bed = await bench.openBed();
    await step(new BurstRun({ ...bench, bed }, samples));
  }
  bench.keep("bursts", samples);
  return rowsOf(samples, { pods: bench.options.pods, hasReference: reference !== undefined });
}

class BurstRun {
  readonly #bench: Bench;
  readonly #samples: Samples;

  constructor(bench: Bench, samples: Samples) {
    this.#bench = bench;
    this.#samples = samples;
  }

  /** The second of two bursts is the floor of a warm image, as the second of Archway's is warm. */
  async webhookFloors(): Promise<void> {
    const image = this.#neverPushed();
    await this.#burst("no webhook", { image });
    await using _webhook = await startNoPatchWebhook(this.#bench.bed.controlPlane);
    await this.#burst("no-patch webhook", { image });
  }

  async patcher(name: string, workers: number): Promise<void> {
    await using _patcher = await startPatcher(this.#bench.bed.controlPlane, workers);
    const pod = { gates: [SCHEDULING_GATE], labels: { "bench/gated": "yes" } };
    await this.#burst(name, { image: this.#neverPushed(), pod });
  }

  /** As it is installed: the image is learnt during the first burst and known in the second. */
  async archway(round: number): Promise<void> {
    const image = await this.#pushImage(`installed-${round}`);
    await using contender = await startArchwayContender(this.#bench.bed);
    const { archway } = contender;
    await this.#burst("cold", { image });
    const before = await readCpuMs(archway.pid());
    await this.#burst("warm", { image });
    this.#samples.add("warm cpuMs", await readCpuMs(archway.pid()) - before);
    await archway.stop();
    const startedMs = performance.now();
    await archway.restart();
    this.#samples.add("start ms", performance.now() - startedMs);
  }

  async archwayGatingAlways(round: number): Promise<void> {
    const image = await this.#pushImage(`gated-${round}`);
    await using _contender = await startArchwayContender(this.#bench.bed, { args: [GATE_ALWAYS] });
    await this.#burst("gated", { image });
  }

  async reference(start: StartContender, round: number): Promise<void> {
    const image = await this.#pushImage(`reference-${round}`);
    await using _contender = await start(this.#bench.bed);
    await this.#burst("reference cold", { image });
    await this.#burst("reference warm", { image });
  }

  #neverPushed(): string {
    return `${this.#bench.bed.proxy.host}/bench/never:v1`;
  }

  #pushImage(name: string): Promise<string> {
    return this.#bench.bed.push(`bench/${name}`, index("amd64", "arm64", "ppc64le", "s390x"));
  }

  async #burst(name: string, plan: Pick<Parameters<typeof runBurst>[1], "image" | "pod">): Promise<void> {
    const { bed, options, tell } = this.#bench;
    const burst: Burst = await runBurst(bed.controlPlane, { ...plan, count: options.pods });
    for (const [key, value] of Object.entries(burst)) this.#samples.add(`${name} ${key}`, value);
    const { totalMs, gated, gateP50Ms, gateP99Ms } = burst;
    const gates = `${gated} gated, gate p50 ${gateP50Ms.toFixed(0)} ms, p99 ${gateP99Ms.toFixed(0)} ms`;
    tell(`${name}: ${totalMs.toFixed(0)} ms, ${gates}`);
  }
}

function rowsOf(
  samples: Samples,
  { pods, hasReference }: { readonly pods: number; readonly hasReference: boolean },
): readonly Row[] {
  const of = (name: string): number => samples.median(name);
  const beside = (name: string, key: string): Required<Pick<Row, "baseline">> => (
    { baseline: { name, value: of(`${name} ${key}`) } }
  );
  const times = (factor: number): Row["target"] => ({ kind: "atMostTimesBaseline", factor });
  const gatedBurst = `B2 burst of a cold image, every pod gated (${GATE_ALWAYS}), ms`;
  const asInstalled = "B2 the same as installed: only the first pods are gated, ms";
  const [warm, noPatch] = ["B3 burst of a warm image, ms", beside("no-patch webhook", "totalMs")];
  const reference = (name: string): Pick<Row, "reference"> =>
    hasReference ? { reference: of(`reference ${name}`) } : {};
  return [
    { ...rowOf(gatedBurst, of("gated totalMs"), times(1.2)), ...beside("patcher", "totalMs") },
    { ...rowOf("B2 its gate p50, ms", of("gated gateP50Ms"), times(0.25)), ...beside("patcher", "gateP50Ms") },
    { ...rowOf("B2 the same p50, ms", of("gated gateP50Ms"), NO_TARGET), ...beside(EQUAL_PATCHER, "gateP50Ms") },
    {
      ...rowOf(asInstalled, of("cold totalMs"), NO_TARGET),
      ...beside("patcher", "totalMs"),
      ...reference("cold totalMs"),
    },
    rowOf("B2 pods gated of it", of("cold gated"), NO_TARGET),
    { ...rowOf(warm, of("warm totalMs"), times(1.15)), ...noPatch, ...reference("warm totalMs") },
    { ...rowOf("B3 pods gated of a warm image", of("warm gated"), NEVER), ...reference("warm gated") },
    rowOf("B3 CPU a warm pod, until its burst has gone, ms", of("warm cpuMs") / pods, atMost(0.9)),
    rowOf("B7 start to ready, ms", of("start ms"), atMost(700)),
  ];
}
