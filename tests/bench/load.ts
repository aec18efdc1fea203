// A load generator for TLS webhooks: HTTP/1.1 over raw connections, so that the client costs as little as it can. Every
// answer is checked for its status; an error is counted and reported, never mistaken for a request.
import { connectRaw, renderPost } from "./raw_client.ts";
import { percentile } from "./statistics.ts";

export interface Load {
  readonly port: number;
  readonly path: string;
  readonly caPem: string;
  readonly body: string;
  readonly connections: number;
  readonly durationMs: number;
  /** Requests a second over all connections; undefined: as fast as answers come. */
  readonly rate?: number;
}

export interface LoadResult {
  readonly requestsPerSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly failures: number;
}

/** Sends the load and measures. All connections are open before the first request: handshakes are another measure. */
export async function sendLoad(load: Load): Promise<LoadResult> {
  const latencies: number[] = [];
  let failures = 0;
  const request = renderPost(load.path, load.body);
  using stack = new DisposableStack();
  const clients = await Promise.all(
    Array.from({ length: load.connections }, async () => stack.use(await connectRaw(load.port, load.caPem))),
  );
  const startedMs = performance.now();
  const endMs = startedMs + load.durationMs;
  const everyMs = load.rate === undefined ? 0 : load.connections * 1_000 / load.rate;
  await Promise.all(clients.map(async (client, index) => {
    let dueMs = startedMs + everyMs * index / load.connections;
    while (performance.now() < endMs) {
      const waitMs = everyMs === 0 ? 0 : dueMs - performance.now();
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      // At a fixed rate latency counts from when the request was due, or a stall would hide itself.
      const fromMs = everyMs === 0 ? performance.now() : Math.max(dueMs, performance.now() - Math.max(0, -waitMs));
      dueMs += everyMs;
      await client.write(request);
      const { status } = await client.read();
      if (status === 200) latencies.push(performance.now() - fromMs);
      else failures++;
      if (status === 0) break;
    }
  }));
  const seconds = (performance.now() - startedMs) / 1_000;
  latencies.sort((left, right) => left - right);
  const [p50, p99] = [percentile(latencies, 0.5), percentile(latencies, 0.99)];
  return { requestsPerSecond: latencies.length / seconds, p50, p99, failures };
}
