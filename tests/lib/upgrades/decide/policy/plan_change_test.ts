import assert from "node:assert/strict";
import {
  decidePlanChange,
  type LastSync,
  localPolicyOf,
  nextSyncMs,
} from "../../../../../lib/upgrades/decide/policy/plan_change.ts";

const SPEC = {
  desired: { version: "4.16.3", channel: "stable-4.16" },
  upgradeAt: "2026-03-20T00:00:00Z",
  PDBForceDrainTimeout: 60,
  capacityReservation: true,
  type: "OSD",
};
const MINUTE_MS = 60_000;

Deno.test("M-068 M-069 decidePlanChange() removes the plan when the source has none", () => {
  assert.deepEqual(decidePlanChange(SPEC, { kind: "none" }), { kind: "remove" });
  assert.deepEqual(decidePlanChange(undefined, { kind: "none" }), { kind: "nothing" });
});

Deno.test("M-070 M-071 decidePlanChange() creates a plan, leaves the same, replaces another", () => {
  const result = { kind: "desired", spec: SPEC } as const;
  assert.deepEqual(decidePlanChange(undefined, result), { kind: "create", spec: SPEC });
  assert.deepEqual(decidePlanChange({ ...SPEC }, result), { kind: "nothing" });
  for (const other of [{ upgradeAt: "2026-03-20T00:00:01Z" }, { desired: { ...SPEC.desired, version: "4.16.4" } }]) {
    assert.deepEqual(decidePlanChange({ ...SPEC, ...other }, result), { kind: "replace", spec: SPEC });
  }
});

Deno.test("decidePlanChange() keeps what people set beside the policy, but not another target", () => {
  const result = { kind: "desired", spec: SPEC } as const;
  const own = { suspend: true, drain: { mode: "Delete" } };
  assert.deepEqual(decidePlanChange({ ...SPEC, ...own }, result), { kind: "nothing" });
  const later = { ...SPEC, ...own, upgradeAt: "2026-03-21T00:00:00Z" };
  assert.deepEqual(decidePlanChange(later, result), { kind: "replace", spec: { ...own, ...SPEC } });
  const migrating = { ...SPEC, desired: { ...SPEC.desired, architecture: "Multi" } };
  assert.deepEqual(decidePlanChange(migrating, result), { kind: "replace", spec: SPEC });
  assert.deepEqual(decidePlanChange({ ...SPEC, desired: { ...SPEC.desired, image: "" } }, result), { kind: "nothing" });
});

Deno.test("M-072 M-075 M-076 localPolicyOf() gives the spec of a plan that was looked at and is not done", () => {
  const of = (history: unknown) => localPolicyOf({ spec: SPEC, status: { history } });
  assert.deepEqual(of([{ phase: "Pending" }]), { kind: "desired", spec: SPEC });
  assert.deepEqual(of([{ phase: "Upgrading" }, { phase: "Upgraded" }]), { kind: "desired", spec: SPEC });
  for (const history of [[], undefined, [{ phase: "Upgraded" }]]) assert.deepEqual(of(history), { kind: "none" });
  assert.deepEqual(localPolicyOf(undefined), { kind: "none" });
});

Deno.test("nextSyncMs() waits a minute first, the interval after a success, up to an hour after failures", () => {
  const at = (last: LastSync, random = 0.5) => nextSyncMs(last, { watchIntervalMinutes: 60, random }) / MINUTE_MS;
  assert.equal(at({ kind: "first" }), 1);
  assert.equal(at({ kind: "first" }, 0), 0.9);
  assert.equal(at({ kind: "synced" }), 60);
  assert.ok(at({ kind: "synced" }, 0.999) < 66);
  const failures = [1, 2, 3, 6, 7, 500].map((count) => at({ kind: "failed", failures: count }));
  assert.deepEqual(failures, [1, 2, 4, 32, 60, 60]);
});
