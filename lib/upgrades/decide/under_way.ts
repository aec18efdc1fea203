// Which target a plan is carried out for: an upgrade that the cluster is on the way of is finished before another begins.
import { historyOf, isStepDone } from "./status_changes.ts";
import type { ClusterVersion } from "./types/cluster.ts";
import type { DesiredRelease, UpgradeConfig } from "./types/plan.ts";
import { COMMENCE_STEP } from "./steps/results.ts";
import { isReleaseOf, lostRequest } from "./release/target.ts";

/** The plan; while the cluster moves to an earlier target of it, which was requested for it, the plan with that target. */
export function withTargetUnderWay(plan: UpgradeConfig, clusterVersion: ClusterVersion): UpgradeConfig {
  const { spec, status } = plan;
  const begun = status.history.find((entry) => entry.phase === "Upgrading" && isStepDone(entry, COMMENCE_STEP));
  if (begun === undefined || historyOf(status, spec.desired) === begun) return plan;
  const desired: DesiredRelease = { version: begun.version, architecture: begun.architecture, channel: "", image: "" };
  const isUnderWay = isReleaseOf(desired, clusterVersion.desired) && lostRequest(desired, clusterVersion) === undefined;
  return isUnderWay ? { ...plan, spec: { ...spec, desired } } : plan;
}
