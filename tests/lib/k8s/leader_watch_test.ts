import assert from "node:assert/strict";
import { taintAbsenceLimits } from "../../../controllers/taints/fail_open.ts";
import { decideLeaderState, type LeaderSilence } from "../../../lib/k8s/leader_watch.ts";
import { GATE_ABSENCE_LIMITS } from "../../../lib/placement/decide/gate_fail_open.ts";

const GATES: readonly (readonly [name: string, changes: Partial<LeaderSilence>, state: string])[] = [
  ["proven silence is an absence", {}, "absent"],
  ["a leader that renews is present", { silentForMs: 1_200 }, "present"],
  ["silence for less than a Lease lasts is none", { silentForMs: 5_999 }, "present"],
  ["silence for as long as a Lease lasts counts", { silentForMs: 6_000 }, "absent"],
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

Deno.test("taintAbsenceLimits(): a proof longer than a Lease lasts, and a short one for a short limit", () => {
  assert.deepEqual(taintAbsenceLimits(300_000), { silenceMs: 300_000, proofMs: 20_000 });
  assert.deepEqual(taintAbsenceLimits(3_000), { silenceMs: 3_000, proofMs: 3_000 });
});
