import assert from "node:assert/strict";
import { type Budget, type BudgetedAnswer, openBudget } from "../../../../lib/oci/limits/budget.ts";
import { InspectionError, inspectionError } from "../../../../lib/oci/errors.ts";
import type { HostState } from "../../../../lib/oci/limits/host_state.ts";
import type { InspectionPriority } from "../../../../lib/oci/inspector.ts";
import type { FailureReason } from "../../../../lib/oci/types.ts";
import { FakeClock } from "../../../support/fake_clock.ts";

const HOST = "registry.example";
const signal = new AbortController().signal;

function answer(status = 200, headers: Record<string, string> = {}): BudgetedAnswer {
  return { status, headers: new Headers(headers) };
}

function run(
  budget: Budget,
  send: () => Promise<BudgetedAnswer>,
  more: { readonly host?: string; readonly priority?: InspectionPriority; readonly signal?: AbortSignal } = {},
): Promise<BudgetedAnswer> {
  const { host = HOST, priority = "gated" } = more;
  return budget.run(host, { priority: () => priority, signal: more.signal ?? signal }, send);
}

function stateOf(budget: Budget, host = HOST): HostState {
  const state = budget.hostStates().find((one) => one.host === host);
  assert.ok(state);
  return state;
}

async function reasonOf(work: Promise<unknown>): Promise<FailureReason | "answered"> {
  try {
    await work;
    return "answered";
  } catch (error) {
    assert.ok(error instanceof InspectionError, String(error));
    return error.failure.reason;
  }
}

/** Requests that stay under way until a test lets them go. */
function held(): { readonly started: string[]; send(name: string): () => Promise<BudgetedAnswer>; release(): void } {
  const started: string[] = [];
  let waiting: (() => void)[] = [];
  return {
    started,
    send: (name) => () => {
      started.push(name);
      return new Promise((resolve) => waiting.push(() => resolve(answer())));
    },
    release: () => {
      const now = waiting;
      waiting = [];
      for (const go of now) go();
    },
  };
}

async function failTimes(budget: Budget, times: number): Promise<void> {
  const failing = (): Promise<never> => Promise.reject(inspectionError("Unreachable", "Cannot reach it."));
  for (let at = 0; at < times; at++) await reasonOf(run(budget, failing));
}

Deno.test("Budget.run() keeps a limit a host and lets gated pods go before admission, admission before prewarm", async () => {
  const clock = new FakeClock();
  const budget = openBudget({ clock });
  const first = held();
  const { limit } = await run(budget, () => Promise.resolve(answer())).then(() => stateOf(budget));
  const full = Array.from({ length: limit }, () => run(budget, first.send("full")));
  await clock.advance(0);
  assert.equal(first.started.length, limit);
  const second = held();
  const waiting = (["prewarm", "admission", "gated"] as const).map((priority) =>
    run(budget, second.send(priority), { priority })
  );
  await clock.advance(0);
  assert.deepEqual(second.started, []);
  assert.equal(stateOf(budget).waiting, 3);
  first.release();
  await Promise.all(full);
  await clock.advance(0);
  assert.deepEqual(second.started, ["gated", "admission", "prewarm"]);
  second.release();
  await Promise.all(waiting);
});

Deno.test("Budget.run() never lets a stuck host delay another one", async () => {
  const clock = new FakeClock();
  const budget = openBudget({ clock });
  const dead = held();
  const stuck = Array.from({ length: 500 }, (_, at) => run(budget, dead.send(String(at))));
  await clock.advance(0);
  const lively = () => Promise.resolve(answer());
  const others = await Promise.all(Array.from({ length: 500 }, () => run(budget, lively, { host: "other.example" })));
  assert.equal(others.length, 500);
  for (let turn = 0; stateOf(budget).inFlight > 0; turn++) {
    assert.ok(turn < 600);
    dead.release();
    await clock.advance(0);
  }
  await Promise.all(stuck);
});

Deno.test("Budget.run() pauses the host that says Retry-After, sends again after it, and leaves others alone", async () => {
  const clock = new FakeClock();
  const budget = openBudget({ clock });
  const sent: number[] = [];
  const startMs = clock.monotonicMs();
  const limited = (): Promise<BudgetedAnswer> => {
    sent.push(clock.monotonicMs() - startMs);
    return Promise.resolve(sent.length === 1 ? answer(429, { "retry-after": "1" }) : answer());
  };
  const first = run(budget, limited);
  await clock.advance(0);
  const second = run(budget, limited);
  assert.equal((await run(budget, () => Promise.resolve(answer()), { host: "other.example" })).status, 200);
  await clock.advance(999);
  assert.deepEqual(sent, [0]);
  await clock.advance(1);
  assert.deepEqual([(await first).status, (await second).status], [200, 200]);
  assert.deepEqual(sent, [0, 1_000, 1_000]);
});

Deno.test("Budget.run() tells when to come back instead of waiting out a long pause", async () => {
  const clock = new FakeClock();
  const budget = openBudget({ clock });
  assert.equal((await run(budget, () => Promise.resolve(answer(429, { "retry-after": "30" })))).status, 429);
  let asked = 0;
  const work = run(budget, () => Promise.resolve(answer(++asked)));
  await assert.rejects(work, (error: unknown) => {
    assert.ok(error instanceof InspectionError);
    assert.equal(error.failure.reason, "RateLimited");
    assert.equal(error.failure.kind, "transient");
    assert.equal(error.failure.retryAfterMs, 30_000);
    return true;
  });
  assert.equal(asked, 0);
  await clock.advance(30_000);
  assert.equal(await reasonOf(run(budget, () => Promise.resolve(answer()))), "answered");
});

Deno.test("Budget.run() refuses at once while the circuit is open, then lets one probe through", async () => {
  const clock = new FakeClock();
  const budget = openBudget({ clock });
  await failTimes(budget, 5);
  assert.equal(stateOf(budget).circuit, "open");
  assert.equal(stateOf(budget).lastFailure?.reason, "Unreachable");
  assert.equal(await reasonOf(run(budget, () => Promise.reject(new Error("not to be sent")))), "CircuitOpen");
  await clock.advance(500);
  const probe = held();
  const work = Array.from({ length: 10 }, (_, at) => run(budget, probe.send(String(at))));
  await clock.advance(0);
  assert.deepEqual(probe.started, ["0"], "one probe, the others wait for what it finds");
  probe.release();
  await clock.advance(0);
  assert.equal(probe.started.length, 10);
  probe.release();
  await Promise.all(work);
  assert.equal(stateOf(budget).circuit, "closed");
});

Deno.test("Budget.run() sends away all who wait when the probe fails", async () => {
  const clock = new FakeClock();
  const budget = openBudget({ clock });
  await failTimes(budget, 5);
  await clock.advance(500);
  let fail = (_: Error): void => {};
  const probe = run(budget, () => new Promise((_, reject) => fail = reject));
  const others = [1, 2, 3].map(() => reasonOf(run(budget, () => Promise.resolve(answer()))));
  await clock.advance(0);
  fail(inspectionError("Timeout", "Cannot wait for it."));
  assert.equal(await reasonOf(probe), "Timeout");
  assert.deepEqual(await Promise.all(others), ["CircuitOpen", "CircuitOpen", "CircuitOpen"]);
});

Deno.test("Budget.run() opens the circuit for 5xx, but not for refusals, 404s or 429s", async () => {
  const clock = new FakeClock();
  for (const [status, circuit] of [[500, "open"], [502, "open"], [404, "closed"], [401, "closed"]] as const) {
    const budget = openBudget({ clock });
    for (let at = 0; at < 20; at++) await reasonOf(run(budget, () => Promise.resolve(answer(status))));
    assert.equal(stateOf(budget).circuit, circuit, String(status));
  }
  const budget = openBudget({ clock });
  const work = run(budget, () => Promise.resolve(answer(429, { "retry-after": "1" })));
  await clock.advance(60_000);
  assert.equal((await work).status, 429);
  assert.equal(stateOf(budget).circuit, "closed");
});

Deno.test("Budget.run() keeps the last requests of a quota for gated pods", async () => {
  const clock = new FakeClock();
  const budget = openBudget({ clock });
  const told = (remaining: number) => (): Promise<BudgetedAnswer> =>
    Promise.resolve(answer(200, { "ratelimit-remaining": `${remaining};w=21600` }));
  await run(budget, told(10));
  assert.equal(stateOf(budget).remaining, 10);
  assert.equal(await reasonOf(run(budget, told(9), { priority: "prewarm" })), "RateLimited");
  assert.equal(await reasonOf(run(budget, told(1), { priority: "admission" })), "answered");
  assert.equal(await reasonOf(run(budget, told(0), { priority: "admission" })), "RateLimited");
  assert.equal(await reasonOf(run(budget, told(0), { priority: "gated" })), "answered");
  await clock.advance(60_000);
  assert.equal(await reasonOf(run(budget, told(100), { priority: "prewarm" })), "answered");
});

Deno.test("Budget.run() gives up the place of a caller who leaves", async () => {
  const clock = new FakeClock();
  const budget = openBudget({ clock });
  const first = held();
  const full = Array.from({ length: 100 }, () => run(budget, first.send("x")));
  await clock.advance(0);
  const leaving = new AbortController();
  const left = run(budget, () => Promise.resolve(answer()), { signal: leaving.signal });
  const { waiting } = stateOf(budget);
  leaving.abort(new Error("no more time"));
  await assert.rejects(left, /no more time/);
  assert.equal(stateOf(budget).waiting, waiting - 1);
  for (let turn = 0; stateOf(budget).inFlight > 0 && turn < 100; turn++) {
    first.release();
    await clock.advance(0);
  }
  await Promise.all(full);
});

Deno.test("Budget.hostStates() is capped, whatever hosts users name", async () => {
  const budget = openBudget({ clock: new FakeClock() });
  for (let at = 0; at < 3_000; at++) await run(budget, () => Promise.resolve(answer()), { host: `h${at}.example` });
  const states = budget.hostStates();
  assert.ok(states.length <= 200);
  assert.equal(states[0]?.host, "h2999.example");
});

Deno.test("Budget.run() costs at most 1.6 requests an image when 30 % are answered 429 with Retry-After: 1", async () => {
  const clock = new FakeClock();
  const budget = openBudget({ clock });
  let seed = 7;
  let sent = 0;
  const send = (): Promise<BudgetedAnswer> => {
    sent += 1;
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Promise.resolve(seed % 1_000 < 300 ? answer(429, { "retry-after": "1" }) : answer());
  };
  const images = 500;
  const work = Promise.all(Array.from({ length: images }, async () => {
    // What the controller does with a failure: it comes back.
    for (;;) {
      const { status } = await run(budget, send).catch(() => answer(429));
      if (status === 200) return;
      await clock.sleep(1_000, signal);
    }
  }));
  let isDone = false;
  void work.then(() => isDone = true);
  for (let seconds = 0; !isDone; seconds++) {
    assert.ok(seconds < 2_000);
    await clock.advance(1_000);
  }
  assert.ok(sent / images <= 1.6, `${sent / images} requests an image`);
});
