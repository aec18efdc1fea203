// The webhook port under load by clients that do not know its path, on a real control plane: the API server's own reviews
// go on, no pod passes ungated for it, and memory stays bounded. ARCHWAY_TEST_ATTACK=full keeps it up for a minute with
// 12 000 idle connections, 2 100 unfinished requests and 100 bodies of 7 MiB on each route; otherwise it is a part of that.
import assert from "node:assert/strict";
import type { AttackPlan } from "../bench/webhook_attack.ts";
import { readMemoryMb } from "../bench/process_usage.ts";
import { percentile } from "../bench/statistics.ts";
import { installedEnv } from "../bench/as_installed.ts";
import { WebhookPath } from "../../lib/names.ts";
import { type ClusterAccess, expectStatus, read } from "./support/cluster_access.ts";
import { waitUntil } from "./support/wait.ts";
import { readSecretPath } from "./support/webhook_path.ts";
import { index, openWorkingBed } from "./support/walk_bed.ts";
import { connectRaw, renderPost } from "../bench/raw_client.ts";

/**
 * The target is three times the quiet p99. The full form, which is no part of continuous integration, holds exactly that and
 * misses it on two cores (docs/webhook-security.md); the short form also passes below this, as its p99 is of some hundred reviews.
 */
const SHORT_P99_MS = 200;
const FULL = Deno.env.get("ARCHWAY_TEST_ATTACK") === "full";
const PLAN = FULL
  ? { idle: 12_000, halves: 2_100, bodies: 100, perSecond: 500, seconds: 60 }
  : { idle: 2_000, halves: 400, bodies: 10, perSecond: 200, seconds: 10 };
const MAX_RSS_MB = 450;
/** Between two reviews (ms). */
const PACE_MS = 20;

interface Reviews {
  readonly p99Ms: number;
  readonly ungated: number;
  readonly count: number;
  readonly maxRssMb: number;
}

/** Has the API server ask for reviews, one after the other, for so long. */
async function review(
  cluster: ClusterAccess,
  options: { readonly namespace: string; readonly image: string; readonly pid: number; readonly seconds: number },
): Promise<Reviews> {
  const { namespace, image, pid, seconds } = options;
  const path = `/api/v1/namespaces/${namespace}/pods?dryRun=All`;
  const times: number[] = [];
  let ungated = 0;
  let maxRssMb = 0;
  const endMs = performance.now() + seconds * 1_000;
  while (performance.now() < endMs) {
    const startedMs = performance.now();
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { generateName: "probe-" },
      spec: { containers: [{ name: "c", image }] },
    };
    const answer = await cluster.request("POST", path, pod);
    times.push(performance.now() - startedMs);
    expectStatus("create a pod", answer, [201]);
    if (read(answer.body, "spec", "schedulingGates") === undefined) ungated++;
    maxRssMb = Math.max(maxRssMb, await readMemoryMb(pid));
    await new Promise((resolve) => setTimeout(resolve, PACE_MS));
  }
  const sorted = times.toSorted((a, b) => a - b);
  return { p99Ms: percentile(sorted, 0.99), ungated, count: times.length, maxRssMb };
}

/** Runs the load while `work` runs; gives what the load says of itself. */
async function underAttack<T>(
  port: number,
  plan: AttackPlan,
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly report: string }> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--no-check",
      new URL("../bench/webhook_attack.ts", import.meta.url).pathname,
      String(port),
      JSON.stringify(plan),
    ],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  try {
    await lines.read();
    const result = await work();
    await child.stdin.close();
    const { value = "" } = await lines.read();
    return { result, report: value.trim() };
  } finally {
    await lines.cancel();
    try {
      child.kill("SIGKILL");
    } catch {
      // It has ended.
    }
    await child.status;
  }
}

Deno.test("webhook port: strangers neither slow the API server's reviews, nor ungate pods, nor fill the memory", async (t) => {
  // Not warm: a gate shows that Archway was asked.
  const replica = { args: ["--warm-admission=false"], env: await installedEnv() };
  await using bed = await openWorkingBed({ replica });
  const { archway, controlPlane } = bed;
  const image = await bed.push("demo/guard", index("arm64"));
  const namespace = await controlPlane.createNamespace("guard");
  await readSecretPath(controlPlane);
  const measure = (seconds: number): Promise<Reviews> =>
    review(controlPlane, { namespace, image, pid: archway.pid(), seconds });
  await measure(3);
  const quiet = await measure(PLAN.seconds / 2);
  assert.equal(quiet.ungated, 0);
  const { seconds, ...numbers } = PLAN;
  const strangers = Array.from({ length: 8 }, (_, index) => `127.0.1.${index + 1}`);
  for (
    const [title, addresses] of [["from other addresses", strangers], ["from its own address", ["127.0.0.1"]]] as const
  ) {
    await t.step(title, async () => {
      const plan = { ...numbers, addresses };
      const { result, report } = await underAttack(archway.webhookPort, plan, () => measure(seconds));
      const text = JSON.stringify({ quiet, result, report });
      assert.ok(archway.isAlive(), text);
      assert.equal(result.ungated, 0, text);
      assert.ok(result.maxRssMb <= MAX_RSS_MB, text);
      assert.ok(result.p99Ms <= Math.max(3 * quiet.p99Ms, FULL ? 0 : SHORT_P99_MS), text);
      if (Deno.env.get("ARCHWAY_TEST_SHOW") !== undefined) Deno.stderr.writeSync(new TextEncoder().encode(`${text}\n`));
    });
  }
});

Deno.test("webhook port: only the path that the configurations carry is answered, and it is in no log or page", async () => {
  await using bed = await openWorkingBed();
  const { archway, controlPlane } = bed;
  const path = await readSecretPath(controlPlane);
  // A new process has never seen a configuration with a plain path.
  await archway.stop();
  await archway.restart();
  const ask = async (target: string): Promise<number> => {
    using client = await connectRaw(archway.webhookPort, archway.caPem);
    await client.write(renderPost(target, "{}"));
    return (await client.read()).status;
  };
  await waitUntil("plain paths to be refused", async () => await ask(WebhookPath.gatePod) === 404);
  assert.equal(await ask(path), 400);
  assert.equal(await ask(`/${"x".repeat(43)}${WebhookPath.gatePod}`), 404);
  assert.equal(await ask(path.replace(WebhookPath.gatePod, WebhookPath.convert)), 404);
  const segment = path.split("/")[1] ?? "";
  const dashboard = await (await fetch(`${archway.adminUrl}/`)).text();
  for (const text of [JSON.stringify(await archway.logs()), await archway.metrics(), dashboard]) {
    assert.ok(!text.includes(segment));
  }
});
