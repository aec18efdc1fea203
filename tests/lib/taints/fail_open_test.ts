import assert from "node:assert/strict";
import { decideFailOpen, type LeaderSilence } from "../../../lib/taints/fail_open.ts";

const MINUTE = 60_000;

const ROWS: readonly (readonly [name: string, changes: Partial<LeaderSilence>, ends: string])[] = [
  ["a leader that renews keeps the taints", { silentForMs: 2_000 }, "closed"],
  ["silence that is shorter than allowed keeps them", { silentForMs: 5 * MINUTE - 1 }, "closed"],
  ["who leads lifts nothing", { isLeader: true, silentForMs: 60 * MINUTE }, "closed"],
  ["silence must be proven by fresh reads", { provenForMs: 0 }, "prove"],
  ["a proof that is younger than a Lease lasts is none", { provenForMs: 19_999 }, "prove"],
  ["proven silence lifts them", { provenForMs: 20_000 }, "lift"],
  ["a short limit needs a short proof", { afterMs: 3_000, silentForMs: 3_000, provenForMs: 3_000 }, "lift"],
];

for (const [name, changes, ends] of ROWS) {
  Deno.test(`decideFailOpen(): ${name}`, () => {
    const facts = { isLeader: false, silentForMs: 5 * MINUTE, provenForMs: 0, afterMs: 5 * MINUTE, ...changes };
    assert.equal(decideFailOpen(facts).kind, ends);
  });
}
