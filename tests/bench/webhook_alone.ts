// B1: the webhook of `serve` as it is installed, against a Hono echo on the same listener, in turn. Server, echo and load
// generators are processes of their own. Images are known (placed in the answer) or unknown (gated).
import { createPods, isReleased, waitForPods } from "../cluster/support/pods.ts";
import { index } from "../cluster/support/walk_bed.ts";
import { readSecretPath } from "../cluster/support/webhook_path.ts";
import type { Bench } from "./bench.ts";
import { startArchwayContender } from "./contender.ts";
import { openCrowd, sendHostile } from "./hostile.ts";
import type { Load, LoadResult } from "./load.ts";
import { sendLoadApart } from "./load_apart.ts";
import { connectRaw, renderPost } from "./raw_client.ts";
import { samplePod, sampleReview } from "./sample.ts";
import { startServer, WEBHOOK_PATH } from "./start_server.ts";
import { Samples } from "./statistics.ts";
import { atMost, type Row, rowOf } from "./table.ts";

type Target = Pick<Load, "port" | "path" | "caPem" | "body">;

interface Targets {
  readonly echo: Target;
  readonly "echo 2 KB": Target;
  readonly unknown: Target;
  readonly known: Target;
}

export async function benchWebhookAlone(bench: Bench): Promise<readonly Row[]> {
  const body = reviewOf(`${bench.bed.proxy.host}/webhook/never:v1`);
  const samples = new Samples();
  await measureArchway(bench, { body, samples });
  await measureReference(bench, { body, samples });
  bench.keep("webhookAlone", samples);
  return rowsOf(samples, { hasReference: bench.reference !== undefined });
}

interface Measured {
  readonly body: string;
  readonly samples: Samples;
}

async function measureArchway(bench: Bench, { body, samples }: Measured): Promise<void> {
  const { bed, options: { loadMs, idleConnections } } = bench;
  await using undo = new AsyncDisposableStack();
  const { archway } = undo.use(await startArchwayContender(bed));
  const [echo, padded] = [undo.use(await startServer("echo")), undo.use(await startServer("echo", "p".repeat(1_500)))];
  const image = await bed.push("webhook/known", index("amd64", "arm64"));
  const webhook = { port: archway.webhookPort, path: await readSecretPath(bed.controlPlane), caPem: archway.caPem };
  const targets: Targets = {
    echo: { port: echo.port, path: WEBHOOK_PATH, caPem: echo.caPem, body },
    "echo 2 KB": { port: padded.port, path: WEBHOOK_PATH, caPem: padded.caPem, body },
    unknown: { ...webhook, body },
    known: { ...webhook, body: reviewOf(image) },
  };
  // What is unknown stays so: its registry never answers.
  bed.proxy.setFaults([{ fault: { kind: "blackHole" }, repository: "webhook/never" }]);
  undo.defer(() => bed.proxy.setFaults([]));
  await learn(bench, image);
  await assertAnswers(targets);
  // The first pass warms up, and is not counted.
  for (const into of [new Samples(), samples]) await measureRound(targets, { loadMs, idleConnections, samples: into });
}

function reviewOf(image: string): string {
  const review = sampleReview();
  const request = { ...Object(review["request"]), object: samplePod(image) };
  return JSON.stringify({ ...review, request });
}

async function learn({ bed: { controlPlane } }: Bench, image: string): Promise<void> {
  const namespace = await controlPlane.createNamespace("webhook");
  await createPods(controlPlane, namespace, { pods: [{ name: "learn", images: [image] }] });
  await waitForPods(controlPlane, namespace, { count: 1, until: isReleased });
}

/** The decision must be the one that is to be measured. */
async function assertAnswers({ unknown, known }: Targets): Promise<void> {
  for (const [target, word] of [[unknown, "schedulingGates"], [known, "nodeSelectorTerms"]] as const) {
    using client = await connectRaw(target.port, target.caPem);
    await client.write(renderPost(target.path, target.body));
    const { status, body } = await client.read();
    const patch = status === 200 ? String(JSON.parse(body).response.patch ?? "") : "";
    const text = new TextDecoder().decode(Uint8Array.fromBase64(patch));
    if (!text.includes(word)) throw new Error(`Cannot measure: an answer has no ${word}, but is ${status} ${text}`);
  }
}

async function measureRound(
  targets: Targets,
  { loadMs, idleConnections, samples }: {
    readonly loadMs: number;
    readonly idleConnections: number;
    readonly samples: Samples;
  },
): Promise<void> {
  const run = async (name: string, load: Load): Promise<void> => {
    for (const [key, value] of Object.entries(await sendLoadApart(load))) samples.add(`${name} ${key}`, value);
  };
  for (const [name, target] of Object.entries(targets)) {
    const load = { ...target, durationMs: loadMs };
    await run(`${name} 16`, { ...load, connections: 16 });
    await run(`${name} 1`, { ...load, connections: 1 });
    if (!name.startsWith("echo")) await run(`${name} 500`, { ...load, connections: 16, rate: 500 });
  }
  const good = { ...targets.unknown, durationMs: loadMs, connections: 8, rate: 200 };
  await run("quiet 200", good);
  using _crowd = await openCrowd({ ...targets.unknown, idle: idleConnections, halfOpen: 50, slow: 50 });
  await Promise.all([run("hostile 200", good), sendHostile(targets.unknown, loadMs)]);
}

async function measureReference(
  { bed, options: { loadMs }, reference }: Bench,
  { body, samples }: Measured,
): Promise<void> {
  if (reference === undefined) return;
  await using original = await reference(bed);
  for (const into of [new Samples(), samples]) {
    const { requestsPerSecond } = await sendLoadApart({
      ...original.webhook,
      body,
      connections: 16,
      durationMs: loadMs,
    });
    into.add("reference 16 requestsPerSecond", requestsPerSecond);
  }
}

function rowsOf(samples: Samples, { hasReference }: { readonly hasReference: boolean }): readonly Row[] {
  const of = (name: string, key: keyof LoadResult): number => samples.median(`${name} ${key}`);
  const rate = (name: "unknown" | "known"): Row => ({
    measure: `B1 ${name} images, 16 connections, requests a second`,
    archway: of(`${name} 16`, "requestsPerSecond"),
    baseline: { name: "echo", value: of("echo 16", "requestsPerSecond") },
    target: { kind: "atLeastTimesBaseline", factor: 0.65 },
  });
  const over = (name: "unknown" | "known", floor: "echo" | "echo 2 KB"): Row => {
    const measure = `B1 ${name} images, 1 connection, p50 over that of the ${floor}, ms`;
    return rowOf(measure, of(`${name} 1`, "p50") - of(`${floor} 1`, "p50"), atMost(0.25));
  };
  const steady = (name: "unknown" | "known"): Row =>
    rowOf(`B1 ${name} images at 500 a second, p99 ms`, of(`${name} 500`, "p99"), atMost(3));
  return [
    { ...rate("unknown"), ...hasReference ? { reference: of("reference 16", "requestsPerSecond") } : {} },
    rate("known"),
    over("unknown", "echo"),
    over("known", "echo 2 KB"),
    steady("unknown"),
    steady("known"),
    {
      measure: "B1 good reviews at 200 a second beside hostile clients, p99 ms",
      archway: of("hostile 200", "p99"),
      baseline: { name: "quiet", value: of("quiet 200", "p99") },
      target: { kind: "atMostTimesBaseline", factor: 3 },
    },
  ];
}
