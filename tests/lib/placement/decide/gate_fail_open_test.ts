import assert from "node:assert/strict";
import {
  GATE_ABSENCE_LIMITS,
  overdueInMs,
  renderLeaderlessUngating,
} from "../../../../lib/placement/decide/gate_fail_open.ts";
import { LEADER_SILENCE_MS } from "../../../../lib/operator/decide/gating_health.ts";

Deno.test("GATE_ABSENCE_LIMITS are over before the gating stops: no pod is gated that would wait for longer than its deadline", () => {
  const { silenceMs, proofMs } = GATE_ABSENCE_LIMITS;
  assert.ok(silenceMs + proofMs < LEADER_SILENCE_MS);
});

Deno.test("overdueInMs() leaves a leader that this replica does not see two seconds to come first", () => {
  const left = (ageMs: number): number => overdueInMs({ ageMs, maxGateAgeMs: 60_000 });
  assert.deepEqual([0, 60_000, 62_000, 70_000].map(left), [62_000, 2_000, 0, -8_000]);
});

Deno.test("renderLeaderlessUngating() names what was done, the refusal and what to do", () => {
  const ungating = { gate: "g", lease: "archway-system/l", ageMs: 62_400, silentForMs: 30_000 };
  const refusal = `Cannot update "l": "archway" may not update leases`;
  assert.equal(
    renderLeaderlessUngating({ ...ungating, refusal }),
    "Removed the scheduling gate g after 62 s without placing the pod: no replica of Archway has led for 30 s. The pod " +
      `may start on a node that its images do not support. The Lease archway-system/l cannot be taken: ${refusal}. If a ` +
      "right is missing, apply Archway's manifests again. Recreate the pod once a replica leads to have it placed by its images.",
  );
  assert.match(
    renderLeaderlessUngating({ ...ungating, refusal: undefined }),
    /See why no replica holds the Lease archway-system\/l\./,
  );
});
