// The webhook beyond its capacity, and beside hostile clients.
import { openCrowd, sendHostile } from "./hostile.ts";
import { type LoadResult, sendLoad } from "./load.ts";
import { samplePod, sampleReview } from "./sample.ts";
import { type BenchServer, startServer, WEBHOOK_PATH } from "./start_server.ts";

export interface OverloadResult extends LoadResult {
  readonly peakRss: number;
}

export async function benchOverload(
  { connections, durationMs }: { readonly connections: number; readonly durationMs: number },
): Promise<Readonly<Record<string, OverloadResult>>> {
  const results: Record<string, OverloadResult> = {};
  for (const kind of ["unlimited", "gate"]) {
    await using server = await startServer(kind);
    const load = { path: WEBHOOK_PATH, body: largeReview(), connections, durationMs };
    results[`${connections} of 1 MiB, ${kind}`] = await measure(server, () => sendLoad({ ...load, ...server }));
  }
  return results;
}

export async function benchHostile(
  { durationMs, idle }: { readonly durationMs: number; readonly idle: number },
): Promise<Readonly<Record<string, OverloadResult>>> {
  await using server = await startServer("gate");
  const load = { path: WEBHOOK_PATH, body: JSON.stringify(sampleReview()), connections: 8, rate: 200, durationMs };
  const good = (): Promise<LoadResult> => sendLoad({ ...load, ...server });
  await good();
  const quiet = await measure(server, good);
  using _crowd = await openCrowd({ ...server, path: WEBHOOK_PATH, idle, halfOpen: 50, slow: 50 });
  const beside = await measure(server, async () => {
    const [result] = await Promise.all([
      good(),
      sendHostile({ ...server, path: WEBHOOK_PATH }, { durationMs, pauseMs: 5 }),
    ]);
    return result;
  });
  return { "200 a second, quiet": quiet, "200 a second, beside hostile clients": beside };
}

async function measure(server: BenchServer, run: () => Promise<LoadResult>): Promise<OverloadResult> {
  let peakRss = 0;
  const timer = setInterval(() => {
    peakRss = Math.max(peakRss, server.rss());
  }, 50);
  try {
    return { ...await run(), peakRss };
  } finally {
    clearInterval(timer);
  }
}

function largeReview(): string {
  const review = sampleReview();
  const pod = samplePod();
  const annotations = { padding: "p".repeat(1024 * 1024) };
  const object = { ...pod, metadata: { ...pod.metadata as object, annotations } };
  return JSON.stringify({ ...review, request: { ...review.request as object, object } });
}
