// `deno task bench`: micro benches, and the pod route with doubles for the rest of the service, beside a Hono echo. No target is
// held against it: B1 is measured on the whole service by `deno task bench:cluster`. Then image indexes beside skopeo. Prints
// tables and keeps results/route.json. `--short` only proves that it runs, `--only-indexes` leaves the rest out.
import { renderTable } from "../../lib/cli/output.ts";
import { FILES } from "./figures.ts";
import { benchIndexes } from "./image_index.ts";
import { type LoadResult, sendLoad } from "./load.ts";
import { readMachineFacts } from "./machine.ts";
import { runMicro } from "./micro.ts";
import { mergeResults, type ResultEntry } from "./results_file.ts";
import { sampleReview } from "./sample.ts";
import { renderRows } from "./table.ts";
import { type BenchServer, startServer, WEBHOOK_PATH } from "./start_server.ts";
import { print } from "../support/print.ts";
import { median } from "./statistics.ts";

const short = Deno.args.includes("--short");
const ROUNDS = short ? 1 : 4;
const ROUND_MS = short ? 300 : 3_000;

function summarize(results: readonly LoadResult[]): LoadResult {
  const of = (read: (result: LoadResult) => number): number => median(results.map(read));
  return {
    requestsPerSecond: of((result) => result.requestsPerSecond),
    p50: of((result) => result.p50),
    p99: of((result) => result.p99),
    failures: results.reduce((sum, { failures }) => sum + failures, 0),
  };
}

async function benchWebhook(): Promise<Record<string, LoadResult>> {
  await using stack = new AsyncDisposableStack();
  const servers: Record<string, BenchServer> = {};
  for (const kind of ["echo", "gate", "warm"]) servers[kind] = stack.use(await startServer(kind));
  servers["echo 2 KB"] = stack.use(await startServer("echo", 2_000));
  const body = JSON.stringify(sampleReview());
  const results: Record<string, LoadResult[]> = {};
  const run = async (
    name: string,
    kind: string,
    load: { readonly connections: number; readonly rate?: number },
  ): Promise<void> => {
    const { port = 0, caPem = "" } = servers[kind] ?? {};
    const result = await sendLoad({ path: WEBHOOK_PATH, body, port, caPem, durationMs: ROUND_MS, ...load });
    results[name] = [...results[name] ?? [], result];
  };
  for (let round = 0; round <= ROUNDS; round++) {
    // The first round warms up.
    if (round === 1) { for (const name of Object.keys(results)) delete results[name]; }
    for (const kind of ["echo", "gate", "warm"]) await run(`${kind}, 16 connections`, kind, { connections: 16 });
    for (const kind of Object.keys(servers)) await run(`${kind}, 1 connection`, kind, { connections: 1 });
    await run("gate, 500 a second", "gate", { connections: 16, rate: 500 });
  }
  return Object.fromEntries(Object.entries(results).map(([name, all]) => [name, summarize(all)]));
}

function printRoute(
  webhook: Readonly<Record<string, LoadResult>>,
  micro: ReturnType<typeof runMicro>,
): void {
  const echo = webhook["echo, 16 connections"]?.requestsPerSecond ?? NaN;
  const rows = Object.entries(webhook).map(([name, { requestsPerSecond, p50, p99, failures }]) => [
    name,
    requestsPerSecond.toFixed(0),
    p50.toFixed(2),
    p99.toFixed(2),
    name.includes("16") ? (requestsPerSecond / echo).toFixed(2) : "-",
    String(failures),
  ]);
  print(renderTable(["POD ROUTE", "REQ/S", "P50 MS", "P99 MS", "RATIO TO ECHO", "FAILURES"], rows));
  const times = micro.map(({ name, microseconds }) => [name, microseconds.toFixed(2)]);
  print(renderTable(["MICRO", "MICROSECONDS"], times));
}

async function benchRoute(): Promise<ResultEntry> {
  const micro = runMicro();
  const webhook = await benchWebhook();
  printRoute(webhook, micro);
  const loads = Object.entries(webhook).map(([name, load]) => ({ name, ...load }));
  return { machine: await readMachineFacts(), loads, micro };
}

async function benchIndexRows(): Promise<ResultEntry> {
  const copiedMib = short ? 16 : 1_024;
  const rows = await benchIndexes({ copiedMib });
  print(renderRows(rows));
  return { machine: await readMachineFacts(), rows };
}

const route = Deno.args.includes("--only-indexes") ? {} : { route: await benchRoute() };
const measured = { ...route, indexes: await benchIndexRows() };
if (!short) await mergeResults(FILES.route, measured);
