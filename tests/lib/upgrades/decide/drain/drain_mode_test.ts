import assert from "node:assert/strict";
import { drainModeCondition, drainModeOf } from "../../../../../lib/upgrades/decide/drain/advise.ts";
import type { DrainMode } from "../../../../../lib/upgrades/decide/types/plan.ts";
import { makeConfig } from "../make_plan.ts";

const STRIP = "DeleteAndStripFinalizers";
const MODES = [undefined, "Observe", "Delete", STRIP] as const;
const GRANTED = /are to be deleted, where the component `upgrades-drain` grants it/;
const OFF = /not deleted: nodeDrain\.disableDrainStrategies is true\.$/;

/** Mode, strategies disabled, removals forbidden: the mode that holds, status and reason, and what the message says. */
const ROWS: readonly (readonly [DrainMode | undefined, boolean, boolean, DrainMode, string, RegExp])[] = [
  [undefined, false, false, "Observe", "False ObserveByDefault", /reported, not deleted\. Set spec\.drain\.mode to/],
  [undefined, false, true, "Observe", "False ObserveByDefault", /reported, not deleted\. Set spec\.drain\.mode to/],
  ["Observe", false, false, "Observe", "False Observe", /reported, not deleted\.$/],
  ["Observe", false, true, "Observe", "False Observe", /reported, not deleted\.$/],
  ["Delete", false, false, "Delete", "True Delete", GRANTED],
  ["Delete", false, true, "Delete", "False Forbidden", /not deleted: the API server forbids what Delete tries \(403\)/],
  [STRIP, false, false, STRIP, `True ${STRIP}`, GRANTED],
  [STRIP, false, true, STRIP, "False Forbidden", /The component `upgrades-drain` grants the right\.$/],
  ...MODES.flatMap((mode) =>
    [false, true].map((forbidden) => [mode, true, forbidden, "Observe", "False DrainStrategiesDisabled", OFF] as const)
  ),
];

for (const [drainMode, disabled, isForbidden, holds, expected, says] of ROWS) {
  const given = [drainMode ?? "no mode", ...disabled ? ["disabled"] : [], ...isForbidden ? ["forbidden"] : []];
  Deno.test(`${given.join(", ")}: DrainMode is ${expected}`, () => {
    const config = makeConfig({ nodeDrain: { disableDrainStrategies: disabled } });
    assert.equal(drainModeOf({ drainMode }, config), holds);
    const { type, status, reason, message } = drainModeCondition({ drainMode }, { config, isForbidden });
    assert.deepEqual([type, `${status} ${reason}`], ["DrainMode", expected]);
    assert.match(message, says);
  });
}

const DEFAULTS: readonly (readonly [DrainMode | undefined, DrainMode, DrainMode, string])[] = [
  [undefined, STRIP, STRIP, `True ${STRIP}`],
  [undefined, "Observe", "Observe", "False Observe"],
  ["Observe", "Delete", "Observe", "False Observe"],
  ["Delete", "Observe", "Delete", "True Delete"],
];

for (const [drainMode, mode, holds, expected] of DEFAULTS) {
  Deno.test(`${drainMode ?? "no mode"}, nodeDrain.mode is ${mode}: DrainMode is ${expected}`, () => {
    const config = makeConfig({ nodeDrain: { mode } });
    assert.equal(drainModeOf({ drainMode }, config), holds);
    const { status, reason } = drainModeCondition({ drainMode }, { config, isForbidden: false });
    assert.equal(`${status} ${reason}`, expected);
  });
}
