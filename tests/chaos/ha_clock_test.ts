// The clock of a replica's node jumps by minutes, forth and back. Nothing changes: the Lease stays where it is, no pod is given
// up early or held longer, and whoever takes over does not believe a date.
import assert from "node:assert/strict";
import { lacks } from "../support/needs.ts";
import { enablePlacement } from "../cluster/support/archway.ts";
import { type LeaseState, readLease, startPair } from "../cluster/support/lease.ts";
import {
  assertPlaced,
  createPods,
  isReleased,
  isScheduled,
  listPods,
  podsOf,
  waitForPods,
} from "../cluster/support/pods.ts";
import { ShiftedClock } from "../cluster/support/shifted_clock.ts";
import { waitUntil } from "../cluster/support/wait.ts";
import { index, openWalkBed, openWorkingBed, type WalkBed } from "../cluster/support/walk_bed.ts";

const JUMP_SECONDS = 600;
const ignore = lacks("faketime");
const FALLBACK = { fallbackArchitecture: "amd64" };
const FAILING = [{ fault: { kind: "status", status: 503 } }] as const;

/** The Lease after so many renewals, distinguished by their times. */
async function renewals({ controlPlane }: WalkBed, count: number): Promise<LeaseState> {
  let state = await readLease(controlPlane);
  for (let seen = 0; seen < count; seen++) {
    const { renewTime } = state;
    state = await waitUntil("a renewal of the Lease", async () => {
      const now = await readLease(controlPlane);
      return now.renewTime !== renewTime && now;
    });
  }
  return state;
}

/** How far the last renewal's date is from the real time (s). */
function skewOf({ renewTime }: LeaseState): number {
  return (Date.parse(renewTime) - Date.now()) / 1_000;
}

Deno.test("ha: the leader's clock jumps by ten minutes, forth and back: it leads on, and gives up no pod early", {
  ignore,
}, async () => {
  await using clock = await ShiftedClock.open();
  await using bed = await openWalkBed();
  const { controlPlane, proxy } = bed;
  const args = ["--max-gate-age=150s"];
  await using pair = await startPair(bed, {
    first: { env: clock.env, args },
    second: { args },
    enable: () => enablePlacement(controlPlane, FALLBACK),
  });
  const { first, second } = pair;
  const image = await bed.push("demo/app", index("arm64"));
  proxy.setFaults(FAILING);
  const namespace = await controlPlane.createNamespace("jump");
  let created = 0;
  for (const [name, seconds] of [["forth", JUMP_SECONDS], ["back", -JUMP_SECONDS], ["right", 0]] as const) {
    await createPods(controlPlane, namespace, { pods: podsOf(`before-${name}`, [image], 5) });
    await clock.shift(seconds);
    const lease = await renewals(bed, 3);
    assert.ok(Math.abs(skewOf(lease) - seconds) < 60, `the clock did not jump: ${skewOf(lease)} s`);
    assert.deepEqual([lease.holder, lease.transitions], ["first", 0]);
    await createPods(controlPlane, namespace, { pods: podsOf(`after-${name}`, [image], 5) });
    created += 10;
    const pods = await waitForPods(controlPlane, namespace, { count: created, until: (pod) => !isReleased(pod) });
    assert.equal(pods.length, created);
  }
  assert.equal(await second.metric("archway_leader"), 0);
  assert.equal(await first.metric("archway_gating"), 1);
  proxy.setFaults([]);
  const placed = await waitForPods(controlPlane, namespace, { count: created, until: isScheduled });
  await assertPlaced(controlPlane, placed, () => ["arm64"]);
});

Deno.test("ha: a leader whose clock is ten minutes fast ends: the next one takes over as soon as ever", {
  ignore,
}, async () => {
  await using clock = await ShiftedClock.open();
  await clock.shift(JUMP_SECONDS);
  await using bed = await openWalkBed();
  const { controlPlane } = bed;
  await using pair = await startPair(bed, {
    first: { env: clock.env },
    enable: () => enablePlacement(controlPlane),
  });
  const { first, second, balancer } = pair;
  const image = await bed.push("demo/app", index("arm64"));
  assert.ok(skewOf(await renewals(bed, 1)) > JUMP_SECONDS / 2, "the Lease carries the wrong date");
  first.kill("SIGKILL");
  balancer.setTargets([second.webhookPort]);
  // 6 s until the Lease has run out, and what a slow machine takes; not ten minutes.
  await waitUntil("the second to lead", async () => await second.metric("archway_leader") === 1, {
    deadlineMs: 60_000,
  });
  const namespace = await controlPlane.createNamespace("later");
  await createPods(controlPlane, namespace, { pods: podsOf("pod", [image], 5) });
  await waitForPods(controlPlane, namespace, { count: 5, until: isScheduled });
});

Deno.test("ha: a clock that is set back by ten minutes holds no pod longer than the maximum gate age", {
  ignore,
}, async () => {
  await using clock = await ShiftedClock.open();
  await using bed = await openWorkingBed({
    spec: FALLBACK,
    replica: { env: clock.env, args: ["--max-gate-age=20s"] },
  });
  const { controlPlane, proxy } = bed;
  const image = await bed.push("demo/app", index("arm64"));
  proxy.setFaults(FAILING);
  const namespace = await controlPlane.createNamespace("held");
  await createPods(controlPlane, namespace, { pods: podsOf("pod", [image], 5) });
  await clock.shift(-JUMP_SECONDS);
  const held = (await listPods(controlPlane, namespace)).filter((pod) => !isReleased(pod));
  assert.equal(held.length, 5);
  // Given up after 20 s, and never placed before: the registry does not answer.
  await waitForPods(controlPlane, namespace, { count: 5, until: isScheduled, deadlineMs: 60_000 });
});
