// The API server's own reviews while other clients load the webhook port: how long they take, whether any pod passes ungated,
// and how much memory the service holds.
import { type ClusterAccess, expectStatus, read } from "../cluster/support/cluster_access.ts";
import { index, openWorkingBed } from "../cluster/support/walk_bed.ts";
import { readSecretPath } from "../cluster/support/webhook_path.ts";
import { installedEnv } from "./as_installed.ts";
import { startScript } from "./child.ts";
import { readCpuMs, readMemoryMb } from "./process_usage.ts";
import { percentile } from "./statistics.ts";
import type { AttackPlan, AttackReport } from "./webhook_attack.ts";

export type Attack = Omit<AttackPlan, "addresses"> & { readonly seconds: number };

/** The load that the limits of docs/security.md are stated for. */
export const FULL_ATTACK: Attack = { idle: 12_000, halves: 2_100, bodies: 100, perSecond: 500, seconds: 60 };

/** Where these clients connect from: `nowhere` is a port of another process that closes all connections, the load without us. */
export const ORIGINS = ["nowhere", "other addresses", "the API server's address"] as const;

export type Origin = typeof ORIGINS[number];

export interface Reviews {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly ungated: number;
  readonly count: number;
  readonly maxRssMb: number;
  /** CPU time of the service a second (ms). */
  readonly cpuMsPerSecond: number;
}

/** What was measured with them, and right before that without them: the machine may have other work in between. */
export interface AttackResult {
  readonly quiet: Reviews;
  readonly attacked: Reviews;
  readonly strangers: AttackReport;
}

/** Between two reviews (ms). */
const PACE_MS = 20;
const OTHERS = Array.from({ length: 8 }, (_, index) => `127.0.1.${index + 1}`);

export async function measureAttack(
  attack: Attack,
  origins: readonly Origin[],
): Promise<Readonly<Partial<Record<Origin, AttackResult>>>> {
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
  const { seconds, ...numbers } = attack;
  const results: Partial<Record<Origin, AttackResult>> = {};
  for (const origin of origins) {
    const quiet = await measure(seconds / 2);
    await using nowhere = origin === "nowhere" ? startScript("closing_port.ts", []) : undefined;
    const plan = { ...numbers, addresses: origin === "the API server's address" ? ["127.0.0.1"] : OTHERS };
    const port = nowhere === undefined ? archway.webhookPort : Number(await nowhere.readLine());
    const { result: attacked, strangers } = await underAttack({ port, plan }, () => measure(seconds));
    if (!archway.isAlive()) throw new Error(`Archway ended under attack from ${origin}`);
    results[origin] = { quiet, attacked, strangers };
  }
  return results;
}

async function review(
  cluster: ClusterAccess,
  options: { readonly namespace: string; readonly image: string; readonly pid: number; readonly seconds: number },
): Promise<Reviews> {
  const { namespace, image, pid, seconds } = options;
  const path = `/api/v1/namespaces/${namespace}/pods?dryRun=All`;
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { generateName: "probe-" },
    spec: { containers: [{ name: "c", image }] },
  };
  const times: number[] = [];
  let ungated = 0;
  let maxRssMb = 0;
  const cpuBeforeMs = await readCpuMs(pid);
  const beganMs = performance.now();
  while (performance.now() < beganMs + seconds * 1_000) {
    const startedMs = performance.now();
    const answer = await cluster.request("POST", path, pod);
    times.push(performance.now() - startedMs);
    expectStatus("create a pod", answer, [201]);
    if (read(answer.body, "spec", "schedulingGates") === undefined) ungated++;
    maxRssMb = Math.max(maxRssMb, await readMemoryMb(pid));
    await new Promise((resolve) => setTimeout(resolve, PACE_MS));
  }
  const cpuMsPerSecond = (await readCpuMs(pid) - cpuBeforeMs) * 1_000 / (performance.now() - beganMs);
  const sorted = times.toSorted((a, b) => a - b);
  const [p50Ms, p99Ms] = [percentile(sorted, 0.5), percentile(sorted, 0.99)];
  return { p50Ms, p99Ms, ungated, count: times.length, maxRssMb, cpuMsPerSecond };
}

async function underAttack<T>(
  { port, plan }: { readonly port: number; readonly plan: AttackPlan },
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly strangers: AttackReport }> {
  await using child = startScript("webhook_attack.ts", [String(port), JSON.stringify(plan)]);
  await child.readLine();
  const result = await work();
  return { result, strangers: JSON.parse(await child.end()) };
}
