// The main job on a real control plane and a real registry: pods are held, their images inspected, and the real scheduler
// puts them where all of their images run. Archway runs under its own ServiceAccount, so a missing right fails a test.
import assert from "node:assert/strict";
import { SCHEDULING_GATE } from "../../lib/names.ts";
import { enablePlacement } from "./support/archway.ts";
import { startPair } from "./support/lease.ts";
import {
  assertPlaced,
  createPods,
  isReleased,
  isScheduled,
  listPods,
  type PodOutcome,
  podsOf,
  waitForPods,
} from "./support/pods.ts";
import { waitUntil } from "./support/wait.ts";
import { index, openOwnWorkingBed, openWalkBed, openWorkingBed, type WalkBed } from "./support/walk_bed.ts";

async function pushFifty(
  bed: WalkBed,
): Promise<{ readonly images: readonly string[]; readonly expected: readonly (readonly string[])[] }> {
  const all = ["amd64", "arm64", "ppc64le", "s390x"];
  const kinds = [["amd64", "arm64"], ["arm64"], ["amd64"], ["ppc64le", "s390x"], all];
  const expected = Array.from({ length: 50 }, (_, number) => kinds[number % kinds.length] ?? []);
  const images = await Promise.all(expected.map((kind, number) => bed.push(`many/app-${number}`, index(...kind))));
  return { images, expected };
}

const imageNumber = ({ name }: PodOutcome): number => Number(name.split("-").at(-1)) % 50;

Deno.test("walk: 500 pods of 50 images are all placed, each by one inspection an image", async () => {
  await using bed = await openWorkingBed();
  const namespace = await bed.controlPlane.createNamespace("many");
  const { images, expected } = await pushFifty(bed);
  await createPods(bed.controlPlane, namespace, { pods: podsOf("pod", images, 500), parallel: 16 });
  const pods = await waitForPods(bed.controlPlane, namespace, { count: 500, until: isScheduled, deadlineMs: 120_000 });
  await assertPlaced(bed.controlPlane, pods, (pod) => expected[imageNumber(pod)] ?? []);
  assert.equal(bed.proxy.counts().manifestGet, 50);
});

async function surviveBurst(bed: WalkBed, prefix: string, disturb: () => Promise<void>): Promise<void> {
  const namespace = await bed.controlPlane.createNamespace(prefix);
  const { images, expected } = await pushFifty(bed);
  // A little latency keeps pods gated for long enough to be in the middle of it.
  bed.proxy.setFaults([{ fault: { kind: "latency", ms: 400 } }]);
  const away = { fromMs: 0, toMs: 0 };
  await Promise.all([
    createPods(bed.controlPlane, namespace, { pods: podsOf(prefix, images, 500), parallel: 16 }),
    waitForPods(bed.controlPlane, namespace, { count: 100, until: () => true }).then(async () => {
      away.fromMs = Date.now();
      await disturb();
      away.toMs = Date.now();
    }),
  ]);
  const pods = await waitForPods(bed.controlPlane, namespace, {
    count: 500,
    until: (pod) => isReleased(pod) && isScheduled(pod),
    deadlineMs: 120_000,
  });
  const ours = pods.filter(({ labels }) => SCHEDULING_GATE in labels);
  await assertPlaced(bed.controlPlane, ours, (pod) => expected[imageNumber(pod)] ?? []);
  assertMissedOnlyWhile(away, pods.filter((pod) => !ours.includes(pod)));
}

/** Creation times are whole seconds, and the API server may find a connection dead a little later than we killed it. */
const SLACK_MS = 2_000;

/** Pods that came while nothing answered are admitted as they are (failurePolicy Ignore); at any other time none may be. */
function assertMissedOnlyWhile(
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
  missed: readonly PodOutcome[],
): void {
  for (const { name, creationTimestamp, affinity, gates } of missed) {
    const createdMs = Date.parse(creationTimestamp);
    assert.ok(createdMs >= fromMs - SLACK_MS && createdMs <= toMs + SLACK_MS, `"${name}" met no webhook`);
    assert.deepEqual([affinity, gates], [undefined, []], name);
  }
}

Deno.test("walk: kill -9 in the middle of a burst and a restart leave no pod gated, none misplaced, and none missed but while it was away", async () => {
  await using bed = await openWorkingBed({ replica: { persistCache: true } });
  await surviveBurst(bed, "killed", async () => {
    bed.archway.kill("SIGKILL");
    await waitUntil("the process to be dead", () => !bed.archway.isAlive());
    await bed.archway.restart();
  });
});

Deno.test("walk: when the leader of two replicas is killed the other one gates and releases on", async () => {
  await using bed = await openWalkBed();
  await using pair = await startPair(bed, { enable: () => enablePlacement(bed.controlPlane) });
  await surviveBurst(bed, "leader", () => Promise.resolve(pair.first.kill("SIGKILL")));
  assert.equal(await pair.second.metric("archway_leader"), 1);
});

Deno.test("walk: a restart of the API server in the middle of a burst loses no pod", async () => {
  // On a busy machine the API server may be away for most of a minute, and the time counts: no pod is to be given up here.
  await using bed = await openOwnWorkingBed({ replica: { args: ["--max-gate-age=5m"] } });
  const namespace = await bed.controlPlane.createNamespace("restart");
  const { images, expected } = await pushFifty(bed);
  bed.proxy.setFaults([{ fault: { kind: "latency", ms: 1_500 } }]);
  await createPods(bed.controlPlane, namespace, { pods: podsOf("pod", images, 200), parallel: 16 });
  const waiting = (await listPods(bed.controlPlane, namespace)).filter((pod) => !isReleased(pod));
  assert.ok(waiting.length > 0, "the restart is in the middle of the burst");
  await bed.controlPlane.restartApiServer();
  const ended = await waitForPods(bed.controlPlane, namespace, { count: 200, until: isScheduled, deadlineMs: 240_000 });
  assert.deepEqual(ended.filter(({ labels }) => !(SCHEDULING_GATE in labels)).map(({ name }) => name), []);
  await assertPlaced(bed.controlPlane, ended, (pod) => expected[imageNumber(pod)] ?? []);
});
