// What `spec.drain.mode` comes to: the settings can take it back, and so can the rights of the account.
import type { PlanConditionChange } from "../status_changes.ts";
import type { OperatorConfig } from "../types/operator_config.ts";
import type { DrainMode, UpgradeSpec } from "../types/plan.ts";

type Mode = Pick<UpgradeSpec, "drainMode">;
type Settings = Pick<OperatorConfig, "nodeDrain">;

/** The mode that holds: that of the plan, else that of the settings. Without one, and with strategies disabled, nothing is done. */
export function drainModeOf({ drainMode }: Mode, { nodeDrain }: Settings): DrainMode {
  return nodeDrain.disableDrainStrategies ? "Observe" : drainMode ?? nodeDrain.mode ?? "Observe";
}

export interface DrainModeContext {
  readonly config: Settings;
  /** Everything that was tried last was forbidden (403). */
  readonly isForbidden: boolean;
}

const REPORTED = "Pods that keep a node from being drained are reported, not deleted";

export function drainModeCondition(
  plan: Mode,
  { config, isForbidden }: DrainModeContext,
): PlanConditionChange {
  const says = (isTrue: boolean, reason: string, message: string): PlanConditionChange => {
    return { type: "DrainMode", isTrue, reason, message };
  };
  if (config.nodeDrain.disableDrainStrategies) {
    return says(false, "DrainStrategiesDisabled", `${REPORTED}: nodeDrain.disableDrainStrategies is true.`);
  }
  const mode = plan.drainMode ?? config.nodeDrain.mode;
  if (mode === undefined) {
    const hint = "Set spec.drain.mode to DeleteAndStripFinalizers for what the Managed Upgrade Operator does.";
    return says(false, "ObserveByDefault", `${REPORTED}. ${hint}`);
  }
  if (mode === "Observe") return says(false, mode, `${REPORTED}.`);
  if (isForbidden) {
    const hint = "The component `upgrades-drain` grants the right.";
    return says(false, "Forbidden", `${REPORTED}: the API server forbids what ${mode} tries (403). ${hint}`);
  }
  const granted = "where the component `upgrades-drain` grants it";
  return says(true, mode, `Pods that keep a node from being drained in time are to be deleted, ${granted}.`);
}
