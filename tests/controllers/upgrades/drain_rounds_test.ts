import assert from "node:assert/strict";
import { openDrainRounds } from "../../../controllers/upgrades/drain_rounds.ts";
import type { UpgradeInput } from "../../../lib/upgrades/cluster/plan_input.ts";
import type { HistoryEntry } from "../../../lib/upgrades/decide/types/plan.ts";
import { FakeClock } from "../../support/fake_clock.ts";
import { MemoryCluster } from "../../support/memory_kube_api.ts";
import { makeCluster, makeConfig, makeHistory, makePlan, seen } from "../../lib/upgrades/decide/make_plan.ts";

/** Its calls are `due`, `check DRAINMODE` and `forget`, in order. */
const openBed = () => {
  const clock = new FakeClock();
  const calls: string[] = [];
  const drains = {
    check: ({ plan }: { readonly plan: UpgradeInput["known"] }) =>
      Promise.resolve(void calls.push(`check ${plan?.spec.drainMode}`)),
    forget: () => void calls.push("forget"),
  };
  const rounds = openDrainRounds(
    { clock, readApi: new MemoryCluster().client() },
    { drains, onDue: () => void calls.push("due") },
  );
  return { clock, rounds, calls };
};

function inputOf(phase: HistoryEntry["phase"], drainMode: "Observe" | "Delete" = "Observe"): UpgradeInput {
  const known = makePlan({ drainMode }, { history: [makeHistory({ phase })] });
  const [clusterVersion, config] = [makeCluster(), makeConfig()];
  return {
    ...{ plan: seen(known), known, clusterVersion: seen(clusterVersion), nowMs: 0 },
    config: { kind: "parsed", config, warnings: [] },
    facts: { plan: known, clusterVersion, config },
  };
}

Deno.test("drains are due once a minute while an upgrade is under way, however often and long it is reconciled", async () => {
  const { clock, rounds, calls } = openBed();
  for (let second = 0; second <= 120; second += 20) {
    rounds.follow(inputOf("Upgrading"));
    await clock.advance(20_000);
  }
  assert.deepEqual(calls, ["due", "due", "due"]);
});

Deno.test("drains are checked by the plan that was read last, and not at all once no upgrade is under way", async () => {
  const { rounds, calls } = openBed();
  const { signal } = new AbortController();
  await rounds.take(signal);
  rounds.follow(inputOf("Upgrading", "Delete"));
  rounds.follow(inputOf("Upgrading"));
  await rounds.take(signal);
  rounds.follow(inputOf("Upgraded"));
  await rounds.take(signal);
  rounds.follow({ ...inputOf("Upgrading"), plan: { kind: "absent" }, known: undefined, facts: undefined });
  await rounds.take(signal);
  assert.deepEqual(calls, ["due", "check Observe", "forget", "forget"]);
});
