import assert from "node:assert/strict";
import fc from "fast-check";
import {
  type AfterFailure,
  decideAfterFailure,
  type FailedRelease,
  MAX_REREADS,
  type ReleaseFailure,
  type ReleaseStep,
  stepPatch,
} from "../../../../../lib/placement/decide/patch/escalation.ts";
import { applied, endOf, make, mark, settle } from "../make.ts";

const FAILED: FailedRelease = {
  step: "full",
  failure: "denied",
  isOverdue: true,
  rereads: 0,
  unanswered: 0,
};

const ROWS: readonly (readonly [string, Partial<FailedRelease>, AfterFailure["kind"] | ReleaseStep])[] = [
  ["a pod that others changed", { failure: "changed" }, "decideAgain"],
  ["a pod that others keep changing", { failure: "changed", rereads: MAX_REREADS, isOverdue: false }, "wait"],
  ["a pod that others keep changing past its deadline", { failure: "changed", rereads: MAX_REREADS }, "bare"],
  ["a refusal in time", { failure: "refused", isOverdue: false }, "bare"],
  ["a denial in time", { isOverdue: false }, "wait"],
  ["a denial past the deadline", {}, "bare"],
  ["a denial of the bare release", { step: "bare" }, "gate"],
  ["a denial of everything", { step: "gate" }, "wait"],
  ["no answer in time", { failure: "unanswered", unanswered: 9, isOverdue: false }, "wait"],
  ["a first write without an answer", { failure: "unanswered", unanswered: 1 }, "wait"],
  ["a second write without an answer", { failure: "unanswered", unanswered: 2 }, "bare"],
  ["a server that does not answer at all", { failure: "unreachable", unanswered: 9 }, "wait"],
];

Deno.test("decideAfterFailure() escalates what will not pass, at the deadline whatever failed", async (t) => {
  for (const [name, differences, wanted] of ROWS) {
    await t.step(name, () => {
      const next = decideAfterFailure({ ...FAILED, ...differences });
      assert.equal(next.kind === "escalate" ? next.step : next.kind, wanted);
    });
  }
});

Deno.test("decideAfterFailure() reaches the gate alone past the deadline, whatever the server answers, while it answers", () => {
  const failure = fc.constantFrom<ReleaseFailure>("changed", "refused", "denied", "unanswered");
  fc.assert(fc.property(fc.infiniteStream(failure), (answers) => {
    let state = FAILED;
    for (let turns = 0; turns < 100; turns++) {
      const now = answers.next().value ?? "denied";
      const unanswered = state.unanswered + (now === "unanswered" ? 1 : 0);
      const next = decideAfterFailure({ ...state, failure: now, unanswered });
      if (state.step === "gate" && next.kind === "wait") return;
      const rereads = state.rereads + (next.kind === "decideAgain" ? 1 : 0);
      // A wait ends the turn: the next one begins with everything again, and remembers what was not answered.
      state = next.kind === "escalate" ? { ...state, unanswered, step: next.step } : { ...FAILED, unanswered, rereads };
    }
    assert.fail("never came to the gate alone");
  }));
});

Deno.test("stepPatch() takes the gate off in each step, and asks for less in each", () => {
  const steps: readonly ReleaseStep[] = ["full", "bare", "gate"];
  const raw = make.gatedPod({}, { annotations: { note: "x" } });
  const { pod: view, decision } = settle(raw);
  const rows = steps.map((step) => {
    const { gates, required, annotations, marks } = endOf(
      applied(raw, stepPatch(view, step, { decision, why: "said no" })),
    );
    const added = Object.keys(annotations).filter((key) => key !== "note");
    return [step, gates, required !== undefined, added, marks["scheduling-gate"]];
  });
  assert.deepEqual(rows, [
    ["full", [], true, ["archway.dev/decision"], "removed"],
    ["bare", [], false, [mark("image-inspect-error")], "removed"],
    ["gate", [], false, [], "gated"],
  ]);
});
