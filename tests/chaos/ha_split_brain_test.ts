// A leader freezes past its Lease, another takes over, and the first wakes up in the middle of its work. It writes nothing any
// more: what each replica did is read from the API server's audit log, where every token has a name of its own.
import assert from "node:assert/strict";
import { GateLabel, PodLabel } from "../../lib/names.ts";
import { type Archway, enablePlacement } from "../cluster/support/archway.ts";
import { type AuditedRequest, readAuditLog } from "../cluster/support/audit_log.ts";
import { type ClusterAccess, listAt, read } from "../cluster/support/cluster_access.ts";
import { readLease, startPair } from "../cluster/support/lease.ts";
import { CONFIG } from "../cluster/support/objects.ts";
import {
  assertPlaced,
  createPods,
  isReleased,
  isScheduled,
  listPods,
  podsOf,
  waitForPods,
} from "../cluster/support/pods.ts";
import { waitUntil } from "../cluster/support/wait.ts";
import { index, openWalkBed } from "../cluster/support/walk_bed.ts";

const ACCOUNT = { namespace: "archway-system", name: "archway" };
const WRITES: readonly string[] = ["create", "update", "patch", "delete"];

/** Writes that went through, but for events, which report what was done before, and tries to get the Lease. */
async function writesSoFar(cluster: ClusterAccess, credential: string): Promise<readonly AuditedRequest[]> {
  const requests = await readAuditLog(cluster.auditLogFile ?? assert.fail("no audit log"));
  return requests.filter((request) =>
    request.credential === credential && WRITES.includes(request.verb) && request.status < 300 &&
    request.resource !== "events" && request.resource !== "leases"
  );
}

/** The name of the replica's token in the audit log: that of the last renewal of the Lease. */
async function credentialOfLeader(cluster: ClusterAccess): Promise<string> {
  return await waitUntil("a renewal in the audit log", async () => {
    const requests = await readAuditLog(cluster.auditLogFile ?? assert.fail("no audit log"));
    const renewal = requests.findLast(({ resource, verb }) => resource === "leases" && verb === "update");
    return renewal?.credential !== "" && renewal?.credential;
  });
}

function placedBy(replica: Archway): Promise<number> {
  return replica.metric("archway_decisions_total", { kind: "place" });
}

Deno.test("ha: a leader that was frozen past its Lease writes nothing when it wakes; each pod is placed once, and right", async () => {
  await using bed = await openWalkBed();
  const { controlPlane, proxy } = bed;
  const kubeconfigs = await Promise.all([1, 2].map(() => controlPlane.serviceAccountKubeconfig(ACCOUNT)));
  const args = ["--max-gate-age=300s"];
  await using pair = await startPair(bed, {
    first: { args, kubeconfigFile: kubeconfigs[0] ?? "" },
    second: { args, kubeconfigFile: kubeconfigs[1] ?? "" },
    enable: () => enablePlacement(controlPlane, { fallbackArchitecture: "amd64" }),
  });
  const { first, second, balancer } = pair;
  const frozen = await credentialOfLeader(controlPlane);
  const image = await bed.push("demo/app", index("arm64"));
  const later = await bed.push("demo/later", index("arm64"));
  const namespace = await controlPlane.createNamespace("split");

  // Frozen in the midst of inspections.
  proxy.setFaults([{ fault: { kind: "status", status: 503 } }]);
  await createPods(controlPlane, namespace, { pods: podsOf("early", [image], 20) });
  await waitForPods(controlPlane, namespace, { count: 20, until: (pod) => !isReleased(pod) });
  let batches = 0;
  first.kill("SIGSTOP");
  try {
    balancer.setTargets([second.webhookPort]);
    await waitUntil("the second to lead", async () => await second.metric("archway_leader") === 1, {
      deadlineMs: 60_000,
    });
    proxy.setFaults([{ fault: { kind: "status", status: 503 }, repository: "demo/later" }]);
    await waitForPods(controlPlane, namespace, { count: 20, until: isScheduled });
    // These wait while the first one wakes: it would place them as well as the second does. Calls on connections that the
    // API server keeps open to the frozen replica time out first, and their pods pass ungated.
    await waitUntil("twenty pods to be gated by the second", async () => {
      await createPods(controlPlane, namespace, { pods: podsOf(`late-${batches}`, [later], 20), parallel: 20 });
      const batch = (await listPods(controlPlane, namespace)).filter(({ name }) => name.startsWith(`late-${batches}-`));
      batches++;
      return batch.length === 20 && batch.every(({ labels }) => labels[PodLabel.gate] === GateLabel.gated);
    }, { deadlineMs: 60_000, intervalMs: 500 });
  } finally {
    proxy.setFaults([]);
    first.kill("SIGCONT");
  }
  const before = (await writesSoFar(controlPlane, frozen)).length;
  await waitUntil("the first to see that it leads no more", async () => await first.metric("archway_leader") === 0);
  const all = await waitForPods(controlPlane, namespace, {
    count: 20 + 20 * batches,
    until: isScheduled,
    deadlineMs: 90_000,
  });

  assert.equal((await readLease(controlPlane)).holder, "second");
  assert.deepEqual(
    (await writesSoFar(controlPlane, frozen)).slice(before).map(({ verb, uri }) => `${verb} ${uri}`),
    [],
  );
  const held = all.filter(({ labels }) => labels[PodLabel.gate] === GateLabel.removed);
  await assertPlaced(controlPlane, held, () => ["arm64"]);
  const awaited = held.filter(({ name }) => name.startsWith("early-") || name.startsWith(`late-${batches - 1}-`));
  assert.equal(awaited.length, 40);
  assert.equal(await placedBy(first), 0);
  assert.equal(await placedBy(second), held.length);
  const conditions = listAt(await controlPlane.get(CONFIG), "status", "conditions");
  const gating = conditions.find((one) => read(one, "type") === "GatingStopped");
  assert.equal(read(gating, "status"), "False", "the one that woke up told nobody that there was no leader");
});
