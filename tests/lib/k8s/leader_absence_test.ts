import assert from "node:assert/strict";
import { taintAbsenceLimits } from "../../../controllers/taints/fail_open.ts";
import { decideLeaderState, type LeaderSilence } from "../../../lib/k8s/leader_absence.ts";
import { GATE_ABSENCE_LIMITS } from "../../../lib/placement/decide/gate_fail_open.ts";

type Rows = readonly (readonly [name: string, changes: Partial<LeaderSilence>, state: string])[];

const GATES: Rows = [
  ["proven silence is an absence", {}, "absent"],
  ["a leader that renews is present", { silentForMs: 1_200 }, "present"],
  ["silence for less than a Lease lasts is none", { silentForMs: 5_999 }, "present"],
  ["this replica leads", { isLeader: true, silentForMs: 600_000, provenForMs: 600_000 }, "present"],
  ["silence must be proven by fresh reads", { provenForMs: 0, answeredAgoMs: Infinity }, "doubtful"],
  ["a proof in which another could take the Lease is none", { silentForMs: 600_000, provenForMs: 14_999 }, "doubtful"],
  ["an answer from before a suspension proves nothing", { provenForMs: 600_000, answeredAgoMs: 5_001 }, "doubtful"],
];

for (const [name, changes, state] of GATES) {
  Deno.test(`decideLeaderState() for gates: ${name}`, () => {
    const silence = { isLeader: false, silentForMs: 21_000, provenForMs: 15_000, answeredAgoMs: 900, ...changes };
    assert.equal(decideLeaderState(silence, GATE_ABSENCE_LIMITS), state);
  });
}

const MINUTE_MS = 60_000;

const TAINTS: Rows = [
  ["a leader that renews keeps them", { silentForMs: 2_000 }, "present"],
  ["silence that is shorter than allowed keeps them", { silentForMs: 5 * MINUTE_MS - 1 }, "present"],
  ["silence must be proven by fresh reads", { provenForMs: 0 }, "doubtful"],
  ["a proof that is younger than a Lease lasts is none", { provenForMs: 19_999 }, "doubtful"],
  ["proven silence lifts them", {}, "absent"],
];

for (const [name, changes, state] of TAINTS) {
  Deno.test(`decideLeaderState() for taints: ${name}`, () => {
    const silence = { isLeader: false, silentForMs: 5 * MINUTE_MS, provenForMs: 20_000, answeredAgoMs: 0, ...changes };
    assert.equal(decideLeaderState(silence, taintAbsenceLimits(5 * MINUTE_MS)), state);
  });
}

Deno.test("taintAbsenceLimits(): a short limit needs a short proof", () => {
  assert.deepEqual(taintAbsenceLimits(3_000), { silenceMs: 3_000, proofMs: 3_000 });
});
