// An upgrade under way, for tests of its page.
import type { UpgradePageView } from "../../routes/upgrade_page.tsx";
import { makeHistory, makePlan, makePool, NOW_MS, seen } from "../lib/upgrades/decide/make_plan.ts";

export function makeUpgradeView(): UpgradePageView {
  const step = { reason: "r", lastTransitionMs: NOW_MS };
  const conditions = [
    {
      ...step,
      type: "UpgradeCommenced",
      status: "False",
      message: "<script>etcd</script> is degraded",
      startMs: NOW_MS,
    },
    {
      ...step,
      type: "StartedNotificationSent",
      status: "True",
      message: "",
      startMs: NOW_MS - 600_000,
      completeMs: NOW_MS - 300_000,
    },
  ] as const;
  const history = [makeHistory({ phase: "Upgrading", conditions, startMs: NOW_MS - 600_000 })];
  const worker = makePool("worker", { machineCount: 6, updatedMachineCount: 2 });
  const frozen = makePool("frozen", { isPaused: true, machineCount: 1, updatedMachineCount: 0 });
  return { nowMs: NOW_MS, plan: seen(makePlan({}, { history })), pools: seen([worker, frozen]) };
}
