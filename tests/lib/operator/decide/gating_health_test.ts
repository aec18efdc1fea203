import assert from "node:assert/strict";
import { type ConfigPresence, decideGating, LEADER_SILENCE_MS } from "../../../../lib/operator/decide/gating_health.ts";

const ROWS: readonly (readonly [config: ConfigPresence, silentForMs: number | undefined, answer: string])[] = [
  ["present", 0, "gating"],
  ["present", LEADER_SILENCE_MS - 1, "gating"],
  ["present", LEADER_SILENCE_MS, "LeaderSilent"],
  ["present", undefined, "NoLeader"],
  ["unread", 0, "ConfigUnread"],
  ["absent", 0, "ConfigAbsent"],
  ["deleting", 0, "ConfigLeaving"],
  ["unread", undefined, "ConfigUnread"],
];

Deno.test("decideGating() says LeaderImpaired when the leader reports that it cannot do its work", () => {
  const health = decideGating("present", 0, "CannotWatchPods");
  assert.deepEqual(health, { kind: "stopped", reason: "LeaderImpaired" });
});

for (const [config, silentForMs, answer] of ROWS) {
  Deno.test(`decideGating() says ${answer} when the config is ${config} and the leader silent for ${silentForMs}`, () => {
    const verdict = decideGating(config, silentForMs, undefined);
    assert.equal(verdict.kind === "gating" ? "gating" : verdict.reason, answer);
  });
}
