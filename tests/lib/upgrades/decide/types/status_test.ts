import assert from "node:assert/strict";
import fc from "fast-check";
import { parseUpgradeStatus, renderStatus } from "../../../../../lib/upgrades/decide/types/plan.ts";
import { START } from "../make_plan.ts";

/** A member as it is found, and as it is written; undefined is absent. */
type Pair = readonly [found: unknown, written: unknown];
type Members = Readonly<Record<string, fc.Arbitrary<Pair>>>;

const JUNK = fc.constantFrom<unknown>(undefined, null, 7, true, {});

/** Values that stay as they are; everything else is written as `otherwise`. */
function member(values: fc.Arbitrary<unknown>, otherwise: unknown, junk = JUNK): fc.Arbitrary<Pair> {
  return fc.oneof(
    { weight: 4, arbitrary: values.map((value): Pair => [value, value]) },
    junk.map((value): Pair => [value, otherwise]),
  );
}

const TEXT = fc.string({ minLength: 1 });
const text = member(TEXT, "");
const BAD_TIMES = fc.constantFrom<unknown>(undefined, null, 7, "soon", "2026-02-30T20:00:00Z");
const time = fc.oneof(
  member(fc.constant(START), undefined, BAD_TIMES),
  fc.constant<Pair>(["2026-03-01T21:00:00.9+01:00", START]),
);
const certainTime = member(fc.constant(START), "1970-01-01T00:00:00Z", BAD_TIMES);
const choice = (values: readonly string[], otherwise: unknown): fc.Arbitrary<Pair> =>
  member(fc.constantFrom(...values), otherwise, fc.oneof(JUNK, fc.constant("Other")));

function object(members: Members): fc.Arbitrary<Pair> {
  return fc.record(members).map((pairs): Pair => {
    const side = (at: 0 | 1): unknown =>
      Object.fromEntries(
        Object.entries(pairs).map(([name, pair]) => [name, pair[at]]).filter(([, one]) => one !== undefined),
      );
    return [side(0), side(1)];
  });
}

function list(element: fc.Arbitrary<Pair>, empty: unknown): fc.Arbitrary<Pair> {
  const isKept = ([, written]: Pair): boolean => written !== undefined;
  return fc.oneof(
    {
      weight: 4,
      arbitrary: fc.array(element, { maxLength: 3 }).map((pairs): Pair => {
        const written = pairs.filter(isKept).map((pair) => pair[1]);
        return [pairs.map(([found]) => found), written.length === 0 ? empty : written];
      }),
    },
    JUNK.map((junk): Pair => [junk, empty]),
  );
}

const strange = fc.constantFrom<unknown>(null, 7, "x", [], { later: "Other" })
  .map((found): Pair => [found, undefined]);
const condition = object({
  ...{ type: text, status: choice(["True", "False", "Unknown"], "Unknown"), reason: text, message: text },
  ...{ lastProbeTime: time, lastTransitionTime: time, startTime: time, completeTime: time },
});
const notification = object({
  state: fc.constantFrom("StateStarted", "Later").map((state): Pair => [state, state]),
  sentTime: certainTime,
});
const texts = fc.oneof(
  member(
    fc.dictionary(fc.constantFrom("a", "b"), TEXT, { noNullPrototype: true }),
    {},
    fc.constantFrom(undefined, null, 7, []),
  ),
  fc.constant<Pair>([{ a: "b", c: 1 }, { a: "b" }]),
);
const entry = object({
  ...{ version: text, precedingVersion: member(TEXT, undefined), architecture: choice(["Multi"], undefined) },
  ...{ phase: choice(["New", "Pending", "Upgrading", "Upgraded", "Failed"], "Unknown") },
  ...{ startTime: time, completeTime: time, workerStartTime: time, workerCompleteTime: time },
  ...{ profile: choice(["multiarch-migration"], undefined), conditions: list(condition, undefined) },
  notifications: list(fc.oneof(notification, strange), undefined),
  baseline: fc.oneof(
    object({ image: text, operatorImages: texts, renderedConfigs: texts }),
    fc.constantFrom(undefined, null, 7, []).map((found): Pair => [found, undefined]),
  ),
  later: member(fc.constant({ a: [1] }), undefined, fc.constant(undefined)),
});
const planCondition = object({
  ...{
    type: fc.constantFrom("Valid", "Later").map((type): Pair => [type, type]),
    status: choice(["True", "False", "Unknown"], "False"),
    reason: text,
  },
  ...{ message: text, lastTransitionTime: certainTime, observedGeneration: member(fc.nat(), 0, fc.constant("x")) },
});
const status = object({
  history: list(
    fc.oneof({ weight: 4, arbitrary: entry }, fc.constantFrom(null, 7, []).map((found): Pair => [found, undefined])),
    [],
  ),
  conditions: list(fc.oneof(planCondition, strange), undefined),
});

Deno.test("renderStatus() writes 3 000 statuses as they were found, without what is malformed or says nothing", () => {
  fc.assert(
    fc.property(status, ([found, written]) => {
      assert.deepEqual(JSON.parse(JSON.stringify(renderStatus(parseUpgradeStatus(found)))), written);
    }),
    { numRuns: 3_000 },
  );
});

Deno.test("members, notifications and conditions of a later version survive", () => {
  const later = { later: { a: [1] } };
  const written = {
    history: [{
      ...{ version: "4.17.2", phase: "Upgrading", ...later },
      conditions: [{ type: "A", status: "True", reason: "", message: "", ...later }],
      notifications: [{ state: "StateStarted", sentTime: START, ...later }, { state: "StateLater", sentTime: START }],
      baseline: { image: "i", operatorImages: {}, renderedConfigs: {}, ...later },
    }],
    conditions: [{
      ...{ type: "Valid", status: "True", reason: "Valid", message: "", lastTransitionTime: START },
      ...{ observedGeneration: 1, ...later },
    }, {
      ...{
        type: "Later",
        status: "Unknown",
        reason: "",
        message: "",
        lastTransitionTime: START,
        observedGeneration: 1,
      },
    }],
  };
  assert.deepEqual(renderStatus(parseUpgradeStatus(written)), written);
});
