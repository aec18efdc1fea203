// A burst of pods: so many creators at once, until the watch has seen every pod without Archway's gate.
import { type ClusterAccess, read } from "../cluster/support/cluster_access.ts";
import { createPods, type PodSpec } from "../cluster/support/pods.ts";
import { waitUntil } from "../cluster/support/wait.ts";
import { CREATORS } from "./for_each.ts";
import { percentile } from "./statistics.ts";
import { type BurstWatch, watchBurst } from "./watch_burst.ts";

const DEADLINE_MS = 300_000;

/** How a burst went. Times in ms; gate times are from the answer to the creation until the release is seen. */
export interface Burst {
  readonly totalMs: number;
  readonly gateP50Ms: number;
  readonly gateP99Ms: number;
  readonly gated: number;
}

export interface BurstPlan {
  readonly image: string;
  readonly count: number;
  readonly pod?: Pick<PodSpec, "gates" | "labels">;
}

export async function runBurst(cluster: ClusterAccess, { image, count, pod = {} }: BurstPlan): Promise<Burst> {
  const namespace = await cluster.createNamespace("burst");
  await using watch = await watchBurst(cluster, { namespace });
  const pods = Array.from({ length: count }, (_, number) => ({ ...pod, name: `pod-${number}`, images: [image] }));
  const burst = await timeBurst(watch, count, () => {
    return createPods(cluster, namespace, { pods, parallel: CREATORS, onCreated: watch.created });
  });
  await removeNamespace(cluster, namespace);
  return burst;
}

/** From the first creation until so many pods more are seen released. */
export async function timeBurst(watch: BurstWatch, count: number, create: () => Promise<unknown>): Promise<Burst> {
  const before = watch.released();
  const startedMs = performance.now();
  await create();
  await waitUntil("all pods to be released", () => watch.released() - before >= count, {
    deadlineMs: DEADLINE_MS,
    intervalMs: 5,
  });
  const totalMs = performance.now() - startedMs;
  const waits = [...watch.gateTimesMs()].sort((left, right) => left - right);
  if (waits.length === 0) return { totalMs, gateP50Ms: 0, gateP99Ms: 0, gated: 0 };
  return { totalMs, gateP50Ms: percentile(waits, 0.5), gateP99Ms: percentile(waits, 0.99), gated: waits.length };
}

/** Deletes the namespace; waits for its pods and events alone: what the namespace itself waits for does not matter. */
export async function removeNamespace(cluster: ClusterAccess, namespace: string): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}`;
  await cluster.request("DELETE", `${path}/pods?gracePeriodSeconds=0`);
  await waitUntil(`the pods of "${namespace}" to go`, async () => {
    const items = read(await cluster.get(`${path}/pods?limit=1`), "items");
    return Array.isArray(items) && items.length === 0;
  }, { deadlineMs: DEADLINE_MS, intervalMs: 100 });
  await cluster.request("DELETE", `${path}/events`);
  await cluster.request("DELETE", path);
}
