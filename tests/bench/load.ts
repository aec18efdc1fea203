// A load generator for TLS webhooks: HTTP/1.1 over raw connections, so that the client costs as little as it can. Every
// answer is checked for its status; an error is counted and told, never mistaken for a request.

/** What to send, to whom and for how long. */
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

/** What came of it. Latencies in ms. */
export interface LoadResult {
  readonly requestsPerSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly failures: number;
}

/** Sends the load and measures. */
export async function sendLoad(load: Load): Promise<LoadResult> {
  const latencies: number[] = [];
  let failures = 0;
  const request = new TextEncoder().encode(
    `POST ${load.path} HTTP/1.1\r\nHost: 127.0.0.1:${load.port}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${new TextEncoder().encode(load.body).byteLength}\r\n\r\n${load.body}`,
  );
  const startedMs = performance.now();
  const endMs = startedMs + load.durationMs;
  const everyMs = load.rate === undefined ? 0 : load.connections * 1_000 / load.rate;
  await Promise.all(Array.from({ length: load.connections }, async (_, index) => {
    using connection = await Deno.connectTls({ hostname: "127.0.0.1", port: load.port, caCerts: [load.caPem] });
    let dueMs = performance.now() + everyMs * index / load.connections;
    while (performance.now() < endMs) {
      const waitMs = everyMs === 0 ? 0 : dueMs - performance.now();
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      // At a fixed rate latency counts from when the request was due, or a stall would hide itself.
      const fromMs = everyMs === 0 ? performance.now() : Math.max(dueMs, performance.now() - Math.max(0, -waitMs));
      dueMs += everyMs;
      await writeAll(connection, request);
      if (await readAnswer(connection) === 200) latencies.push(performance.now() - fromMs);
      else failures++;
    }
  }));
  const seconds = (performance.now() - startedMs) / 1_000;
  latencies.sort((left, right) => left - right);
  const at = (share: number): number =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? NaN;
  return { requestsPerSecond: latencies.length / seconds, p50: at(0.5), p99: at(0.99), failures };
}

async function writeAll(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let sent = 0; sent < bytes.byteLength;) sent += await connection.write(bytes.subarray(sent));
}

const buffer = new Uint8Array(64 * 1024);
const decoder = new TextDecoder();

/** Reads one answer whole; its status. Bodies are delimited by Content-Length or chunks. */
async function readAnswer(connection: Deno.Conn): Promise<number> {
  let text = "";
  for (;;) {
    const read = await connection.read(buffer);
    if (read === null) return 0;
    text += decoder.decode(buffer.subarray(0, read));
    const headEnd = text.indexOf("\r\n\r\n");
    if (headEnd < 0) continue;
    const head = text.slice(0, headEnd).toLowerCase();
    const length = /content-length: (\d+)/.exec(head)?.[1];
    const isWhole = length === undefined ? text.endsWith("0\r\n\r\n") : text.length - headEnd - 4 >= Number(length);
    if (isWhole) return Number(text.slice(9, 12));
  }
}
