// U1: what upgrades cost: requests and memory while a plan waits, and the reconciles of an upgrade and a migration of a large
// cluster. `serve --only=upgrades` as it is installed, in a process of its own; requests are those of the API server's audit log.
import { MINUTE_MS, renderTime } from "../../lib/vocabulary/time.ts";
import { type AuditedRequest, readAuditLog } from "../cluster/support/audit_log.ts";
import { startControlPlane, WITHOUT_KUBELETS } from "../cluster/support/control_plane.ts";
import { TO } from "../cluster/support/simulated_openshift.ts";
import { poolsOf } from "../cluster/support/upgrade_many_nodes.ts";
import { PLAN } from "../cluster/support/upgrade_plane.ts";
import { UPGRADE_ACCOUNT, UpgradeService } from "../cluster/support/upgrade_service.ts";
import { pause } from "../cluster/support/wait.ts";
import type { Bench } from "./bench.ts";
import { readMemoryMb } from "./process_usage.ts";
import { cutReconciles, isOfWorkloads, type Reconcile, reconcileRequests } from "./reconciles.ts";
import { atMost, NO_TARGET, type Row, rowOf } from "./table.ts";

const SETTINGS = "configManager: { source: LOCAL }\nfeatureGate: { enabled: [PreHealthCheck] }\n";
/** For the first watches, and for what the beginning leaves to be collected (ms). */
const SETTLING_MS = 30_000;
const PATIENCE = { deadlineMs: 15 * MINUTE_MS };

interface Idle {
  readonly requestsAMinute: number;
  readonly renewalsAMinute: number;
  readonly memoryMb: number;
}

/** A leader with a plan for later; then the plan's time comes, and after the upgrade a migration. */
export async function benchUpgrades({ options, tell, keep }: Bench): Promise<readonly Row[]> {
  const { nodes, pools, idleMs } = options.upgrades;
  await using cluster = await startControlPlane(WITHOUT_KUBELETS);
  await using bed = await UpgradeService.open({ pools: poolsOf(nodes, pools), stepMs: 20, cluster });
  await bed.configure(SETTINGS);
  const { process: { pid } } = await bed.startReplica("one");
  await bed.untilPlansAreChecked();
  const idle = await measureIdle(bed, idleMs, pid);
  tell(`a plan waits: ${idle.requestsAMinute} requests a minute, ${idle.memoryMb.toFixed(0)} MB`);
  // Before, the first lists of watches lie between a reconcile's own.
  const begin = (await requestsOf(bed)).length;
  await bed.cluster.patch(PLAN, { spec: { upgradeAt: renderTime(Date.now() - MINUTE_MS) } });
  await bed.untilPhase("Upgraded", PATIENCE);
  const afterUpgrade = (await requestsOf(bed)).length;
  await bed.cluster.delete(PLAN);
  await bed.storePlan({ desired: { version: TO, architecture: "Multi" }, capacityReservation: true });
  await bed.untilPhase("Upgraded", PATIENCE);
  const requests = await requestsOf(bed);
  const upgrade = cutReconciles(requests.slice(begin, afterUpgrade));
  const migration = cutReconciles(requests.slice(afterUpgrade));
  keep("upgrades", { idle, upgrade, migration });
  const all = await readAuditLog(bed.cluster.auditLogFile ?? "");
  const looked = all.filter((request) => request.user === UPGRADE_ACCOUNT && isOfWorkloads(request)).length;
  return [
    ...idleRows(idle),
    memoryRow("most memory of its process, MB", await readMemoryMb(pid, "VmHWM")),
    ...rowsOf("an upgrade", upgrade),
    ...rowsOf("a migration", migration),
    rowOf("U1 reads of the look at all workloads, beside the reconciles, once in a migration", looked, NO_TARGET),
  ];
}

async function measureIdle(bed: UpgradeService, idleMs: number, pid: number): Promise<Idle> {
  await bed.storePlan({ upgradeAt: renderTime(Date.now() + 12 * 60 * MINUTE_MS), capacityReservation: true });
  await bed.untilPhase("Pending");
  await pause(Math.min(SETTLING_MS, idleMs));
  const before = await countAll(bed);
  await pause(idleMs);
  const after = await countAll(bed);
  const aMinute = (count: number): number => count * MINUTE_MS / idleMs;
  return {
    requestsAMinute: aMinute(after.others - before.others),
    renewalsAMinute: aMinute(after.leases - before.leases),
    memoryMb: await readMemoryMb(pid),
  };
}

async function countAll({ cluster }: UpgradeService): Promise<{ readonly leases: number; readonly others: number }> {
  const requests = (await readAuditLog(cluster.auditLogFile ?? "")).filter(({ user }) => user === UPGRADE_ACCOUNT);
  const leases = requests.filter(({ resource }) => resource === "leases").length;
  return { leases, others: requests.length - leases };
}

async function requestsOf({ cluster }: UpgradeService): Promise<readonly AuditedRequest[]> {
  return reconcileRequests(await readAuditLog(cluster.auditLogFile ?? ""), UPGRADE_ACCOUNT);
}

function idleRows({ requestsAMinute, renewalsAMinute, memoryMb }: Idle): readonly Row[] {
  return [
    rowOf("U1 requests a minute while a plan waits", requestsAMinute, NO_TARGET),
    rowOf("U1 renewals of the Lease a minute", renewalsAMinute, NO_TARGET),
    memoryRow("memory of its process while a plan waits, MB", memoryMb),
  ];
}

function memoryRow(what: string, archway: number): Row {
  return rowOf(`U1 ${what} (no process where upgrades are off)`, archway, NO_TARGET);
}

function rowsOf(what: string, reconciles: readonly Reconcile[]): readonly Row[] {
  const most = (of: (reconcile: Reconcile) => number): number => Math.max(0, ...reconciles.map(of));
  return [
    rowOf(`U1 reads of a reconcile of ${what}, at most`, most(({ reads }) => reads), atMost(10)),
    rowOf(`U1 writes of a reconcile of ${what}, at most`, most(({ writes }) => writes), NO_TARGET),
    rowOf(`U1 longest reconcile of ${what}, ms`, most(({ tookMs }) => tookMs), atMost(1_000)),
  ];
}
