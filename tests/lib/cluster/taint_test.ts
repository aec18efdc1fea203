import assert from "node:assert/strict";
import { parseTaints, parseTolerations, tolerates } from "../../../lib/cluster/taint.ts";

const TAINT = { key: "arch", value: "arm64", effect: "NoSchedule" };

const TOLERATIONS: readonly (readonly [Readonly<Record<string, unknown>>, boolean])[] = [
  [{ operator: "Exists" }, true],
  [{ operator: "Exists", effect: "NoExecute" }, false],
  [{ key: "arch", operator: "Exists" }, true],
  [{ key: "arch", operator: "Exists", tolerationSeconds: 300 }, true],
  [{ key: "other", operator: "Exists" }, false],
  [{ key: "arch", operator: "Equal", value: "arm64" }, true],
  [{ key: "arch", value: "arm64", effect: "NoSchedule" }, true],
  [{ key: "arch", value: "arm64", effect: "NoExecute" }, false],
  [{ key: "arch", value: "amd64" }, false],
  [{ operator: "Equal", value: "arm64" }, false],
  [{ key: "arch", operator: "Gt", value: "arm64" }, false],
];

Deno.test("tolerates() holds as in the scheduler", () => {
  for (const [raw, isTolerated] of TOLERATIONS) {
    const [toleration] = parseTolerations({ tolerations: [raw] }) ?? [];
    assert.equal(toleration !== undefined && tolerates(toleration, TAINT), isTolerated, JSON.stringify(raw));
  }
});

Deno.test("parseTaints() and parseTolerations() read what is odd as empty, and an absent list as none", () => {
  const empty = { key: "", value: "", effect: "" };
  assert.deepEqual(parseTaints({ taints: [null, { key: 1 }, TAINT] }), [empty, empty, TAINT]);
  assert.deepEqual(parseTaints(undefined), []);
  assert.deepEqual(parseTolerations({ tolerations: ["x"] }), [{ ...empty, operator: "", isTemporary: false }]);
  assert.equal(parseTolerations({}), undefined);
});
