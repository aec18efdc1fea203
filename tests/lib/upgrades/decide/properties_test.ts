import assert from "node:assert/strict";
import fc from "fast-check";
import type { Effect } from "../../../../lib/upgrades/decide/types/effects.ts";
import type { ReadingName } from "../../../../lib/upgrades/decide/types/observed.ts";
import type { HistoryEntry, UpgradeSpec } from "../../../../lib/upgrades/decide/types/plan.ts";
import { CAPACITY, FROM, makeObservations, makeSpec, MINUTE, START_MS } from "./make_plan.ts";
import { type Fault, GOALS, Model } from "./model.ts";

const KINDS: readonly Effect["kind"][] = [
  "notify",
  "patchClusterVersion",
  "createSilence",
  "endSilence",
  "reserveCapacity",
  "releaseCapacity",
  "createSmokeMachine",
  "setMetric",
];

const isReading = (name: string): name is ReadingName => name in makeObservations();
const READINGS = Object.keys(makeObservations()).filter(isReading);

const fault: fc.Arbitrary<Fault> = fc.record({
  cutAt: fc.option(fc.nat(12), { nil: undefined, freq: 4 }),
  cutBehind: fc.option(fc.nat(12), { nil: undefined, freq: 4 }),
  unreadable: fc.option(fc.constantFrom(...READINGS), { nil: undefined, freq: 3 }),
  failing: fc.option(fc.constantFrom(...KINDS), { nil: undefined, freq: 3 }),
});
const goal = fc.option(fc.constantFrom(...GOALS, "behind" as const), { nil: undefined, freq: 2 });
const turn = fc.record({ fault, minutes: fc.integer({ min: 0, max: 3 }), goal, suspended: fc.boolean() });
const MIGRATION = { desired: { version: FROM, architecture: "Multi", channel: "" } } as const;
const specs: fc.Arbitrary<UpgradeSpec> = fc.constantFrom(
  makeSpec(),
  makeSpec({ type: "ARO", capacity: CAPACITY }),
  makeSpec({ capacity: CAPACITY }),
  makeSpec(MIGRATION),
  makeSpec({ ...MIGRATION, capacity: CAPACITY, smoke: { machineSetTemplate: "arm", timeoutMinutes: 15 } }),
);

/** The order in which the cluster arrives in the end. */
const orders = fc.shuffledSubarray([...GOALS], { minLength: GOALS.length });
const courses = fc.record({ turns: fc.array(turn, { maxLength: 25 }), order: orders });

function runThrough(
  spec: UpgradeSpec,
  { turns, order }: typeof courses extends fc.Arbitrary<infer Course> ? Course : never,
): Model {
  const model = new Model(spec);
  for (const { fault, minutes, goal, suspended } of turns) {
    model.nowMs += minutes * MINUTE;
    model.isSuspended = suspended;
    if (goal !== undefined) model.advance(goal);
    model.reconcile(fault);
  }
  model.isSuspended = false;
  for (let count = 0; count < 40 && model.status.history[0]?.phase !== "Upgraded"; count++) {
    model.nowMs += MINUTE;
    model.advance(order[count % order.length] ?? "accepted");
    model.reconcile();
  }
  return model;
}

/** Asserts it of models that a course has been run through. */
function holds(title: string, check: (model: Model) => void): void {
  Deno.test(title, () => {
    fc.assert(fc.property(specs, courses, (spec, course) => check(runThrough(spec, course))), { numRuns: 120 });
  });
}

holds(
  "N-015 N-016 an upgrade that is cut off anywhere, and whose reads and effects fail, ends well and leaves nothing",
  (model) => {
    const { silences, hasClones, hasSmokeMachine } = model;
    assert.equal(model.status.history[0]?.phase, "Upgraded", JSON.stringify(model.status.history[0]?.conditions[0]));
    assert.deepEqual([silences, hasClones, hasSmokeMachine], [[], false, false]);
  },
);

holds("N-015 nothing that was remembered is done twice: no notification, no request, no silence", (model) => {
  const held = new Set<string>();
  const ended = new Set<string>();
  for (const { effect, saved, wasAsked } of model.log) {
    if (effect.kind === "notify") {
      const sent = saved.history[0]?.notifications.map(({ state }) => state) ?? [];
      assert.equal(sent.includes(effect.notification.state), false, effect.notification.state);
    }
    if (effect.kind === "patchClusterVersion") assert.equal(wasAsked, false, "asked twice");
    if (effect.kind === "createSilence") {
      assert.equal(held.has(effect.silence.comment), false, effect.silence.comment);
      held.add(effect.silence.comment);
    }
    if (effect.kind === "endSilence") {
      assert.equal(ended.has(effect.id), false, effect.id);
      ended.add(effect.id);
    }
  }
});

/** Times that are stamped once; conditions of steps behind the request are among them. */
function stampsIn(entry: HistoryEntry): readonly (readonly [string, string])[] {
  const { startTime, completeTime, workerStartTime, workerCompleteTime, notifications, conditions } = entry;
  const late = ["ControlPlaneUpgraded", "WorkerNodesUpgraded", "CompletedNotificationSent"];
  return [
    ...Object.entries({ startTime, completeTime, workerStartTime, workerCompleteTime }),
    ...notifications.map(({ state, sentTime }) => [state, sentTime] as const),
    ...conditions.filter(({ type }) => late.includes(type)).map(({ type, completeTime: end }) => [type, end] as const),
    ...conditions.map(({ type, startTime: began }) => [`start of ${type}`, began] as const),
  ].flatMap(([name, time]) => time === undefined ? [] : [[name, time] as const]);
}

holds(
  "N-015 wherever an upgrade is cut off, at most the effects of the step at hand are not remembered",
  ({ mostUnsaved }) => {
    assert.equal(mostUnsaved, 1);
  },
);

holds("every time is stamped once", ({ saves }) => {
  const stamped = new Map<string, string>();
  for (const { status: { history: [entry] } } of saves) {
    for (const [name, time] of entry === undefined ? [] : stampsIn(entry)) {
      assert.equal(stamped.get(name) ?? time, time, name);
      stamped.set(name, time);
    }
  }
  assert.ok(stamped.has("completeTime"));
});

Deno.test("N-007 N-008 N-009 N-010 a migration never completes before all of its rules hold", () => {
  fc.assert(
    fc.property(fc.constantFrom(0, 1), courses, (kind, course) => {
      const smoke = kind === 0 ? undefined : { machineSetTemplate: "arm", timeoutMinutes: 15 };
      const model = runThrough(makeSpec({ ...MIGRATION, smoke }), course);
      const ends = model.saves.filter(({ status }) =>
        status.history[0]?.phase === "Upgraded" || status.conditions.some(({ type }) => type === "MultiArchCapable")
      );
      assert.ok(ends.length > 0);
      for (const { isConverged } of ends) assert.equal(isConverged, true);
    }),
    { numRuns: 100 },
  );
});

Deno.test("a plan that is suspended before the update was requested does nothing", () => {
  fc.assert(
    fc.property(specs, courses, (spec, { turns }) => {
      const model = new Model(spec);
      for (const { fault, minutes, suspended } of turns) {
        model.nowMs += minutes * MINUTE;
        model.isSuspended = suspended;
        const before = model.log.length;
        const wasAsked = model.isAsked;
        model.reconcile(fault);
        if (suspended && !wasAsked) assert.equal(model.log.length, before);
      }
    }),
    { numRuns: 100 },
  );
});

Deno.test("N-030 a clock that jumps over the start or back again neither repeats nor shortens anything", () => {
  let [early, asked] = [0, 0];
  const jumps = fc.array(fc.record({ minutes: fc.integer({ min: -200, max: 100 }), goal }), { maxLength: 25 });
  fc.assert(
    fc.property(specs, jumps, (spec, turns) => {
      const model = new Model(spec);
      for (const { minutes, goal } of turns) {
        model.nowMs = Math.max(START_MS - 60 * MINUTE, model.nowMs + minutes * MINUTE);
        const phase = model.status.history[0]?.phase;
        const before = model.log.length;
        const end = model.reconcile();
        assert.ok(end !== "cut off");
        assert.ok(end.requeueAfterMs === undefined || end.requeueAfterMs > 0);
        if (goal !== undefined) model.advance(goal);
        if (model.nowMs < START_MS && phase !== "Upgrading") {
          early++;
          assert.deepEqual(model.log.slice(before).filter(({ effect }) => effect.kind === "patchClusterVersion"), []);
        }
        if (model.isAsked) assert.notEqual(model.status.history[0]?.phase, "Failed");
      }
      const done = model.log.flatMap(({ effect }) =>
        effect.kind === "notify"
          ? [effect.notification.state]
          : effect.kind === "createSilence"
          ? [effect.silence.comment]
          : effect.kind === "patchClusterVersion"
          ? [effect.kind]
          : []
      );
      assert.deepEqual(done, [...new Set(done)]);
      if (model.isAsked) asked++;
    }),
    { numRuns: 100 },
  );
  assert.ok(early > 0 && asked > 0, `${early} looks before the start, ${asked} upgrades`);
});
