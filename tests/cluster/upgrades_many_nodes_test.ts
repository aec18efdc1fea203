import assert from "node:assert/strict";
import { sizeOf } from "../support/form.ts";
import { CLUSTER_VERSION, FROM } from "./support/simulated_openshift.ts";
import { read } from "./support/cluster_access.ts";
import { type Look, type ManyNodes, openManyNodes } from "./support/upgrade_many_nodes.ts";
import { phaseOf } from "./support/upgrade_plane.ts";
import { pause, waitUntil } from "./support/wait.ts";

const NODES = sizeOf({ short: 100, long: 500 });
// One more comes with the spare capacity.
const SIZE = { nodes: NODES - 1, pools: sizeOf({ short: 20, long: 50 }) };
const LARGE = `${NODES} nodes in ${SIZE.pools} pools`;
const POOLS = "/apis/machineconfiguration.openshift.io/v1/machineconfigpools";
const MOST = 10;

function wordsOf(looks: readonly Look[]): string {
  return looks.map(({ reads, writes, words, tookMs }) =>
    `${reads} reads and ${writes} writes in ${Math.round(tookMs)} ms: ${words.join(" ")}`
  ).join("\n");
}

async function lookUntil(many: ManyNodes, holds: () => Promise<boolean>): Promise<readonly Look[]> {
  const looks: Look[] = [];
  while (!await holds()) {
    assert.ok(looks.length < 120, `not after ${looks.length} looks:\n${wordsOf(looks.slice(-3))}`);
    looks.push(await many.look());
    await pause(200);
  }
  return looks;
}

async function isAsked({ bed }: ManyNodes): Promise<boolean> {
  return read(await bed.controlPlane.get(CLUSTER_VERSION), "spec", "desiredUpdate") !== undefined;
}

function assertFew(looks: readonly Look[]): void {
  assert.ok(Math.max(...looks.map(({ reads }) => reads)) <= MOST, wordsOf(looks));
}

/** Of the looks that read most, the quickest: others share the machine. */
function assertQuick(looks: readonly Look[]): void {
  const most = Math.max(...looks.map(({ reads }) => reads));
  assert.ok(most > 5, wordsOf(looks));
  const fullMs = looks.filter(({ reads }) => reads === most).map(({ tookMs }) => tookMs);
  assert.ok(Math.min(...fullMs) <= 1_000, wordsOf(looks));
}

Deno.test(`upgrades: no look at a migration of ${LARGE} reads more than ten times, neither before it nor at its end, nor after a restart; the quickest with all reads takes a second at most`, async () => {
  await using many = await openManyNodes({ ...SIZE, stepMs: 20 });
  const { bed } = many;
  bed.openshift.hold();
  await bed.createPlan({ capacityReservation: true, desired: { version: FROM, architecture: "Multi" } });
  const before = await lookUntil(many, () => isAsked(many));
  assertFew(before);
  assertQuick(before);
  many.restart();
  const afterRestart = [await many.look()];
  assertFew(afterRestart);
  bed.openshift.letGo();
  await waitUntil("all pools to be updated", async () => {
    const pools = await bed.controlPlane.list(POOLS);
    const before = (pool: unknown): string => `rendered-${read(pool, "metadata", "name")}-1`;
    return pools.every((pool) => read(pool, "status", "configuration", "name") !== before(pool));
  }, { deadlineMs: 240_000, intervalMs: 1_000 });
  // Nothing of any pool is known: all that a restart at the worst moment has to read again.
  many.restart();
  const atTheEnd = await lookUntil(many, async () => phaseOf(await bed.readPlan()) === "Upgraded");
  assertFew(atTheEnd);
  assert.equal(many.looked.requests, 6, "each kind of workload once, and pods");
  const configs = atTheEnd.flatMap(({ words }) => words.filter((word) => word.startsWith("machineconfigs/")));
  assert.deepEqual([configs.length, new Set(configs).size], [2 * SIZE.pools, 2 * SIZE.pools], "each once");
});
