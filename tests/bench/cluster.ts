// `deno task bench:cluster`: bursts of pods on a real control plane with a real registry behind a counting proxy, and the
// floors they are compared with, alternating in one run: B2, B3, B4, B5, B6, B7 of the benchmark protocol.
// Prints one table and writes `.archway/bench-cluster.json`. `--pods N` (default 1000), `--rounds N` (default 2).
import { parseArgs } from "node:util";
import { renderTable } from "../../lib/cli/output.ts";
import { SCHEDULING_GATE } from "../../lib/names.ts";
import { type Archway, disablePlacement, enablePlacement } from "../cluster/support/archway.ts";
import type { ClusterAccess } from "../cluster/support/cluster_access.ts";
import { waitUntil } from "../cluster/support/wait.ts";
import { index, openWalkBed, type WalkBed } from "../cluster/support/walk_bed.ts";
import { startNoPatchWebhook } from "./no_patch_webhook.ts";
import { runPatcher } from "./patcher.ts";
import { watchBurst } from "./watch_burst.ts";

const { values } = parseArgs({
  args: [...Deno.args],
  options: { pods: { type: "string", default: "1000" }, rounds: { type: "string", default: "2" } },
});
const PODS = Number(values.pods);
const ROUNDS = Number(values.rounds);
const CREATORS = 32;

function print(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${text}\n`));
}

/** How a burst went. Times in ms; gate times are from the answer to the creation until the release is seen. */
interface Burst {
  readonly totalMs: number;
  readonly gateP50Ms: number;
  readonly gateP99Ms: number;
  readonly gated: number;
}

async function burst(
  cluster: ClusterAccess,
  pod: { readonly image: string; readonly gates?: readonly string[]; readonly count?: number },
): Promise<Burst> {
  const { image, gates = [], count = PODS } = pod;
  const namespace = await cluster.createNamespace("burst");
  await using watch = await watchBurst(cluster, namespace);
  const startedMs = performance.now();
  const numbers = Array.from({ length: count }, (_, number) => number).values();
  await Promise.all(Array.from({ length: CREATORS }, async () => {
    for (const number of numbers) {
      const name = `pod-${number}`;
      const answer = await cluster.request("POST", `/api/v1/namespaces/${namespace}/pods`, {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name, labels: gates.length === 0 ? {} : { "bench/gated": "yes" } },
        spec: { containers: [{ name: "main", image }], schedulingGates: gates.map((gate) => ({ name: gate })) },
      });
      if (answer.status !== 201) throw new Error(`Cannot create ${name}: ${JSON.stringify(answer.body)}`);
      watch.created(name);
    }
  }));
  await waitUntil("all pods to be released", () => watch.released() >= count, { deadlineMs: 300_000, intervalMs: 5 });
  const totalMs = performance.now() - startedMs;
  const waits = [...watch.gateTimesMs()].sort((left, right) => left - right);
  const at = (share: number): number => waits[Math.min(waits.length - 1, Math.floor(waits.length * share))] ?? 0;
  const result = { totalMs, gateP50Ms: at(0.5), gateP99Ms: at(0.99), gated: waits.length };
  await cluster.request("DELETE", `/api/v1/namespaces/${namespace}/pods?gracePeriodSeconds=0`);
  await cluster.request("DELETE", `/api/v1/namespaces/${namespace}`);
  return result;
}

async function cpuSeconds(archway: Archway): Promise<number> {
  const stat = await Deno.readTextFile(`/proc/${archway.pid()}/stat`);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function residentMb(archway: Archway): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${archway.pid()}/status`);
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? NaN) / 1024;
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((left, right) => left - right)[Math.floor(numbers.length / 2)] ?? NaN;
}

interface Row {
  readonly measure: string;
  readonly value: number;
  readonly floor: number | undefined;
  readonly target: string;
  readonly isMet: boolean;
}

const bursts = new Map<string, Burst[]>();
const note = (name: string, result: Burst): void => {
  bursts.set(name, [...bursts.get(name) ?? [], result]);
  print(
    `${name}: ${Math.round(result.totalMs)} ms, ${result.gated} gated, gate p50 ${Math.round(result.gateP50Ms)} ms, ` +
      `p99 ${Math.round(result.gateP99Ms)} ms`,
  );
};

async function runFloors(bed: WalkBed): Promise<void> {
  const { controlPlane } = bed;
  const image = `${bed.proxy.host}/bench/never:v1`;
  note("no webhook", await burst(controlPlane, { image }));
  {
    await using _webhook = await startNoPatchWebhook(controlPlane);
    note("no-patch webhook", await burst(controlPlane, { image }));
  }
  const stop = new AbortController();
  const patching = runPatcher(controlPlane, { workers: 16, signal: stop.signal });
  note("patcher", await burst(controlPlane, { image, gates: [SCHEDULING_GATE] }));
  stop.abort();
  await patching;
}

await Deno.mkdir(".archway", { recursive: true });
await using bed = await openWalkBed();
const rows: Row[] = [];
const starts: number[] = [];
const memory: number[] = [];
const cpu: number[] = [];
const requests: number[] = [];
for (let round = 0; round < ROUNDS; round++) {
  await runFloors(bed);
  const image = await bed.push(`bench/app-${round}`, index("amd64", "arm64", "ppc64le", "s390x"));
  const startedMs = performance.now();
  const archway = await bed.startReplica({ name: `bench-${round}` });
  starts.push(performance.now() - startedMs);
  await enablePlacement(bed.controlPlane);
  await waitUntil("it to lead and gate", async () => await archway.metric("archway_gating") === 1);
  memory.push(await residentMb(archway));
  bed.proxy.reset();
  const before = await cpuSeconds(archway);
  note("archway, cold image", await burst(bed.controlPlane, { image }));
  cpu.push((await cpuSeconds(archway) - before) * 1_000 / PODS);
  requests.push(bed.proxy.counts().manifestGet);
  note("archway, warm image", await burst(bed.controlPlane, { image }));
  print(`memory after two bursts: ${Math.round(await residentMb(archway))} MB`);
  await disablePlacement(bed.controlPlane);
  await archway.stop();
}

const of = (name: string, read: (burst: Burst) => number): number => median((bursts.get(name) ?? []).map(read));
const total = (name: string): number => of(name, ({ totalMs }) => totalMs);
const cold = "archway, cold image";
const add = (
  measure: string,
  value: number,
  options: { readonly floor?: number; readonly target: string; readonly isMet: boolean },
): void => {
  rows.push({ measure, value, floor: options.floor, target: options.target, isMet: options.isMet });
};
const p50 = (name: string): number => of(name, ({ gateP50Ms }) => gateP50Ms);
add("B2 burst, cold image, total ms", total(cold), {
  floor: total("patcher"),
  target: "≤ 1.3 × patcher",
  isMet: total(cold) <= 1.3 * total("patcher"),
});
add("B2 gate p50 ms", p50(cold), {
  floor: p50("patcher"),
  target: "≤ 0.5 × patcher",
  isMet: p50(cold) <= 0.5 * p50("patcher"),
});
add("B3 burst, warm image, total ms", total("archway, warm image"), {
  floor: total("no-patch webhook"),
  target: "≤ 1.15 × no-patch webhook",
  isMet: total("archway, warm image") <= 1.15 * total("no-patch webhook"),
});
add("B3 pods gated of a warm image", of("archway, warm image", ({ gated }) => gated), {
  target: "0",
  isMet: of("archway, warm image", ({ gated }) => gated) === 0,
});
add("B4 manifest GETs for a burst of one cold image", median(requests), { target: "1", isMet: median(requests) === 1 });
add("B5 idle memory, MB", median(memory), { target: "≤ 100", isMet: median(memory) <= 100 });
add("B6 CPU a pod, ms", median(cpu), { target: "≤ 2", isMet: median(cpu) <= 2 });
add("B7 start to ready, ms", median(starts), { target: "≤ 700", isMet: median(starts) <= 700 });
print("");
print(renderTable(
  ["MEASURE", "ARCHWAY", "FLOOR", "RATIO", "TARGET", "MET"],
  rows.map(({ measure, value, floor, target, isMet }) => [
    measure,
    value.toFixed(value < 10 ? 2 : 0),
    floor === undefined ? "-" : floor.toFixed(0),
    floor === undefined ? "-" : (value / floor).toFixed(2),
    target,
    isMet ? "yes" : "no",
  ]),
));
const machine = {
  cpus: navigator.hardwareConcurrency,
  deno: Deno.version.deno,
  os: Deno.build.os,
  arch: Deno.build.arch,
};
await Deno.writeTextFile(
  ".archway/bench-cluster.json",
  `${JSON.stringify({ machine, pods: PODS, rows, bursts: Object.fromEntries(bursts) }, null, 2)}\n`,
);
