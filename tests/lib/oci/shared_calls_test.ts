import assert from "node:assert/strict";
import { SharedCalls } from "../../../lib/oci/shared_calls.ts";
import { FakeClock } from "../../support/fake_clock.ts";

const NEVER = new AbortController().signal;

interface Started {
  readonly signal: AbortSignal;
  readonly finish: (answer: string) => void;
  readonly fail: (reason: Error) => void;
}

const open = (options: { readonly keepMs?: () => number; readonly outlivesCallers?: boolean } = {}) => {
  const clock = new FakeClock();
  const calls = new SharedCalls<string>({ clock, ...options });
  const started: Started[] = [];
  const ask = (signal = NEVER): Promise<string> =>
    calls.run("key", { signal }, (_, own) => {
      const { promise, resolve: finish, reject: fail } = Promise.withResolvers<string>();
      started.push({ signal: own, finish, fail });
      return promise;
    });
  return { clock, calls, started, ask };
};

Deno.test("SharedCalls.run() shares a call under way, and its answer as long as it is kept", async () => {
  const { clock, calls, started, ask } = open({ keepMs: () => 1_000 });
  const both = Promise.all([ask(), ask()]);
  await clock.advance(0);
  started[0]?.finish("one");
  assert.deepEqual(await both, ["one", "one"]);
  await clock.advance(999);
  assert.equal(await ask(), "one");
  await clock.advance(1);
  const later = ask();
  await clock.advance(0);
  started[1]?.finish("two");
  assert.equal(await later, "two");
  calls.forget("key");
  void ask();
  await clock.advance(0);
  assert.equal(started.length, 3);
  started[2]?.finish("three");
});

Deno.test("SharedCalls.run() keeps the answer for the others when the first caller leaves", async () => {
  const { clock, started, ask } = open();
  const leaving = new AbortController();
  const [first, second] = [ask(leaving.signal), ask()];
  await clock.advance(0);
  leaving.abort(new Error("no more time"));
  await assert.rejects(first, /no more time/);
  assert.equal(started[0]?.signal.aborted, false);
  started[0]?.finish("answer");
  assert.equal(await second, "answer");
});

Deno.test("SharedCalls.run() aborts a call that all have left, or goes on with it where that is wanted", async () => {
  for (const outlivesCallers of [false, true]) {
    const { clock, started, ask } = open({ outlivesCallers });
    const leaving = new AbortController();
    const left = ask(leaving.signal);
    await clock.advance(0);
    leaving.abort();
    await assert.rejects(left);
    assert.equal(started[0]?.signal.aborted, !outlivesCallers);
    const next = ask();
    await clock.advance(0);
    assert.equal(started.length, outlivesCallers ? 1 : 2);
    for (const { finish } of started) finish("answer");
    assert.equal(await next, "answer");
  }
});

Deno.test("SharedCalls.run() keeps no rejection", async () => {
  const { clock, started, ask } = open({ keepMs: () => 1_000 });
  const both = [ask(), ask()].map((one) => assert.rejects(one, /broken/));
  await clock.advance(0);
  started[0]?.fail(new Error("broken"));
  await Promise.all(both);
  const next = ask();
  await clock.advance(0);
  started[1]?.finish("answer");
  assert.equal(await next, "answer");
});

Deno.test("SharedCalls.run() weighs the keys of the answers that it keeps, too", async () => {
  const options = { keepMs: () => 1_000, weighed: { maxSize: 1_000, sizeOf: () => 1 } };
  const calls = new SharedCalls<string>({ clock: new FakeClock(), ...options });
  let started = 0;
  const ask = (key: string): Promise<string> =>
    calls.run(key, { signal: NEVER }, () => {
      started += 1;
      return Promise.resolve("answer");
    });
  const keys = ["a", "b", "c"].map((letter) => letter.repeat(400));
  for (const key of [...keys, ...keys]) await ask(key);
  assert.equal(started, 6);
});

Deno.test("SharedCalls.run() deletes answers that have expired, so that they take no room from those that have not", async () => {
  const clock = new FakeClock();
  const keptMs: Readonly<Record<string, number>> = { long: 60_000, short: 1_000, third: 60_000 };
  const asked: string[] = [];
  const calls = new SharedCalls<string>({ clock, keepMs: (key) => keptMs[key] ?? 0, maxKept: 2 });
  const ask = (key: string): Promise<string> =>
    calls.run(key, { signal: NEVER }, () => {
      asked.push(key);
      return Promise.resolve(key);
    });
  await ask("long");
  await ask("short");
  await clock.advance(1_000);
  await ask("third");
  await ask("long");
  assert.deepEqual(asked, ["long", "short", "third"]);
});
