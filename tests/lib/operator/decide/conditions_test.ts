import assert from "node:assert/strict";
import type { Condition } from "../../../../lib/vocabulary/condition.ts";
import {
  deriveOperandState,
  type MonitorState,
  type OperandObservation,
  renderConditions,
  renderLeaderlessConditions,
} from "../../../../lib/operator/decide/conditions.ts";

/** From the catalogue's letters: cA, wA, cU, wU, m, d. */
function see(bits: string): OperandObservation {
  const [cA, wA, cU, wU, m, d] = [...bits].map((bit) => bit === "1");
  return {
    controllerAvailable: cA ?? false,
    webhookAvailable: wA ?? false,
    controllerUpToDate: cU ?? false,
    webhookUpToDate: wU ?? false,
    webhookConfigured: m ?? false,
    deleting: d ?? false,
  };
}

function render(
  bits: string,
  options: Partial<Parameters<typeof renderConditions>[1]> = {},
): readonly Condition[] {
  return renderConditions(see(bits), {
    earlier: [],
    generation: 3,
    nowMs: Date.parse("2026-01-02T03:04:05.678Z"),
    gatedPods: 0,
    waiting: undefined,
    gatingStopped: undefined,
    monitor: undefined,
    unlabelledNodes: [],
    ...options,
  });
}

function bitsOf(seen: string): string {
  const state = deriveOperandState(see(seen));
  return [
    state.available,
    state.progressing,
    state.degraded,
    state.deprovisioning,
    state.controllerNotReady,
    state.webhookNotReady,
    state.webhookConfigurationMissing,
    state.canDeployWebhook,
  ].map((answer) => answer ? "T" : "F").join("");
}

const STATES: readonly (readonly [row: string, seen: string, state: string])[] = [
  ["14", "111111", "TFFTFFFF"],
  ["15", "111110", "TFFFFFFT"],
  ["16", "111100", "FTTFFFTT"],
  ["17", "010110", "FTTFTFFF"],
  ["18", "111010", "TTFFFTFT"],
  ["fresh install", "000000", "FTTFTTTF"],
  ["roll-out of both", "110010", "TTFFTTFT"],
  ["webhook down", "101010", "FTTFFTFF"],
  ["220 91 leaving, webhook gone", "101001", "FFFTFTTF"],
];
for (const [row, seen, state] of STATES) {
  Deno.test(`${row} deriveOperandState() says ${state} when cA wA cU wU m d are ${seen}`, () => {
    assert.equal(bitsOf(seen), state);
  });
}

Deno.test("6 7 8 9 renderConditions() says True or False, and `not` in the sentence of what does not hold", () => {
  const said = (bits: string): readonly (readonly [string, string])[] =>
    render(bits).filter(({ type }) => type === "Available" || type === "Progressing")
      .map(({ status, message }) => [status, /is (?:not )?(?:ready|progressing)/.exec(message)?.[0] ?? ""]);
  assert.deepEqual(said("111110"), [["True", "is ready"], ["False", "is not progressing"]]);
  assert.deepEqual(said("000000"), [["False", "is not ready"], ["True", "is progressing"]]);
});

Deno.test("93 219 renderConditions() spells out the seven conditions of the reference when all is well", () => {
  const rows = render("111110").map(({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`);
  const operand = "The cluster pod placement config operand is";
  assert.deepEqual(rows, [
    `Available=True AllComponentsReady: ${operand} ready. We can gate and reconcile pods.`,
    `Progressing=False AllComponentsReady: ${operand} not progressing.`,
    `Degraded=False NotDegraded: ${operand} not degraded.`,
    `Deprovisioning=False NotDeprovisioning: ${operand} not being deprovisioned.`,
    "PodPlacementControllerNotRolledOut=False PodPlacementControllerReady: The pod placement controller is fully rolled out.",
    "PodPlacementWebhookNotRolledOut=False PodPlacementWebhookReady: The pod placement webhook is fully rolled out.",
    "MutatingWebhookConfigurationNotAvailable=False AllComponentsReady: The mutating webhook configuration is ready.",
    "GatingStopped=False Gating: New pods are gated until their images are inspected.",
  ]);
});

Deno.test("219 renderConditions() runs the reasons together when nothing is ready", () => {
  const [available] = render("000000");
  assert.equal(
    available?.reason,
    "PodPlacementControllerNotRolledOut,PodPlacementWebhookNotRolledOut,MutatingWebhookConfigurationNotAvailable",
  );
  assert.match(available.message, /is not ready\. We cannot gate/);
});

Deno.test("219 renderConditions() moves lastTransitionTime only when the status flips", () => {
  const earlier = render("111110", { nowMs: 1_000 });
  const later = render("111010", { earlier, nowMs: 61_000 });
  const timeOf = (type: string): string | undefined => later.find((row) => row.type === type)?.lastTransitionTime;
  assert.equal(timeOf("Available"), "1970-01-01T00:00:01Z");
  assert.equal(timeOf("Progressing"), "1970-01-01T00:01:01Z");
  assert.equal(later.find((row) => row.type === "Available")?.reason, "PodPlacementWebhookNotRolledOut");
});

Deno.test("renderConditions() leaves the conditions of others as they are, behind ours", () => {
  const times = { lastTransitionTime: "2026-01-01T00:00:00Z" };
  const foreign: Condition = { type: "ENoExecReady", status: "Unknown", reason: "X", message: "", ...times };
  const conditions = render("111110", { earlier: [foreign] });
  assert.deepEqual(conditions.at(-1), foreign);
  assert.equal(conditions.length, 9);
});

Deno.test("220 renderConditions() says how many pods still hold the gate while leaving", () => {
  const still = { gatedPods: 4, waiting: "PodsStillGated", gatingStopped: "ConfigLeaving" } as const;
  const conditions = render("101001", still);
  const leaving = conditions.find(({ type }) => type === "Deprovisioning");
  assert.equal(leaving?.status, "True");
  assert.match(leaving?.message ?? "", /multiarch\.openshift\.io\/scheduling-gate; .*\(4 left\)/);
  assert.equal(conditions.at(-1)?.status, "True");
});

Deno.test("renderConditions() writes reasons and types the API server takes", () => {
  const reason = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;
  for (let bits = 0; bits < 64; bits++) {
    for (const condition of render(bits.toString(2).padStart(6, "0"), { gatingStopped: "LeaderSilent" })) {
      assert.match(condition.reason, reason);
      assert.match(condition.lastTransitionTime, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    }
  }
});

const MONITOR = "ExecFormatErrorMonitorNotAvailable";
const MONITORS: readonly (readonly [monitor: MonitorState, status: "True" | "False", reason: string])[] = [
  [{ kind: "installed", ready: 2, wanted: 2 }, "False", "DaemonsReady"],
  [{ kind: "installed", ready: 1, wanted: 2 }, "True", "DaemonsNotReady"],
  [{ kind: "installed", ready: 0, wanted: 0 }, "True", "DaemonsNotReady"],
  [{ kind: "no-image" }, "True", "ImageNotConfigured"],
  [{ kind: "refused", why: "forbidden" }, "True", "Refused"],
  [{ kind: "leaving", pendingEvents: 2 }, "True", "Leaving"],
];
for (const [monitor, status, reason] of MONITORS) {
  Deno.test(`renderConditions() says ${reason} of a monitor that is ${JSON.stringify(monitor)}`, () => {
    const condition = render("111110", { monitor }).find(({ type }) => type === MONITOR);
    assert.deepEqual([condition?.status, condition?.reason], [status, reason]);
  });
}

Deno.test("renderConditions() takes the monitor's condition away with the monitor", () => {
  const earlier = render("111110", { monitor: { kind: "no-image" } });
  assert.ok(earlier.some(({ type }) => type === MONITOR));
  assert.ok(!render("111110", { earlier }).some(({ type }) => type === MONITOR));
});

Deno.test("renderLeaderlessConditions() withdraws Available, reports why and what to look at, and leaves the others", () => {
  const earlier = render("111110");
  const now = renderLeaderlessConditions("LeaderSilent", { earlier, generation: 3, nowMs: 0 });
  const changed = now.filter((condition, at) => JSON.stringify(condition) !== JSON.stringify(earlier[at]));
  assert.deepEqual(changed.map(({ type, status, reason }) => [type, status, reason]), [
    ["Available", "False", "LeaderSilent"],
    ["GatingStopped", "True", "LeaderSilent"],
  ]);
  for (const { message } of changed) assert.match(message, /No replica renews the Lease.*look at its pods, their log/);
  const [only, ...more] = renderLeaderlessConditions("NoLeader", { earlier: [], generation: 1, nowMs: 0 });
  assert.deepEqual([only?.type, more], ["GatingStopped", []]);
});

/** Nodes without the label, and what the condition says of them. */
const UNLABELLED: readonly (readonly [names: readonly string[], says: RegExp | undefined])[] = [
  [[], undefined],
  [["virtual-1"], /goes to nodes without the label kubernetes\.io\/arch: virtual-1\. Label each: kubectl label node/],
  [Array.from({ length: 40 }, (_, at) => `virtual-${at}`), /: virtual-0, .* and \d+ more\./],
];

for (const [names, says] of UNLABELLED) {
  Deno.test(`Q-07 renderConditions() names ${names.length} nodes without the label of their architecture`, () => {
    const typed = (conditions: readonly Condition[]): Condition | undefined =>
      conditions.find(({ type }) => type === "NodesWithoutArchitecture");
    const there = render("111111", { unlabelledNodes: names });
    const condition = typed(there);
    assert.equal(condition?.status, says && "True");
    if (says !== undefined) assert.match(condition?.message ?? "", says);
    assert.equal(typed(render("111111", { earlier: there })), undefined, "gone with the last such node");
  });
}
