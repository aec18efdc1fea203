// Measures one growth point: every image is learnt first, then a burst of gated pods shows what a pod costs.
import { createPods } from "../cluster/support/pods.ts";
import { pause, waitUntil } from "../cluster/support/wait.ts";
import type { ApiCounter } from "./api_counter.ts";
import { removeNamespace, timeBurst } from "./burst.ts";
import { forEach } from "./for_each.ts";
import type { GrowthPoint } from "./growth_axes.ts";
import { type GrowthBed, openGrowthBed } from "./growth_bed.ts";
import { readCpuMs, readMemoryMb } from "./process_usage.ts";
import { watchBurst } from "./watch_burst.ts";

/** What a point showed. CPU and memory are Archway's; requests and bytes are those between it and the API server. */
export interface GrowthResult {
  readonly point: GrowthPoint;
  readonly idleMb: number;
  readonly learntMb: number;
  readonly peakMb: number;
  readonly cpuMsPerPod: number;
  /** To learn an image, with its share of the pods that named it. */
  readonly cpuMsPerImage: number;
  readonly writesPerPod: number;
  readonly eventsPerPod: number;
  /** Events that were dropped since the burst began: too many waited, or the API server refused them. */
  readonly eventsDropped: number;
  readonly reads: number;
  readonly watchedBytesPerPod: number;
  readonly burstMs: number;
  readonly gateP50Ms: number;
  readonly gateP99Ms: number;
  readonly requests: Readonly<Record<string, number>>;
  /** Of a cluster with running pods: what it costs while nothing is gated. */
  readonly idle?: IdleCost;
}

/** Over {@link IDLE_MINUTES}: a sweep for pods whose label is gone is among it. */
export interface IdleCost {
  readonly cpuMsPerMinute: number;
  readonly readsPerMinute: number;
  readonly watchedBytesPerMinute: number;
  readonly answeredBytesPerMinute: number;
}

const IMAGES_A_POD = 20;
const DEADLINE_MS = 300_000;
/** Sweeps are five minutes apart, and a fifth more at most. */
const IDLE_MINUTES = 6;
/** A replica that has led for so long is idle, as on a node. */
const IDLE_MS = 15_000;
/** Without a request other than those for the Lease: all has been said, events too, which go out as they come. */
const QUIET_MS = 5_000;

export async function measureGrowth(point: GrowthPoint): Promise<GrowthResult> {
  await using bed = await openGrowthBed(point);
  const { archway, counter } = bed;
  const pid = archway.pid();
  await pause(IDLE_MS);
  const idleMb = await readMemoryMb(pid);
  const idle = point.running === undefined ? undefined : await measureIdle(bed);
  const cpuMsPerImage = await measureCpu(pid, () => learnImages(bed)) / point.images;
  const learntMb = await readMemoryMb(pid);
  counter.reset();
  const dropped = (): Promise<number> => archway.metric("archway_events_dropped_total");
  // The namespace of the images went, perhaps before what was to be said of its last pods.
  const droppedBefore = await dropped();
  let times = { burstMs: NaN, gateP50Ms: NaN, gateP99Ms: NaN };
  const cpuMsPerPod = await measureCpu(pid, async () => {
    times = await burst(bed, point.pods);
    await untilQuiet(counter);
  }) / point.pods;
  const { requests, watchedBytes } = counter.traffic();
  const count = (pattern: RegExp): number => countOf(requests, pattern);
  return {
    point,
    idleMb,
    learntMb,
    peakMb: await readMemoryMb(pid, "VmHWM"),
    cpuMsPerPod,
    cpuMsPerImage,
    writesPerPod: count(/^(PATCH|PUT|POST|DELETE) pods$/) / point.pods,
    eventsDropped: await dropped() - droppedBefore,
    eventsPerPod: count(/^(PATCH|PUT|POST) events$/) / point.pods,
    reads: count(/^(GET|LIST) (?!leases)/),
    watchedBytesPerPod: watchedBytes / point.pods,
    ...times,
    requests,
    ...idle && { idle },
  };
}

async function measureIdle({ archway, counter }: GrowthBed): Promise<IdleCost> {
  counter.reset();
  const cpuMs = await measureCpu(archway.pid(), () => pause(IDLE_MINUTES * 60_000));
  const { requests, watchedBytes, answeredBytes } = counter.traffic();
  return {
    cpuMsPerMinute: cpuMs / IDLE_MINUTES,
    readsPerMinute: countOf(requests, /^(GET|LIST) (?!leases)/) / IDLE_MINUTES,
    watchedBytesPerMinute: watchedBytes / IDLE_MINUTES,
    answeredBytesPerMinute: answeredBytes / IDLE_MINUTES,
  };
}

function countOf(requests: Readonly<Record<string, number>>, pattern: RegExp): number {
  return Object.entries(requests).reduce((sum, [kind, number]) => pattern.test(kind) ? sum + number : sum, 0);
}

async function measureCpu(pid: number, work: () => Promise<void>): Promise<number> {
  const before = await readCpuMs(pid);
  await work();
  return await readCpuMs(pid) - before;
}

async function learnImages({ cluster, counter, images }: GrowthBed): Promise<void> {
  const namespace = await cluster.createNamespace("learn");
  await using watch = await watchBurst(cluster, { namespace });
  const count = Math.ceil(images.length / IMAGES_A_POD);
  await forEach(count, (number) => {
    const own = images.slice(number * IMAGES_A_POD, (number + 1) * IMAGES_A_POD);
    return createPods(cluster, namespace, { pods: [{ name: `learn-${number}`, images: own }] });
  });
  await waitUntil("all images to be learnt", () => watch.released() >= count, { deadlineMs: DEADLINE_MS });
  await removeNamespace(cluster, namespace);
  await untilQuiet(counter);
}

async function burst(
  { cluster, images, namespaces }: GrowthBed,
  count: number,
): Promise<Pick<GrowthResult, "burstMs" | "gateP50Ms" | "gateP99Ms">> {
  await using watch = await watchBurst(cluster, {});
  const { totalMs, gateP50Ms, gateP99Ms } = await timeBurst(watch, count, () =>
    forEach(count, async (number) => {
      const pod = { name: `pod-${number}`, images: [images[number % images.length] ?? ""] };
      const namespace = namespaces[number % namespaces.length] ?? "";
      await createPods(cluster, namespace, { pods: [pod], onCreated: watch.created });
    }));
  return { burstMs: totalMs, gateP50Ms, gateP99Ms };
}

async function untilQuiet(counter: ApiCounter): Promise<void> {
  const said = (): number =>
    Object.entries(counter.traffic().requests)
      .reduce((sum, [kind, number]) => kind.endsWith(" leases") ? sum : sum + number, 0);
  await waitUntil("Archway to be quiet", async () => {
    const before = said();
    await pause(QUIET_MS);
    return said() === before;
  }, { deadlineMs: DEADLINE_MS });
}
