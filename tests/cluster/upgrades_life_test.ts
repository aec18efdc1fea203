import assert from "node:assert/strict";
import { type AuditedRequest, readAuditLog } from "./support/audit_log.ts";
import { listAt, read } from "./support/cluster_access.ts";
import { ORIGINAL_BEGAN, ORIGINAL_HOLDER, OriginalOperator } from "./support/original_operator.ts";
import { CLUSTER_VERSION, imageOf, POOLS, TO } from "./support/simulated_openshift.ts";
import { phaseOf, PLAN } from "./support/upgrade_plane.ts";
import { ignore, onService, UPGRADE_ACCOUNT, type UpgradeService } from "./support/upgrade_service.ts";
import { waitUntil } from "./support/wait.ts";

const EVENTS = "/api/v1/namespaces/openshift-managed-upgrade-operator/events";
const LATER = "4.20.9";
const LIVES = [1, 2, 2, 3, 3, 3];
const READS = ["get", "list", "watch"];
const LED = ["upgradeconfigs", "clusterversions", "machinesets", "machineconfigpools", "nodes", "pods", "events"];
/** Of what is sent to people; other events only report steps. */
const NOTIFICATIONS = ["Started", "ControlPlaneStarted", "ControlPlaneFinished", "WorkerPlaneFinished", "Completed"];

/** Writes of the account that were carried out, or tried: in order, without those of its certificate and its Lease. */
async function writesOf(
  { cluster }: UpgradeService,
  isOne: (request: AuditedRequest) => boolean = () => true,
): Promise<readonly AuditedRequest[]> {
  const requests = await readAuditLog(cluster.auditLogFile ?? assert.fail("no audit log"));
  return requests.filter(({ user, verb, resource }) =>
    user === UPGRADE_ACCOUNT && !READS.includes(verb) && LED.includes(resource)
  ).filter(isOne);
}

/** `create machinesets`, how often it was carried out. */
async function count(bed: UpgradeService, words: string, since = 0): Promise<number> {
  return (await writesOf(bed)).slice(since)
    .filter(({ verb, resource, status }) => `${verb} ${resource}` === words && status < 300).length;
}

const isLasting = ({ resource, status }: AuditedRequest): boolean => resource !== "events" && status < 300;

async function notificationsOf(bed: UpgradeService): Promise<readonly string[]> {
  const uid = read(await bed.readPlan(), "metadata", "uid");
  return (await bed.cluster.list(EVENTS)).filter((event) => read(event, "involvedObject", "uid") === uid)
    .flatMap((event) => Array.from({ length: Number(read(event, "count")) }, () => String(read(event, "reason"))))
    .filter((reason) => NOTIFICATIONS.includes(reason)).toSorted();
}

/** Nothing is there any more, and the newest history entry is complete, with each step once. */
async function assertOver(bed: UpgradeService, version: string): Promise<void> {
  const { openshift, surroundings } = bed;
  assert.deepEqual(openshift.asked.filter((one) => one.startsWith(version)), [`${version}  ${imageOf(version)}`]);
  assert.deepEqual(await openshift.machineSets(), ["workers-a"]);
  assert.deepEqual(await openshift.cordoned(), []);
  assert.deepEqual(surroundings.active(), []);
  const silences = surroundings.created.filter((comment) => comment.includes(version));
  assert.deepEqual(silences, [...new Set(silences)], "each silence was made once");
  const history = read(await bed.readPlan(), "status", "history");
  assert.equal(Array.isArray(history) ? history.length : 0, 1);
  assert.deepEqual([read(history, 0, "version"), read(history, 0, "phase")], [version, "Upgraded"]);
  const all = listAt(history, 0, "conditions");
  const types = all.map((condition) => read(condition, "type"));
  assert.deepEqual([types.length, new Set(types).size], [16, 16]);
  for (const condition of all) {
    assert.equal(read(condition, "status"), "True");
    const [start, end] = ["startTime", "completeTime"].map((name) => Date.parse(String(read(condition, name))));
    assert.ok(start !== undefined && end !== undefined && start <= end, JSON.stringify(condition));
  }
}

async function killAgainAndAgain(bed: UpgradeService): Promise<readonly string[]> {
  const steps: string[] = [];
  for (const life of LIVES) {
    const { process } = await bed.startReplica("one");
    if (steps.length === 0) {
      await bed.untilPlansAreChecked();
      await bed.storePlan({ capacityReservation: true });
    }
    const before = (await writesOf(bed, isLasting)).length;
    let looks = 0;
    await waitUntil(`${life} writes`, async () => {
      // What it waits for may be what it does not watch.
      if (looks++ % 30 === 29) {
        await bed.cluster.patch(`${POOLS}/worker`, { metadata: { annotations: { looks: String(looks) } } });
      }
      return (await writesOf(bed, isLasting)).length >= before + life || phaseOf(await bed.readPlan()) === "Upgraded";
    }, { deadlineMs: 90_000, intervalMs: 50 });
    process.kill("SIGKILL");
    await process.ended;
    const plan = await bed.readPlan();
    steps.push(String(read(plan, "status", "history", 0, "conditions", 0, "type")));
    if (phaseOf(plan) === "Upgraded") break;
  }
  return steps;
}

Deno.test(
  "upgrades: the process in its life, beside another program that uses its Lease",
  { ignore },
  onService(async (bed, t) => {
    await using stack = new AsyncDisposableStack();
    const { openshift } = bed;
    await t.step("N-015 killed at many moments: the next one goes on, and every effect is made once", async () => {
      const steps = await killAgainAndAgain(bed);
      assert.ok(steps.length >= 4 && new Set(steps).size >= 3, steps.join());
      const last = await bed.startReplica("one");
      await bed.untilPhase("Upgraded");
      await assertOver(bed, TO);
      const effects = ["patch clusterversions", "create machinesets", "delete machinesets"];
      assert.deepEqual(await Promise.all(effects.map((words) => count(bed, words))), [1, 1, 1]);
      assert.deepEqual(await notificationsOf(bed), NOTIFICATIONS.toSorted());
      await bed.cluster.delete(PLAN);
      await last.process.stop();
    });
    await t.step("while another holds the Lease nothing is written, and the log and a metric say so", async () => {
      await openshift.offer(LATER);
      openshift.holdNodes();
      const original = stack.use(await OriginalOperator.start(bed));
      const before = (await writesOf(bed)).length;
      const { process, adminUrl } = await bed.startReplica("two");
      await bed.storePlan({ desired: { version: LATER, channel: "stable-4.20" }, capacityReservation: true });
      await original.begin(LATER, TO);
      await waitUntil("the control plane to have arrived", async () => {
        const latest = read(await bed.cluster.get(CLUSTER_VERSION), "status", "history", 0);
        return read(latest, "version") === LATER && read(latest, "state") === "Completed";
      });
      await waitUntil("the log to name the holder", async () => {
        const log = await process.readLog();
        return log.includes("another holds the lease, waiting") && log.includes(ORIGINAL_HOLDER);
      });
      const { renewedMs } = await bed.lease();
      await waitUntil("two more renewals", async () => (await bed.lease()).renewedMs >= renewedMs + 4_000);
      const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
      assert.match(metrics, /^archway_capability_leader\{capability="upgrades"\} 0$/m);
      assert.deepEqual((await writesOf(bed)).slice(before), []);
      assert.ok((await openshift.machineSets()).includes("workers-a-upgrade"));
      await original[Symbol.asyncDispose]();
    });
    await t.step(
      "once it is not renewed any more, the upgrade that the other has begun goes on, and nothing is repeated",
      async () => {
        const before = (await writesOf(bed)).length;
        const { holder, durationMs, renewedMs } = await bed.lease();
        assert.deepEqual([holder, durationMs], [ORIGINAL_HOLDER, 15_000]);
        const taken = await waitUntil("the Lease to be taken", async () => {
          const lease = await bed.lease();
          return lease.holder === "two" && lease;
        });
        assert.ok(taken.acquiredMs - renewedMs >= durationMs, `taken after ${taken.acquiredMs - renewedMs} ms`);
        openshift.letNodesGo();
        await bed.untilPhase("Upgraded");
        await assertOver(bed, LATER);
        const effects = ["patch clusterversions", "create machinesets", "delete machinesets"];
        assert.deepEqual(await Promise.all(effects.map((words) => count(bed, words, before))), [0, 0, 1]);
        assert.deepEqual(await notificationsOf(bed), ["Completed", "ControlPlaneFinished", "WorkerPlaneFinished"]);
        const entry = read(await bed.readPlan(), "status", "history", 0);
        assert.equal(read(entry, "startTime"), ORIGINAL_BEGAN);
        const began = listAt(entry, "conditions")
          .filter((one) => read(one, "completeTime") === ORIGINAL_BEGAN).map((one) => read(one, "type"));
        assert.equal(began.length, 7, "the steps that it has done are as it wrote them");
      },
    );
  }),
);
