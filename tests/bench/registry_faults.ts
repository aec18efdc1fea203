// B8: registries that fail for a while or ask for patience: pods placed wrongly, pods stuck, time to recover, requests.
import { enablePlacement } from "../cluster/support/archway.ts";
import type { Fault } from "../cluster/support/fault_plan.ts";
import {
  createPods,
  isScheduled,
  listNodeArchitectures,
  listPods,
  type PodOutcome,
  podsOf,
} from "../cluster/support/pods.ts";
import { pause, waitUntil } from "../cluster/support/wait.ts";
import { index } from "../cluster/support/walk_bed.ts";
import type { Bench } from "./bench.ts";
import { removeNamespace } from "./burst.ts";
import { startArchwayContender, type StartContender } from "./contender.ts";
import { atMost, NEVER, NO_TARGET, type Row, rowOf, type Target } from "./table.ts";

/** A pod that is not placed so long after everything works again is stuck. */
const STUCK_MS = 60_000;
const IMAGES_UNDER_FAULT = 10;
/** Who is placed here without being known to run here is misplaced: every image is for arm64 alone. */
const SPEC: Parameters<typeof enablePlacement>[1] = { fallbackArchitecture: "amd64" };

const FAULTS: readonly (readonly [name: string, fault: Fault])[] = [
  ["500s", { kind: "status", status: 500 }],
  ["resets", { kind: "reset" }],
  ["a black hole", { kind: "blackHole" }],
];

export async function benchRegistryFaults(bench: Bench): Promise<readonly Row[]> {
  const archway = await measure(bench, (bed, spec) => startArchwayContender(bed, { spec }));
  // Its pods wait until they count as stuck: four minutes more a round, for the same answer.
  const isFirst = bench.round === 0;
  const reference = isFirst && bench.reference !== undefined ? await measure(bench, bench.reference) : undefined;
  bench.keep("registryFaults", { archway, reference });
  const seconds = bench.options.faultMs / 1_000;
  const row = (measure: string, target: Target, read: (found: Found) => number): Row => ({
    ...rowOf(`B8 ${measure}`, read(archway), target),
    ...(reference === undefined ? {} : { reference: read(reference) }),
  });
  const patience = (key: keyof Found["patience"]) => (found: Found): number => found.patience[key];
  return [
    row("30 % 429: requests an image", atMost(1.6), patience("requestsPerImage")),
    row("30 % 429: s until all placed", NO_TARGET, patience("seconds")),
    row("30 % 429: pods misplaced", NEVER, patience("misplaced")),
    row("30 % 429: pods stuck", NEVER, patience("stuck")),
    ...FAULTS.flatMap(([name], at) => {
      const read = (key: keyof Recovery) => ({ recoveries }: Found): number => recoveries[at]?.[key] ?? NaN;
      const during = `${name} for ${seconds} s`;
      return [
        row(`${during}: pods misplaced`, NEVER, read("misplaced")),
        row(`${during}: pods stuck`, NEVER, read("stuck")),
        row(`${during}: s from its end until all placed`, atMost(10), read("seconds")),
        row(`${during}: s from its beginning`, NO_TARGET, (found) => seconds + read("seconds")(found)),
      ];
    }),
  ];
}

/** How pods fared; `seconds` from the end of the fault (or, without an end, from the first creation). */
interface Recovery {
  readonly misplaced: number;
  readonly stuck: number;
  readonly seconds: number;
}

interface Found {
  readonly patience: Recovery & { readonly requestsPerImage: number };
  readonly recoveries: readonly Recovery[];
}

async function measure(bench: Bench, start: StartContender): Promise<Found> {
  await using contender = await start(bench.bed, SPEC);
  const patience = await askForPatience(bench, contender.name);
  const recoveries: Recovery[] = [];
  for (const [number, [name, fault]] of FAULTS.entries()) {
    const recovery = await failForAWhile(bench, { fault, prefix: `faults/${contender.name}-${bench.round}-${number}` });
    bench.tell(`${contender.name}, ${name}: ${JSON.stringify(recovery)}`);
    recoveries.push(recovery);
  }
  return { patience, recoveries };
}

/** Two pods an image while 30 % of the answers are 429 with `Retry-After: 1`. */
async function askForPatience({ bed, options, round, tell }: Bench, contender: string): Promise<Found["patience"]> {
  const images = await pushImages(bed, { prefix: `patience/${contender}-${round}`, count: options.images });
  bed.proxy.reset();
  bed.proxy.setFaults([{ fault: { kind: "status", status: 429, retryAfterSeconds: 1 }, fraction: 0.3 }]);
  const namespace = await createPodsOf(bed, { images, count: 2 * images.length });
  const recovery = await awaitRecovery(bed, namespace, 2 * images.length);
  bed.proxy.setFaults([]);
  const requestsPerImage = bed.proxy.requests().length / images.length;
  tell(`${contender}, 30 % 429: ${JSON.stringify({ requestsPerImage, ...recovery })}`);
  return { ...recovery, requestsPerImage };
}

async function failForAWhile(
  { bed, options }: Bench,
  { fault, prefix }: { readonly fault: Fault; readonly prefix: string },
): Promise<Recovery> {
  const images = await pushImages(bed, { prefix, count: Math.min(IMAGES_UNDER_FAULT, options.images) });
  const count = 5 * images.length;
  bed.proxy.setFaults([{ fault }]);
  const endMs = performance.now() + options.faultMs;
  const namespace = await createPodsOf(bed, { images, count });
  await pause(Math.max(0, endMs - performance.now()));
  bed.proxy.setFaults([]);
  return await awaitRecovery(bed, namespace, count);
}

async function pushImages(
  bed: Bench["bed"],
  { prefix, count }: { readonly prefix: string; readonly count: number },
): Promise<readonly string[]> {
  return await Promise.all(
    Array.from({ length: count }, (_, number) => bed.push(`${prefix}-${number}`, index("arm64"))),
  );
}

async function createPodsOf(
  { controlPlane }: Bench["bed"],
  { images, count }: { readonly images: readonly string[]; readonly count: number },
): Promise<string> {
  const namespace = await controlPlane.createNamespace("fault");
  await createPods(controlPlane, namespace, { pods: podsOf("pod", images, count) });
  return namespace;
}

async function awaitRecovery({ controlPlane }: Bench["bed"], namespace: string, count: number): Promise<Recovery> {
  const startedMs = performance.now();
  let pods: readonly PodOutcome[] = [];
  const areAllScheduled = async (): Promise<boolean> => {
    pods = await listPods(controlPlane, namespace);
    return pods.length === count && pods.every(isScheduled);
  };
  await waitUntil("all pods to be placed", areAllScheduled, { deadlineMs: STUCK_MS, intervalMs: 100 }).catch(() => {});
  const seconds = (performance.now() - startedMs) / 1_000;
  const architectures = await listNodeArchitectures(controlPlane);
  const placed = pods.filter(isScheduled);
  const misplaced =
    placed.filter(({ nodeName, requiredArchitectures }) =>
      architectures.get(nodeName) !== "arm64" || String(requiredArchitectures) !== "arm64"
    ).length;
  await removeNamespace(controlPlane, namespace);
  return { misplaced, stuck: count - placed.length, seconds };
}
