import assert from "node:assert/strict";
import { renderTime } from "../../lib/vocabulary/time.ts";
import { readAuditLog } from "./support/audit_log.ts";
import { type ApiAnswer, read } from "./support/cluster_access.ts";
import { CLUSTER_VERSION, FROM, imageOf, TO } from "./support/simulated_openshift.ts";
import { phaseOf, PLAN } from "./support/upgrade_plane.ts";
import { ignore, onService, UPGRADE_ACCOUNT, type UpgradeService } from "./support/upgrade_service.ts";
import { waitUntil } from "./support/wait.ts";

const REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

/** Plans that can never be carried out, and what the user reads. */
const REFUSED: readonly (readonly [string, Readonly<Record<string, unknown>>, RegExp])[] = [
  [
    "an older version",
    { desired: { version: "4.19.9", channel: "stable-4.19" } },
    new RegExp(`4\\.19\\.9 is older than ${FROM}: downgrades are not supported, name a newer one`),
  ],
  [
    "a migration to another version",
    { desired: { version: TO, architecture: "Multi" } },
    new RegExp(`architecture Multi keeps the version: set spec\\.desired\\.version to ${FROM}`),
  ],
  ["a day that does not exist", { upgradeAt: "2026-02-30T22:00:00Z" }, /is no time that exists: write it in RFC 3339/],
  ["N-001 architecture and image", {
    desired: { version: FROM, architecture: "Multi", image: imageOf(TO) },
  }, /cannot set both Architecture and Image/],
  ["N-002 architecture without version", { desired: { architecture: "Multi" } }, /Version must be set if Architecture/],
];

async function refusal(bed: UpgradeService, spec: Readonly<Record<string, unknown>>): Promise<ApiAnswer> {
  return await waitUntil("an answer of the webhook", async () => {
    const answer = await bed.createPlan(spec);
    return answer.status !== 500 && answer;
  }, { intervalMs: 500 });
}

/** Whether a member of a group may do this with plans, where the group has the role `admin` of the namespace. */
async function mayWritePlans(bed: UpgradeService, verb: string): Promise<unknown> {
  const namespace = "openshift-managed-upgrade-operator";
  const resourceAttributes = { verb, group: "upgrade.managed.openshift.io", resource: "upgradeconfigs", namespace };
  const spec = { user: "somebody", groups: ["dedicated-admins", "system:authenticated"], resourceAttributes };
  return read(await bed.cluster.create(REVIEWS, { spec }), "status", "allowed");
}

async function assertDoneOnce({ surroundings, openshift }: UpgradeService): Promise<void> {
  assert.deepEqual(openshift.asked, [`${TO}  ${imageOf(TO)}`]);
  assert.deepEqual(await openshift.machineSets(), ["workers-a"]);
  assert.deepEqual(await openshift.cordoned(), []);
  assert.deepEqual(surroundings.active(), []);
  assert.deepEqual(surroundings.created.filter((comment) => comment.includes("control plane")).length, 1);
}

Deno.test(
  "upgrades: the installed service checks plans, and leaves to others what is not its own",
  { ignore },
  onService(async (bed, t) => {
    await t.step("until a leader has written its CA no plan is stored", async () => {
      assert.equal((await bed.createPlan()).status, 500);
    });
    await bed.startReplica("one");
    assert.match(atob(await bed.untilPlansAreChecked()), /^-----BEGIN CERTIFICATE-----/);
    for (const [name, spec, message] of REFUSED) {
      await t.step(`${name}: refused`, async () => {
        const { status, body } = await refusal(bed, spec);
        assert.equal(status, 422, JSON.stringify(body));
        assert.match(String(read(body, "message")), message);
        assert.equal(await bed.readPlan(), undefined);
      });
    }
    await t.step("M-391 administrators of the namespace may neither create nor delete plans", async () => {
      await bed.cluster.apply([{
        ...{ apiVersion: "rbac.authorization.k8s.io/v1", kind: "RoleBinding" },
        metadata: { namespace: "openshift-managed-upgrade-operator", name: "dedicated-admins" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "admin" },
        subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "dedicated-admins" }],
      }]);
      for (const verb of ["create", "delete"]) assert.equal(await mayWritePlans(bed, verb), false, verb);
    });
    await t.step("M-392 a plan for twelve hours from now is Pending within a minute", async () => {
      await bed.storePlan({ upgradeAt: renderTime(Date.now() + 12 * 60 * 60_000) });
      await waitUntil("the phase Pending", async () => phaseOf(await bed.readPlan()) === "Pending");
      await bed.cluster.delete(PLAN);
    });
  }),
);

const LED = ["upgradeconfigs", "clusterversions", "machinesets", "validatingwebhookconfigurations"];

Deno.test(
  "N-031 upgrades: a leader is killed in the middle; the other replica goes on once the Lease has run out, and one at a time writes",
  { ignore },
  onService(async (bed) => {
    const first = await bed.startReplica("one");
    await bed.untilPlansAreChecked();
    await bed.startReplica("two");
    bed.openshift.hold();
    await bed.storePlan({ capacityReservation: true });
    await bed.until("the ClusterVersion to be asked", async () => {
      return read(await bed.cluster.get(CLUSTER_VERSION), "spec", "desiredUpdate", "version") === TO;
    });
    assert.equal((await bed.lease()).holder, "one");
    first.process.kill("SIGKILL");
    await first.process.ended;
    const { durationMs, renewedMs } = await bed.lease();
    bed.openshift.letGo();
    const taken = await waitUntil("the other replica to lead", async () => {
      const lease = await bed.lease();
      return lease.holder === "two" && lease;
    });
    const heldMs = taken.acquiredMs - renewedMs;
    assert.ok(heldMs >= durationMs, `the Lease was taken after ${heldMs} ms of ${durationMs}`);
    assert.ok(heldMs <= durationMs + 15_000, `the Lease was taken only after ${heldMs} ms`);
    await bed.untilPhase("Upgraded");
    await assertDoneOnce(bed);
    const requests = await readAuditLog(bed.cluster.auditLogFile ?? assert.fail("no audit log"));
    const writers = requests.filter(({ user, resource, verb, status }) =>
      user === UPGRADE_ACCOUNT && LED.includes(resource) && !["get", "list", "watch"].includes(verb) && status < 300
    ).map(({ credential }) => credential);
    const turns = writers.filter((credential, at) => credential !== writers[at - 1]);
    assert.equal(turns.length, 2, `writers took turns ${turns.length} times in ${writers.length} writes`);
  }),
);
