// What the flags and settings of architecture taints change.
import assert from "node:assert/strict";
import { taintAbsenceLimits } from "../../../controllers/taints/fail_open.ts";
import { decideLeaderState } from "../../../lib/k8s/leader_absence.ts";
import { ownTaintRule } from "../../../serve/taints.ts";
import { type Checks, fileConfig, serveConfig, settingsOf } from "./support.ts";

/** Flags of `serve`. */
export const TAINT_FLAGS: Checks = {
  "arch-taints": () => {
    assert.equal(ownTaintRule(serveConfig()), undefined);
    const config = serveConfig("--arch-taints=manage");
    assert.deepEqual(ownTaintRule(config), { key: "supported-arch", effect: "NoSchedule" });
    assert.equal(settingsOf(config).ownTaints.length, 1);
  },
  "taints-fail-open-after": () => {
    const after = (...flags: readonly string[]): string => {
      const { taintsFailOpenAfter: afterMs } = serveConfig("--arch-taints=manage", ...flags);
      const silence = { isLeader: false, silentForMs: 30_000, provenForMs: 20_000, answeredAgoMs: 0 };
      return decideLeaderState(silence, taintAbsenceLimits(afterMs));
    };
    assert.deepEqual([after(), after("--taints-fail-open-after=30s")], ["present", "absent"]);
  },
};

/** Of the file. */
export const TAINT_SETTINGS: Checks = {
  archTaint: () => {
    const ruleOf = (text: string): unknown => ownTaintRule({ ...fileConfig(text), archTaints: "manage" });
    assert.deepEqual(ruleOf("archTaint: example.com/cpu=arch:NoExecute\n"), {
      key: "example.com/cpu",
      effect: "NoExecute",
    });
    assert.equal(ruleOf("archTaint: gke\n"), undefined);
  },
};
