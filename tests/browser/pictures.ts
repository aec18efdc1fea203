// What the pictures of the documents show: a placement replica, an upgrade and image builds in the middle of a day.
import { createHash } from "node:crypto";
import type { PoolBuildView } from "../../lib/builds/decide/effects.ts";
import { renderTime } from "../../lib/vocabulary/time.ts";
import { readVersion } from "../../manifests/tool.ts";
import { buildsPage } from "../../routes/builds_page.tsx";
import { dashboard } from "../../routes/dashboard.tsx";
import { upgradePage, type UpgradePageView } from "../../routes/upgrade_page.tsx";
import { CAPACITY, makeHistory, makePlan, makePool, MINUTE, NOW_MS, seen } from "../lib/upgrades/decide/make_plan.ts";
import { makePoolBuild } from "../routes/builds_view.ts";
import { makeBusyView } from "../routes/dashboard_view.ts";

const UPGRADE_MINUTES = 97;
/** Minutes into the upgrade. */
const STEPS: readonly (readonly [id: string, start: number, end?: number])[] = [
  ["StartedNotificationSent", 0, 0.2],
  ["IsClusterUpgradable", 0.2, 0.5],
  ["ClusterHealthyBeforeUpgrade", 0.5, 3],
  ["ExternalDependenciesAvailable", 3, 4],
  ["ComputeCapacityReserved", 4, 11],
  ["ControlPlaneMaintenanceWindowCreated", 11, 11.1],
  ["UpgradeCommenced", 11.1, 12],
  ["ControlPlaneUpgraded", 12, 58],
  ["ControlPlaneMaintenanceWindowRemoved", 58, 58.1],
  ["WorkersMaintenanceWindowCreated", 58.1, 58.3],
  ["WorkerNodesUpgraded", 58.3],
];

function upgradeTime(minutes: number): string {
  return renderTime(NOW_MS - (UPGRADE_MINUTES - minutes) * MINUTE);
}

function showUpgrade(): UpgradePageView {
  const conditions = STEPS.map(([type, start, end]) => ({
    ...{ type, reason: "", lastTransitionTime: upgradeTime(end ?? start), startTime: upgradeTime(start) },
    ...end === undefined
      ? { status: "False" as const, message: "4 nodes are left" }
      : { status: "True" as const, message: "", completeTime: upgradeTime(end) },
  }));
  const startTime = upgradeTime(0);
  const history = [makeHistory({ version: "4.20.8", precedingVersion: "4.20.5", conditions, startTime })];
  const pools = [
    makePool("infra"),
    makePool("master"),
    makePool("worker", { machineCount: 9, updatedMachineCount: 5 }),
    makePool("gpu", { isPaused: true, machineCount: 2, updatedMachineCount: 0 }),
  ];
  return { nowMs: NOW_MS, plan: seen(makePlan({ capacity: CAPACITY }, { history })), pools: seen(pools) };
}

const BUILT = { buildKey: "", attempts: 1, startedAt: renderTime(NOW_MS - 14 * MINUTE) };

function showBuilds(): readonly PoolBuildView[] {
  const finishedAt = renderTime(NOW_MS - 8 * MINUTE);
  const amd64 = { ...BUILT, arch: "amd64", state: "Succeeded", finishedAt } as const;
  const publishedOf = (pool: string): string => {
    const digest = createHash("sha256").update(pool).digest("hex");
    return `registry.example.com/platform/os@sha256:${digest}`;
  };
  const quiet = { uncovered: [], problem: undefined };
  return [
    makePoolBuild({
      ...{ ...quiet, pool: "worker", published: publishedOf("worker") },
      archs: [amd64, { ...BUILT, arch: "arm64", state: "Building" }],
    }),
    makePoolBuild({
      ...{ ...quiet, pool: "gpu", state: "Failed", published: publishedOf("gpu") },
      archs: [amd64, { ...BUILT, arch: "arm64", state: "Failed", reason: "DeadlineExceeded", finishedAt }],
      uncovered: [{ node: "gpu-arm64-2", arch: "arm64" }],
    }),
    makePoolBuild({
      ...{ ...quiet, pool: "infra", state: "Succeeded", published: publishedOf("infra") },
      archs: [amd64],
    }),
  ];
}

const version = await readVersion();

/** By the name of the file, with the height of what is shown. */
export const PICTURES = {
  dashboard: { page: dashboard(() => ({ ...makeBusyView(), version })), height: 860 },
  upgrade: { page: upgradePage(() => Promise.resolve(showUpgrade())), height: 1070 },
  "image-builds": { page: buildsPage(() => ({ nowMs: NOW_MS, isLeader: true, pools: showBuilds() })), height: 490 },
};
