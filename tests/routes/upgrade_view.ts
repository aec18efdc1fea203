// An upgrade under way, for tests of its page.
import type { UpgradePageView } from "../../routes/upgrade_page.tsx";
import { renderTime } from "../../lib/vocabulary/time.ts";
import { makeHistory, makePlan, makePool, NOW_MS, seen } from "../lib/upgrades/decide/make_plan.ts";

export function makeUpgradeView(): UpgradePageView {
  const [now, before] = [renderTime(NOW_MS), renderTime(NOW_MS - 600_000)];
  const message = "<script>etcd</script> is degraded";
  const step = { reason: "r", lastTransitionTime: now };
  const times = { startTime: before, completeTime: renderTime(NOW_MS - 300_000) };
  const conditions = [
    { ...step, type: "UpgradeCommenced", status: "False", message, startTime: now },
    { ...step, type: "StartedNotificationSent", status: "True", message: "", ...times },
  ] as const;
  const history = [makeHistory({ phase: "Upgrading", conditions, startTime: before })];
  const worker = makePool("worker", { machineCount: 6, updatedMachineCount: 2 });
  const frozen = makePool("frozen", { isPaused: true, machineCount: 1, updatedMachineCount: 0 });
  return { nowMs: NOW_MS, plan: seen(makePlan({}, { history })), pools: seen([worker, frozen]) };
}
