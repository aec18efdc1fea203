import assert from "node:assert/strict";
import { parseTaints, parseTolerations } from "../../../lib/vocabulary/taint.ts";

const TAINT = { key: "arch", value: "arm64", effect: "NoSchedule" };

Deno.test("parseTaints() and parseTolerations() read what is odd as empty, and an absent list as none", () => {
  const empty = { key: "", value: "", effect: "" };
  assert.deepEqual(parseTaints({ taints: [null, { key: 1 }, TAINT] }), [empty, empty, TAINT]);
  assert.deepEqual(parseTaints(undefined), []);
  assert.deepEqual(parseTolerations({ tolerations: ["x"] }), [{ ...empty, operator: "", isTemporary: false }]);
  assert.equal(parseTolerations({}), undefined);
});
