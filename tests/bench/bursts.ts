// B2, B3 and B7: bursts of pods of a cold and of a warm image beside their floors, in alternating order.
import { SCHEDULING_GATE } from "../../lib/names.ts";
import { renderJsonBody } from "../../lib/k8s/patch.ts";
import { admit, platformsFact, rawPod } from "../lib/placement/decide/make.ts";
import { index } from "../cluster/support/walk_bed.ts";
import type { Bench, BenchRound } from "./bench.ts";
import { type Burst, runBurst } from "./burst.ts";
import { startConstantWebhook } from "./constant_webhook.ts";
import { startArchwayContender, type StartContender } from "./contender.ts";
import { startPatcher } from "./patcher.ts";
import { readCpuMs } from "./process_usage.ts";
import { Samples } from "./statistics.ts";
import { atMost, NEVER, NO_TARGET, type Row, rowOf } from "./table.ts";

/** Gates every pod, as where no image is known yet: without it only the first pods of a cold burst are gated. */
const GATE_ALWAYS = "--warm-admission=false";
const ARCHITECTURES = ["amd64", "arm64", "ppc64le", "s390x"];
/** The patcher's pods. */
const labels = { "bench/gated": "yes" };

/** What gates, or places, at admission and does nothing else: Archway's answers for one pod, and the patcher. */
const [GATER, PLACER] = ["constant gate and patcher", "constant patch"];
const GATE = renderJsonBody(admit(rawPod({}, { labels })).patch);
const PLATFORMS = ARCHITECTURES.map((architecture) => ({ os: "linux", architecture }));
const PLACE = renderJsonBody(admit(rawPod(), { known: [platformsFact("multi", PLATFORMS)] }).patch);

export async function benchBursts(bench: BenchRound): Promise<readonly Row[]> {
  const { reference, round } = bench;
  const samples = new Samples();
  const steps: readonly ((run: BurstRun) => Promise<void>)[] = [
    (run) => run.webhookFloors(),
    (run) => run.patcher(),
    (run) => run.gater(),
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

  /** The floors of a warm image come after another burst, as Archway's warm one does. */
  async webhookFloors(): Promise<void> {
    const image = this.#neverPushed();
    await this.#burst("no webhook", { image });
    for (const [name, patch] of [["no patch", ""], [PLACER, PLACE]] as const) {
      await using _webhook = await startConstantWebhook(this.#bench.bed.controlPlane, patch);
      await this.#burst(name, { image });
    }
  }

  async patcher(): Promise<void> {
    await using _patcher = await startPatcher(this.#bench.bed.controlPlane, 16);
    await this.#burst("patcher", { image: this.#neverPushed(), pod: { gates: [SCHEDULING_GATE], labels } });
  }

  async gater(): Promise<void> {
    const { controlPlane } = this.#bench.bed;
    await using _webhook = await startConstantWebhook(controlPlane, GATE);
    await using _patcher = await startPatcher(controlPlane, 16);
    const { gated } = await this.#burst(GATER, { image: this.#neverPushed(), pod: { labels } });
    if (gated < this.#bench.options.pods) throw new Error(`Cannot measure: its webhook gated ${gated} pods only.`);
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
    return this.#bench.bed.push(`bench/${name}`, index(...ARCHITECTURES));
  }

  async #burst(name: string, plan: Pick<Parameters<typeof runBurst>[1], "image" | "pod">): Promise<Burst> {
    const { bed, options, tell } = this.#bench;
    const burst = await runBurst(bed.controlPlane, { ...plan, count: options.pods });
    for (const [key, value] of Object.entries(burst)) this.#samples.add(`${name} ${key}`, value);
    const { totalMs, gated, gateP50Ms, gateP99Ms } = burst;
    const gates = `${gated} gated, gate p50 ${gateP50Ms.toFixed(0)} ms, p99 ${gateP99Ms.toFixed(0)} ms`;
    tell(`${name}: ${totalMs.toFixed(0)} ms, ${gates}`);
    return burst;
  }
}

function rowsOf(
  samples: Samples,
  { pods, hasReference }: { readonly pods: number; readonly hasReference: boolean },
): readonly Row[] {
  const of = (name: string): number => samples.median(name);
  const times = (factor: number): Row["target"] => ({ kind: "atMostTimesBaseline", factor });
  const reference = (name: string): Pick<Row, "reference"> =>
    hasReference ? { reference: of(`reference ${name}`) } : {};
  const beside = (measure: string, [burst, key, floor]: readonly [string, string, string], target = NO_TARGET): Row => (
    { ...rowOf(measure, of(`${burst} ${key}`), target), baseline: { name: floor, value: of(`${floor} ${key}`) } }
  );
  const gated = `B2 burst of a cold image, every pod gated (${GATE_ALWAYS}), ms`;
  const asInstalled = "B2 the same as installed: only the first pods are gated, ms";
  return [
    beside(gated, ["gated", "totalMs", "patcher"], times(1.2)),
    beside("B2 its gate p50, ms", ["gated", "gateP50Ms", "patcher"], times(0.25)),
    beside("B2 the same burst, ms", ["gated", "totalMs", GATER]),
    beside("B2 the same p50, ms", ["gated", "gateP50Ms", GATER]),
    { ...beside(asInstalled, ["cold", "totalMs", "patcher"]), ...reference("cold totalMs") },
    rowOf("B2 pods gated of it", of("cold gated"), NO_TARGET),
    {
      ...beside("B3 burst of a warm image, ms", ["warm", "totalMs", "no patch"], times(1.15)),
      ...reference("warm totalMs"),
    },
    beside("B3 the same burst, ms", ["warm", "totalMs", PLACER]),
    { ...rowOf("B3 pods gated of a warm image", of("warm gated"), NEVER), ...reference("warm gated") },
    rowOf("B3 CPU a warm pod, until its burst has gone, ms", of("warm cpuMs") / pods, atMost(0.9)),
    rowOf("B7 start to ready, ms", of("start ms"), atMost(700)),
  ];
}
