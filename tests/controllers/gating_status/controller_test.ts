import assert from "node:assert/strict";
import { openGatingStatus } from "../../../controllers/gating_status/controller.ts";
import { silentLogger } from "../../../lib/log.ts";
import { type GatingHealth, LEADER_SILENCE_MS } from "../../../lib/operator/decide/gating_health.ts";
import { FakeClock } from "../../support/fake_clock.ts";
import { openBench } from "../operator/make.ts";
import { until } from "../../support/until.ts";

/** The controller beside a config; `pass` lets time pass second by second, with real time for the API in between. */
const watch = async () => {
  await using stack = new AsyncDisposableStack();
  const bench = stack.use(await openBench());
  await bench.createConfig();
  const clock = new FakeClock();
  const stop = new AbortController();
  const lines: string[] = [];
  let verdict: GatingHealth = { kind: "gating" };
  const controller = openGatingStatus({
    api: bench.api,
    clock,
    log: {
      ...silentLogger,
      info: (message) => void lines.push(message),
      warn: (message, fields) => void lines.push(`${message}: ${fields?.reason}`),
    },
    gatingHealth: () => verdict,
  });
  const running = controller.run(stop.signal);
  stack.defer(() => running);
  stack.defer(() => stop.abort());
  const opened = stack.move();
  return {
    bench,
    lines,
    say: (next: GatingHealth) => {
      verdict = next;
    },
    pass: async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 1_000) {
        await clock.advance(1_000);
        await until("the controller sleeps", () => clock.sleeping > 0);
      }
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
};

async function gatingCondition({ bench }: Awaited<ReturnType<typeof watch>>): Promise<string> {
  const row = (await bench.conditions()).find(({ type }) => type === "GatingStopped");
  return row === undefined ? "unsaid" : `${row.status} ${row.reason}`;
}

Deno.test("openGatingStatus() writes the condition when the leader has gone silent, without touching the others", async () => {
  await using watched = await watch();
  await watched.pass(2_000);
  watched.say({ kind: "stopped", reason: "LeaderSilent" });
  await watched.pass(3_000);
  assert.equal(await gatingCondition(watched), "unsaid", "a process that was frozen has yet to look at the Lease");
  await watched.pass(5_000);
  assert.equal(await gatingCondition(watched), "True LeaderSilent");
  assert.equal((await watched.bench.conditions()).length, 1);
  watched.say({ kind: "gating" });
  await watched.pass(2_000);
  assert.deepEqual(watched.lines, ["gating pods", "not gating pods: LeaderSilent", "gating pods"]);
});

Deno.test("openGatingStatus() writes no condition when a start has no leader for a moment", async () => {
  await using watched = await watch();
  watched.say({ kind: "stopped", reason: "NoLeader" });
  await watched.pass(LEADER_SILENCE_MS - 2_000);
  assert.equal(await gatingCondition(watched), "unsaid");
  await watched.pass(5_000);
  assert.equal(await gatingCondition(watched), "True NoLeader");
});

Deno.test("openGatingStatus() leaves the condition to the leader when the config is the reason", async () => {
  await using watched = await watch();
  watched.say({ kind: "stopped", reason: "ConfigLeaving" });
  await watched.pass(LEADER_SILENCE_MS + 5_000);
  assert.equal(await gatingCondition(watched), "unsaid");
});
