// `deno task bench`: micro benches, and the webhook alone against its floor (B1), alternating in one run.
// Prints one table and writes `.archway/bench.json`. `--short` only proves that it runs.
import { issueLoopbackCertificates } from "../../lib/playground/certificates.ts";
import { renderTable } from "../../lib/cli/output.ts";
import { type LoadResult, sendLoad } from "./load.ts";
import { runMicro } from "./micro.ts";
import { sampleReview } from "./sample.ts";

const short = Deno.args.includes("--short");
const ROUNDS = short ? 1 : 4;
const ROUND_MS = short ? 300 : 3_000;
const PATH = "/add-pod-scheduling-gate";

function print(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${text}\n`));
}

interface Server extends AsyncDisposable {
  readonly port: number;
}

async function startServer(kind: string, files: readonly string[], answerBytes = 0): Promise<Server> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", new URL("./server.ts", import.meta.url).pathname, kind, ...files, String(answerBytes)],
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const { value } = await reader.read();
  return {
    port: Number(value?.trim()),
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await reader.cancel();
      await child.status;
    },
  };
}

function median(values: readonly number[]): number {
  return [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? NaN;
}

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
  const workDir = await Deno.makeTempDir();
  const { serving, authority } = await issueLoopbackCertificates(Date.now());
  const files = [`${workDir}/tls.crt`, `${workDir}/tls.key`];
  await Deno.writeTextFile(files[0] ?? "", serving.cert);
  await Deno.writeTextFile(files[1] ?? "", serving.key);
  await using stack = new AsyncDisposableStack();
  stack.defer(() => Deno.remove(workDir, { recursive: true }));
  const ports: Record<string, number> = {};
  for (const kind of ["echo", "gate", "warm"]) ports[kind] = stack.use(await startServer(kind, files)).port;
  ports["echo 2 KB"] = stack.use(await startServer("echo", files, 2_000)).port;
  const body = JSON.stringify(sampleReview());
  const common = { path: PATH, caPem: authority, body };
  const results: Record<string, LoadResult[]> = {};
  const run = async (
    name: string,
    kind: string,
    load: { readonly connections: number; readonly rate?: number },
  ): Promise<void> => {
    const result = await sendLoad({ ...common, port: ports[kind] ?? 0, durationMs: ROUND_MS, ...load });
    results[name] = [...results[name] ?? [], result];
  };
  for (let round = 0; round <= ROUNDS; round++) {
    if (round === 1) { for (const name of Object.keys(results)) delete results[name]; // the first round warms up
     }
    for (const kind of ["echo", "gate", "warm"]) await run(`${kind}, 16 connections`, kind, { connections: 16 });
    for (const kind of Object.keys(ports)) await run(`${kind}, 1 connection`, kind, { connections: 1 });
    await run("gate, 500 a second", "gate", { connections: 16, rate: 500 });
  }
  return Object.fromEntries(Object.entries(results).map(([name, all]) => [name, summarize(all)]));
}

const micro = runMicro();
const webhook = await benchWebhook();
const pick = (name: string): LoadResult => webhook[name] ?? { requestsPerSecond: NaN, p50: NaN, p99: NaN, failures: 0 };
const echo = pick("echo, 16 connections");
const rows = Object.entries(webhook).map(([name, { requestsPerSecond, p50, p99, failures }]) => [
  name,
  requestsPerSecond.toFixed(0),
  p50.toFixed(2),
  p99.toFixed(2),
  name.includes("16") ? (requestsPerSecond / echo.requestsPerSecond).toFixed(2) : "-",
  String(failures),
]);
print(renderTable(["WEBHOOK (B1)", "REQ/S", "P50 MS", "P99 MS", "RATIO TO ECHO", "FAILURES"], rows));
print(
  renderTable(["MICRO", "MICROSECONDS"], micro.map(({ name, microseconds }) => [name, microseconds.toFixed(2)])),
);

const overEcho = pick("gate, 1 connection").p50 - pick("echo, 1 connection").p50;
const targets = [
  {
    measure: "B1 gate / echo, req/s, 16 connections",
    value: pick("gate, 16 connections").requestsPerSecond / echo.requestsPerSecond,
    target: "≥ 0.70",
    met: pick("gate, 16 connections").requestsPerSecond / echo.requestsPerSecond >= 0.7,
  },
  { measure: "B1 gate over echo, p50 ms, 1 connection", value: overEcho, target: "≤ 0.5", met: overEcho <= 0.5 },
  {
    measure: "B1 echo of 2 KB, p50 ms, 1 connection",
    value: pick("echo 2 KB, 1 connection").p50,
    target: "≤ 2",
    met: pick("echo 2 KB, 1 connection").p50 <= 2,
  },
  {
    measure: "B1 gate at 500/s, p99 ms",
    value: pick("gate, 500 a second").p99,
    target: "≤ 5",
    met: pick("gate, 500 a second").p99 <= 5,
  },
];
print(
  renderTable(
    ["TARGET", "VALUE", "WANTED", "MET"],
    targets.map(({ measure, value, target, met }) => [measure, value.toFixed(2), target, met ? "yes" : "no"]),
  ),
);
await Deno.mkdir(".archway", { recursive: true });
const machine = {
  cpus: navigator.hardwareConcurrency,
  deno: Deno.version.deno,
  os: Deno.build.os,
  arch: Deno.build.arch,
};
await Deno.writeTextFile(".archway/bench.json", `${JSON.stringify({ machine, webhook, micro, targets }, null, 2)}\n`);
