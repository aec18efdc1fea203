// Phase New: long before its time, the cluster is checked once, so that people can mend what would delay the upgrade.
import { checksOf, decideHealthBefore } from "../health_decision.ts";
import { withNotified } from "../notifications/notify.ts";
import { decideSchedule, inPhase, PACE_MS, save, settled, type Turn, withEntry } from "./turn.ts";
import { carryOut, read } from "../steps/run.ts";
import { MINUTE_MS } from "../../../cluster/time.ts";
import type { Part, ReconcileEnd } from "../types/steps.ts";

/** Upgrades that are farther away than this are checked beforehand. */
const EARLY_MS = 120 * MINUTE_MS;

/** Checks where there is time for it, and goes on to Pending whatever comes of it. */
export function* reconcileNew(turn: Turn): Part<ReconcileEnd> {
  const { plan, config } = turn.base;
  const { untilMs } = decideSchedule(plan.spec.upgradeAt, { nowMs: turn.nowMs, windowMs: 0 });
  const isChecked = untilMs > EARLY_MS && config.gates.has("PreHealthCheck") && checksOf(turn.base).length > 0;
  const checked = isChecked ? yield* checkEarly(turn) : turn;
  yield* save(inPhase(checked, "Pending"));
  return settled(PACE_MS);
}

function* checkEarly(turn: Turn): Part<Turn> {
  const { health } = yield* read(["health"]);
  if (health?.kind !== "observed") return turn;
  const context = { ...turn.base, history: turn.entry, results: health.value };
  const { done } = yield* carryOut(decideHealthBefore(context).effects);
  return withEntry(turn, withNotified(turn.entry, done, turn.nowMs));
}
