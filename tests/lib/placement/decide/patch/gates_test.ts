import assert from "node:assert/strict";
import { SCHEDULING_GATE } from "../../../../../lib/names.ts";
import { admissionPatch } from "../../../../../lib/placement/decide/patch/admission_patch.ts";
import { isGated } from "../../../../../lib/placement/decide/pod/constraints.ts";
import { removeGate } from "../../../../../lib/placement/decide/patch/pod_patch.ts";
import { applied, at, gatesOf, make, type Row, rows } from "../make.ts";

const GATE = SCHEDULING_GATE;
const GATED = { kind: "gate", isScored: false, prefetch: [], possibleBundles: [], isCompared: true } as const;

function withGates(...names: readonly string[]): Record<string, unknown> {
  return make.pod({ schedulingGates: names.map((name) => ({ name })) });
}

const WITHOUT = make.pod();
const WITH_NULL = make.pod({ schedulingGates: null });

function removed(raw: unknown): unknown {
  return applied(raw, removeGate(make.view(raw)));
}

function adds(id: string, given: unknown, expected: readonly string[]): Row {
  return [id, `admissionPatch() makes the gates [${expected}]`, () => {
    assert.deepEqual(gatesOf(applied(given, admissionPatch(make.view(given), GATED))), expected);
  }];
}

function has(id: string, given: unknown, expected: boolean): Row {
  return [id, `isGated() says ${expected}`, () => assert.equal(isGated(make.view(given)), expected)];
}

function removes(id: string, given: unknown, expected: readonly string[]): Row {
  return [id, `removeGate() leaves [${expected}]`, () => assert.deepEqual(gatesOf(removed(given)), expected)];
}

rows([
  adds("MD-01", WITHOUT, [GATE]),
  adds("MD-01", WITH_NULL, [GATE]),
  adds("MD-02", withGates(), [GATE]),
  adds("MD-03", withGates("other-gate"), ["other-gate", GATE]),
  adds("MD-04", withGates(GATE, "other-gate"), [GATE, "other-gate"]),
  has("MD-05", WITHOUT, false),
  has("MD-06", withGates(), false),
  has("MD-07", withGates("other-gate"), false),
  has("MD-08", withGates(GATE), true),
  has("MD-09", withGates("other", GATE, "another"), true),
  removes("MD-10", WITHOUT, []),
  removes("MD-11", withGates("other-gate"), ["other-gate"]),
  removes("MD-12", withGates(GATE), []),
  has("PM-04", WITHOUT, false),
  has("PM-04", WITH_NULL, false),
  has("PM-05", withGates(), false),
  has("PM-06", withGates(GATE), true),
  has("PM-07", withGates("some-other-scheduling-gate"), false),
  has("PM-08", withGates("x", GATE, "y"), true),
  [
    "PM-09",
    "removeGate() leaves an absent list absent",
    () => assert.equal(at(removed(WITHOUT), "spec", "schedulingGates"), undefined),
  ],
  removes("PM-10", withGates(), []),
  removes("PM-11", withGates(GATE), []),
  removes("PM-12", withGates("other"), ["other"]),
  removes("PM-13", withGates("x", GATE, "y"), ["x", "y"]),
  adds("PM-56", WITHOUT, [GATE]),
  adds("PM-57", withGates(), [GATE]),
  adds("PM-58", withGates(GATE), [GATE]),
  adds("PM-59", withGates("other-gate"), ["other-gate", GATE]),
]);

Deno.test("removeGate() takes every copy of the gate out", () => {
  assert.deepEqual(gatesOf(removed(withGates(GATE, "x", GATE))), ["x"]);
});
