// A control plane with an Archway that keeps architecture taints, and what its tests ask of nodes, pods and the audit log.
import assert from "node:assert/strict";
import { type CommandResult, runArchway } from "../../support/archway_program.ts";
import { enablePlacement } from "./archway.ts";
import { type AuditedRequest, readAuditLog } from "./audit_log.ts";
import { type ClusterAccess, conditionOf, listAt, read } from "./cluster_access.ts";
import type { ControlPlaneOptions } from "./control_plane.ts";
import { CONFIG } from "./objects.ts";
import { waitUntil } from "./wait.ts";
import { openOwnWalkBed, openWalkBed, type WalkBed } from "./walk_bed.ts";

const ROOT = new URL("../../../", import.meta.url).pathname;
const ACCOUNT = "system:serviceaccount:archway-system:archway";

export const MANAGE: readonly string[] = ["--arch-taints=manage"];

/** Opens the bed with the rights of the component; no replica and no config yet. `own`: of a control plane for it alone. */
export async function openTaintBed(own?: ControlPlaneOptions): Promise<WalkBed> {
  const bed = own === undefined
    ? await openWalkBed()
    : await openOwnWalkBed({ controlPlane: { auditLog: true, ...own } });
  await bed.controlPlane.run(["apply", "-f", `${ROOT}manifests/components/arch-taints/role.yaml`]);
  return bed;
}

export async function startTainting(
  bed: WalkBed,
  { args = [], spec, deadlineMs = 120_000 }: {
    readonly args?: readonly string[];
    readonly spec?: unknown;
    readonly deadlineMs?: number;
  } = {},
): Promise<void> {
  await bed.startReplica({ args: [...MANAGE, ...args] });
  await enablePlacement(bed.controlPlane, spec);
  await waitForPhase(bed.controlPlane, "True Done", deadlineMs);
}

export async function waitForPhase(cluster: ClusterAccess, wanted: string, deadlineMs = 60_000): Promise<void> {
  let last = "";
  await waitUntil(`the condition ${wanted}`, async () => {
    const row = conditionOf(await cluster.get(CONFIG), "ArchitectureTaints");
    last = `${read(row, "status")} ${read(row, "reason")}: ${read(row, "message")}`;
    return last.startsWith(`${wanted}:`);
  }, { deadlineMs, intervalMs: 200, says: () => last });
}

/** Our taints of each node, by its name: `amd64:NoSchedule`. */
export async function taintsByNode(
  cluster: ClusterAccess,
  key = "supported-arch",
): Promise<Readonly<Record<string, string>>> {
  return Object.fromEntries(
    listAt(await cluster.get("/api/v1/nodes"), "items").map((node) => [
      String(read(node, "metadata", "name")),
      listAt(node, "spec", "taints").filter((taint) => read(taint, "key") === key)
        .map((taint) => `${read(taint, "value")}:${read(taint, "effect")}`).join(" "),
    ]),
  );
}

/** Waits until the nodes have exactly these taints of ours; nodes that are not named do not count. */
export async function waitForTaints(
  cluster: ClusterAccess,
  wanted: Readonly<Record<string, string>>,
  deadlineMs = 60_000,
): Promise<void> {
  let last: Readonly<Record<string, string>> = {};
  await waitUntil("the taints", async () => {
    last = await taintsByNode(cluster);
    return Object.entries(wanted).every(([name, taints]) => last[name] === taints);
  }, { deadlineMs, intervalMs: 200 }).catch(() => assert.deepEqual(last, { ...last, ...wanted }));
}

/** Our tolerations of each pod of a namespace, by its name: the values, sorted. */
export async function toleratedByPod(
  cluster: ClusterAccess,
  namespace: string,
): Promise<Readonly<Record<string, string>>> {
  const body = await cluster.get(`/api/v1/namespaces/${namespace}/pods`);
  return Object.fromEntries(
    listAt(body, "items").map((pod) => {
      const own = listAt(pod, "spec", "tolerations").filter((one) => read(one, "key") === "supported-arch");
      assert.ok(own.every((one) => read(one, "operator") === "Equal"), "the operator is spelled out");
      return [String(read(pod, "metadata", "name")), own.map((one) => String(read(one, "value"))).sort().join()];
    }),
  );
}

/** The requests of Archway's account so far. */
export async function archwayRequests(cluster: ClusterAccess): Promise<readonly AuditedRequest[]> {
  return (await readAuditLog(cluster.auditLogFile ?? "")).filter(({ user }) => user === ACCOUNT);
}

export async function runTaints(cluster: ClusterAccess, ...args: readonly string[]): Promise<CommandResult> {
  return await runArchway(["taints", ...args, "--kubeconfig", cluster.kubeconfigFile]);
}
