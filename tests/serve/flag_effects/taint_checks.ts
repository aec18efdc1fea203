// What the flags and settings of architecture taints change.
import assert from "node:assert/strict";
import { taintAbsenceLimits } from "../../../controllers/taints/fail_open.ts";
import type { Config } from "../../../lib/config/parse.ts";
import { decideLeaderState } from "../../../lib/k8s/leader_watch.ts";
import { type Checks, fileConfig, serveConfig, settingsOf } from "./support.ts";

export const TAINT_FLAGS: Checks = {
  "arch-taints": () => {
    const taintsOf = (...flags: readonly string[]): unknown => settingsOf(serveConfig(...flags)).ownTaints;
    assert.deepEqual(taintsOf(), []);
    assert.deepEqual(taintsOf("--arch-taints=manage"), [{ key: "supported-arch", effect: "NoSchedule" }]);
    assert.deepEqual(taintsOf("--arch-taints=tolerate"), []);
  },
};

export const TAINT_SETTINGS: Checks = {
  taintsFailOpenAfter: () => {
    const after = ({ taintsFailOpenAfter: afterMs }: Config): string => {
      const silence = { isLeader: false, silentForMs: 30_000, provenForMs: 20_000, answeredAgoMs: 0 };
      return decideLeaderState(silence, taintAbsenceLimits(afterMs));
    };
    assert.deepEqual([after(serveConfig()), after(fileConfig("taintsFailOpenAfter: 30s"))], ["present", "absent"]);
  },
  tolerateArchTaints: () => {
    const keysOf = (archTaints: Config["archTaints"], text: string): readonly string[] =>
      settingsOf({ ...fileConfig(text), archTaints }).toleratedTaints.map(({ key }) => key);
    const listed = "tolerateArchTaints: [example.com/cpu=arch]";
    assert.deepEqual([keysOf("tolerate", ""), keysOf("manage", "")], [["kubernetes.io/arch"], ["supported-arch"]]);
    assert.deepEqual(keysOf("tolerate", listed), ["example.com/cpu"]);
    assert.deepEqual(keysOf("manage", listed), ["supported-arch", "example.com/cpu"]);
    assert.throws(() => keysOf("off", listed), /give --arch-taints=tolerate/);
  },
  archTaint: () => {
    const taintsOf = (text: string): unknown => settingsOf({ ...fileConfig(text), archTaints: "manage" }).ownTaints;
    const taint = { key: "example.com/cpu", effect: "NoExecute" };
    assert.deepEqual(taintsOf("archTaint: example.com/cpu=arch:NoExecute\n"), [taint]);
    assert.deepEqual(taintsOf("archTaint: gke\n"), []);
  },
};
