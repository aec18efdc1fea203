import assert from "node:assert/strict";
import { type LimitedResponse, pauseOf } from "../../../../lib/oci/limits/outcome.ts";
import { tokenServerGroup } from "../../../../lib/oci/limits/failing_groups.ts";
import { HostLimiters } from "../../../../lib/oci/limits/host_limiters.ts";
import { callersOf, type InspectionPriority } from "../../../../lib/oci/callers.ts";
import type { LimitedRequest } from "../../../../lib/oci/limits/host_limiter.ts";
import { silentLogger } from "../../../../lib/log.ts";
import { type FailureReason, registryError } from "../../../../lib/oci/errors.ts";
import { FakeClock } from "../../../support/fake_clock.ts";
import { errorOf } from "../../../support/inspectors.ts";
import { keepLog } from "../../../support/logs.ts";

const HOST = "registry.example";
const signal = new AbortController().signal;

function answer(status = 200, headers: Record<string, string> = {}): LimitedResponse {
  const about = { status, headers: new Headers(headers) };
  return { ...about, pauseMs: pauseOf(about, 0) };
}

/** A request that is answered at once. */
function gives(...about: Parameters<typeof answer>): () => Promise<LimitedResponse> {
  return () => Promise.resolve(answer(...about));
}

/** One that ends without an answer. */
function fails(reason: FailureReason, message: string): () => Promise<never> {
  return () => Promise.reject(registryError(reason, message));
}

const UNREACHABLE = fails("Unreachable", "Cannot reach it.");

type Sent = Partial<Omit<LimitedRequest, "callers">> & {
  readonly priority?: InspectionPriority;
  readonly namespace?: string;
};

const open = (parts: Partial<ConstructorParameters<typeof HostLimiters>[0]> = {}) => {
  const clock = new FakeClock();
  const hosts = new HostLimiters({ clock, log: silentLogger, ...parts });
  const run = (send: () => Promise<LimitedResponse>, more: Sent = {}): Promise<LimitedResponse> => {
    const { priority = "gated", namespace, ...rest } = more;
    const callers = callersOf({ priority, namespace });
    return hosts.run({ host: HOST, group: "team", account: "anonymous", signal, callers, ...rest }, send);
  };
  return {
    clock,
    hosts,
    run,
    /** What comes of it: `answered`, or the reason of the failure. */
    ask: (send: () => Promise<LimitedResponse>, more?: Sent): Promise<FailureReason | "answered"> =>
      run(send, more).then(() => "answered", (error) => error.failure.reason),
    state: () => hosts.hostStates().find(({ host }) => host === HOST) ?? assert.fail("no state"),
  };
};

function held(): { readonly started: string[]; send(name: string): () => Promise<LimitedResponse>; release(): void } {
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

Deno.test("HostLimiters.run() keeps a limit a host and lets gated pods go before admission, admission before prewarm", async () => {
  const { clock, run, state } = open();
  const first = held();
  const limit = 16;
  const full = Array.from({ length: limit }, () => run(first.send("full")));
  await clock.advance(0);
  assert.equal(first.started.length, limit);
  const second = held();
  const waiting = (["prewarm", "admission", "gated"] as const).map((priority) =>
    run(second.send(priority), { priority })
  );
  await clock.advance(0);
  assert.deepEqual(second.started, []);
  assert.equal(state().waiting, 3);
  first.release();
  await Promise.all(full);
  await clock.advance(0);
  assert.deepEqual(second.started, ["gated", "admission", "prewarm"]);
  second.release();
  await Promise.all(waiting);
});

Deno.test("HostLimiters.run() never lets a stuck host delay another one", async () => {
  const { clock, run, state } = open();
  const dead = held();
  const stuck = Array.from({ length: 500 }, (_, at) => run(dead.send(String(at))));
  await clock.advance(0);
  const others = await Promise.all(Array.from({ length: 500 }, () => run(gives(), { host: "other.example" })));
  assert.equal(others.length, 500);
  for (let turn = 0; state().inFlight > 0; turn++) {
    assert.ok(turn < 600);
    dead.release();
    await clock.advance(0);
  }
  await Promise.all(stuck);
});

Deno.test("HostLimiters.run() pauses the host that says Retry-After, sends again after it, and leaves others alone", async () => {
  const { clock, run } = open();
  const sent: number[] = [];
  const startMs = clock.monotonicMs();
  const limited = (): Promise<LimitedResponse> => {
    sent.push(clock.monotonicMs() - startMs);
    return Promise.resolve(sent.length === 1 ? answer(429, { "retry-after": "1" }) : answer());
  };
  const first = run(limited);
  await clock.advance(0);
  const second = run(limited);
  assert.equal((await run(gives(), { host: "other.example" })).status, 200);
  await clock.advance(999);
  assert.deepEqual(sent, [0]);
  await clock.advance(1);
  assert.deepEqual([(await first).status, (await second).status], [200, 200]);
  assert.deepEqual(sent, [0, 1_000, 1_000]);
});

Deno.test("HostLimiters.run() reports when to come back instead of waiting out a long pause", async () => {
  const { clock, run, ask } = open();
  assert.equal((await run(gives(429, { "retry-after": "30" }))).status, 429);
  let asked = 0;
  const work = run(() => Promise.resolve(answer(++asked)));
  const { reason, kind, retryAfterMs } = (await errorOf(work)).failure;
  assert.deepEqual([reason, kind, retryAfterMs], ["RateLimited", "transient", 30_000]);
  assert.equal(asked, 0);
  await clock.advance(30_000);
  assert.equal(await ask(gives()), "answered");
});

Deno.test("HostLimiters.run() refuses at once while the circuit is open, then lets one probe through", async () => {
  const { clock, ask, state } = open();
  for (let at = 0; at < 5; at++) await ask(UNREACHABLE);
  assert.equal(state().circuit, "open");
  assert.equal(state().lastFailure?.reason, "Unreachable");
  assert.equal(await ask(() => Promise.reject(new Error("not to be sent"))), "CircuitOpen");
  await clock.advance(500);
  const probe = held();
  const work = Array.from({ length: 10 }, (_, at) => ask(probe.send(String(at))));
  await clock.advance(0);
  assert.deepEqual(probe.started, ["0"]);
  probe.release();
  const [found, ...others] = await Promise.all(work);
  assert.deepEqual([found, ...new Set(others)], ["answered", "CircuitOpen"]);
  assert.equal(state().circuit, "closed");
  assert.equal(await ask(gives()), "answered");
});

Deno.test("HostLimiters.run() sends away all who wait when the probe fails", async () => {
  const { clock, ask } = open();
  for (let at = 0; at < 5; at++) await ask(UNREACHABLE);
  await clock.advance(500);
  let fail = (_: Error): void => {};
  const probe = ask(() => new Promise((_, reject) => fail = reject));
  const others = [1, 2, 3].map(() => ask(gives()));
  await clock.advance(0);
  fail(registryError("Timeout", "Cannot wait for it."));
  assert.equal(await probe, "Timeout");
  assert.deepEqual(await Promise.all(others), ["CircuitOpen", "CircuitOpen", "CircuitOpen"]);
});

Deno.test("HostLimiters.run() probes again where the caller of the probe leaves", async () => {
  const { clock, ask, run } = open();
  for (let at = 0; at < 5; at++) await ask(UNREACHABLE);
  await clock.advance(500);
  const probe = Promise.withResolvers<never>();
  const leaving = new AbortController();
  const left = assert.rejects(run(() => probe.promise, { signal: leaving.signal }));
  await clock.advance(0);
  leaving.abort();
  probe.reject(leaving.signal.reason);
  await left;
  assert.equal(await ask(gives()), "answered");
});

Deno.test("HostLimiters.run() stops asking for repositories that answer 5xx, but not for refusals, 404s or 429s", async () => {
  for (const status of [500, 502, 404, 401]) {
    const [reason, circuit] = status >= 500 ? ["CircuitOpen", "open"] : ["answered", "closed"];
    const { ask, state } = open();
    for (let at = 0; at < 20; at++) await ask(gives(status));
    assert.equal(await ask(gives(status)), reason, String(status));
    assert.equal(state().circuit, circuit);
    await ask(gives(), { group: "other" });
    assert.equal(state().circuit, "closed", "another repository has answered");
  }
  const { clock, run, state } = open();
  const work = run(gives(429, { "retry-after": "1" }));
  await clock.advance(60_000);
  assert.equal((await work).status, 429);
  assert.equal(state().circuit, "closed");
});

Deno.test("HostLimiters.run() leaves a host alone when several groups of its repositories fail, and warns of it", async () => {
  const log = keepLog();
  const { ask, state } = open({ log });
  for (let at = 0; at < 20; at++) await ask(gives(500), { group: `team${at % 4}` });
  assert.equal(state().circuit, "open");
  assert.deepEqual(log.lines.map(({ fields }) => fields), [{ registry: HOST, cause: "It answered 500." }]);
});

Deno.test("HostLimiters.run() forgets a failing group of repositories that nobody has asked for lately", async () => {
  const { ask, clock, state } = open();
  for (const group of ["old", "older"]) await ask(gives(500), { group });
  await clock.advance(600_000);
  for (let at = 0; at < 10; at++) await ask(gives(500), { group: "broken" });
  assert.equal(await ask(gives(), { group: "good" }), "answered");
  assert.equal(state().circuit, "closed");
});

Deno.test("HostLimiters.run() remembers the limits of 64 accounts of a host, whatever passwords users bring for it", async () => {
  const { ask } = open();
  const asks = (account: string, send = gives()) => ask(send, { account });
  const limited = gives(429, { "retry-after": "30" });
  for (let at = 0; at < 64; at++) await asks(`account-${at}`, limited);
  assert.equal(await asks("account-0"), "RateLimited");
  for (let at = 64; at < 127; at++) await asks(`account-${at}`, limited);
  assert.equal(await asks("account-0"), "RateLimited", "it was used after the others");
  assert.equal(await asks("account-1"), "answered", "forgotten");
  assert.equal(await asks("account-126"), "RateLimited");
});

Deno.test("HostLimiters.run() begins with the last real error when it refuses: an annotation may hold no more", async () => {
  const { run, ask } = open();
  const cause = "Cannot reach registry.example: unknown certificate authority.";
  const failing = fails("TlsFailed", cause);
  for (let at = 0; at < 5; at++) await ask(failing);
  const { failure, message } = await errorOf(run(failing));
  assert.equal(failure.reason, "CircuitOpen");
  assert.match(message, /^Cannot reach registry\.example: unknown certificate authority; registry .* keeps failing/);
  for (let at = 0; at < 5; at++) await ask(gives(502), { host: "b.example" });
  await assert.rejects(run(failing, { host: "b.example" }), /It answered 502/);
});

Deno.test("HostLimiters.run() warns once that a registry fails, with the cause, and reports when it works again", async () => {
  const log = keepLog();
  const { clock, ask } = open({ log });
  for (const status of [429, 503]) {
    for (let at = 0; at < 10; at++) {
      await ask(fails("Unreachable", "Connection refused."));
      await clock.advance(3_000);
    }
    await ask(gives(status, { "retry-after": "0" }));
  }
  assert.deepEqual(log.lines.map(({ level, message }) => [level, message]), [["warn", "registry fails"]]);
  assert.match(JSON.stringify(log.lines), /registry\.example.*Connection refused/);
  await ask(gives());
  assert.deepEqual(log.lines.map(({ message }) => message), ["registry fails", "registry works again"]);
});

Deno.test("HostLimiters.publicHostStates() names declared hosts and those that answered well, and no more than fifty", async () => {
  const { hosts, run, ask } = open({ declared: ["declared.example"] });
  for (const host of ["declared.example", "made.up.example"]) {
    await ask(fails("Unreachable", "No such host."), { host });
  }
  await run(gives(404), { host: "empty.example" });
  await run(gives(), { host: "good.example" });
  const names = (): readonly string[] => hosts.publicHostStates().map(({ host }) => host).sort();
  assert.deepEqual(names(), ["declared.example", "good.example", "other"]);
  const seen = new Set<string>();
  for (let at = 0; at < 500; at++) {
    await run(gives(), { host: `h${at}.example` });
    if (at % 50 === 0) names().forEach((name) => seen.add(name));
  }
  assert.ok(seen.size <= 53, `${seen.size} names`);
});

Deno.test("HostLimiters.run() keeps the last requests of a quota for gated pods", async () => {
  const { clock, run, ask, state } = open();
  const told = (remaining: number) => gives(200, { "ratelimit-remaining": `${remaining};w=21600` });
  await run(told(10));
  assert.equal(state().remaining, 10);
  assert.equal(await ask(told(9), { priority: "prewarm" }), "RateLimited");
  assert.equal(await ask(told(1), { priority: "admission" }), "answered");
  assert.equal(await ask(told(0), { priority: "admission" }), "RateLimited");
  assert.equal(await ask(told(0), { priority: "gated" }), "answered");
  await clock.advance(60_000);
  assert.equal(await ask(told(100), { priority: "prewarm" }), "answered");
});

Deno.test("HostLimiters.run() gives up the permit of a caller who leaves", async () => {
  const { clock, run, state } = open();
  const first = held();
  const full = Array.from({ length: 100 }, () => run(first.send("x")));
  await clock.advance(0);
  const leaving = new AbortController();
  const left = run(gives(), { signal: leaving.signal });
  const { waiting } = state();
  leaving.abort(new Error("no more time"));
  await assert.rejects(left, /no more time/);
  assert.equal(state().waiting, waiting - 1);
  for (let turn = 0; state().inFlight > 0 && turn < 100; turn++) {
    first.release();
    await clock.advance(0);
  }
  await Promise.all(full);
});

Deno.test("HostLimiters.publicHostStates() names a declared host that fails, whatever hosts users name", async () => {
  const { hosts, ask, run } = open({ declared: ["declared.example"] });
  for (let at = 0; at < 10; at++) await ask(UNREACHABLE, { host: "declared.example" });
  for (let at = 0; at < 3_000; at++) await run(gives(404), { host: `h${at}.example` });
  assert.ok(hosts.hostStates().length <= 1_001);
  const states = hosts.publicHostStates().map(({ host, circuit }) => [host, circuit]);
  assert.deepEqual(states.toSorted(), [["declared.example", "open"], ["other", "closed"]]);
});

Deno.test("HostLimiters.run() lets failures of other registries' token requests stop those registries alone", async () => {
  for (const reason of ["ServerError", "Timeout", "Unreachable", "TlsFailed"] as const) {
    const { ask } = open();
    const foreign = (registry: string) => ({ group: tokenServerGroup(registry), account: `${registry} anonymous` });
    const fail = reason === "ServerError" ? gives(500) : fails(reason, "Cannot read it.");
    for (let at = 0; at < 40; at++) await ask(fail, foreign(`evil-${at % 4}.example`));
    assert.equal(await ask(gives(), foreign("good.example")), "answered", reason);
    assert.equal(await ask(gives()), "answered", reason);
    assert.equal(await ask(gives(), foreign("evil-0.example")), "CircuitOpen", reason);
  }
});
