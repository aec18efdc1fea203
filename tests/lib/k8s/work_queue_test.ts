import assert from "node:assert/strict";
import fc from "fast-check";
import { DueHeap } from "../../../lib/k8s/due_heap.ts";
import {
  type ReconcileResult,
  type ReconcileSample,
  WorkQueue,
  type WorkQueueOptions,
} from "../../../lib/k8s/work_queue.ts";
import { silentLogger } from "../../../lib/log.ts";
import { FakeClock } from "../../support/fake_clock.ts";

const DONE: ReconcileResult = { kind: "done" };

type Reconcile = (key: string, clock: FakeClock) => Promise<ReconcileResult>;

const openBench = (
  reconcile: Reconcile,
  options: Partial<Pick<WorkQueueOptions, "parallel" | "backoff" | "flowOf" | "maxOfFlow" | "reservedForUrgent">> = {},
) => {
  const clock = new FakeClock();
  const samples: ReconcileSample[] = [];
  const counts: { added: number; readonly depths: number[] } = { added: 0, depths: [] };
  const queue = new WorkQueue({
    name: "test",
    parallel: 4,
    ...options,
    reconcile: (key) => reconcile(key, clock),
    clock,
    log: silentLogger,
    metrics: {
      added: () => void (counts.added++),
      depth: (keys) => void counts.depths.push(keys),
      finished: (sample) => void samples.push(sample),
    },
  });
  const stop = new AbortController();
  const running = queue.run(stop.signal);
  const dispose = async (): Promise<void> => {
    stop.abort();
    await clock.advance(1_000);
    await running;
  };
  return { clock, queue, samples, counts, stop, running, [Symbol.asyncDispose]: dispose };
};

Deno.test("WorkQueue.add() leaves out keys of a flow beyond its bound until others have ended, and no keys of other flows", async () => {
  const gate = Promise.withResolvers<void>();
  const done: string[] = [];
  let isRequeued = false;
  await using bench = openBench(async (key) => {
    if (key === "a0" && !isRequeued) {
      isRequeued = true;
      return { kind: "requeue", afterMs: 15 };
    }
    await gate.promise;
    done.push(key);
    return DONE;
  }, { flowOf: (key) => key.slice(0, 1), maxOfFlow: (flow) => flow === "a" ? 3 : Infinity });
  for (let n = 0; n < 1_000; n++) bench.queue.add(`a${n}`);
  for (let n = 0; n < 5; n++) bench.queue.add(`b${n}`);
  bench.queue.add("a0");
  assert.equal(bench.queue.size, 8);
  await bench.clock.advance(10);
  bench.queue.add("a7");
  assert.equal(bench.queue.size, 8);
  gate.resolve();
  await bench.clock.advance(10);
  assert.equal(bench.queue.size, 0);
  bench.queue.add("a7");
  await bench.clock.advance(10);
  assert.equal([...new Set(done)].sort().join(" "), "a0 a1 a2 a7 b0 b1 b2 b3 b4");
});

Deno.test("WorkQueue runs at most `parallel` keys at a time, oldest first", async () => {
  let atOnce = 0;
  let most = 0;
  const order: string[] = [];
  await using bench = openBench(async (key, clock) => {
    order.push(key);
    most = Math.max(most, ++atOnce);
    await clock.sleep(10, new AbortController().signal);
    atOnce--;
    return DONE;
  }, { parallel: 3 });
  const keys = Array.from({ length: 10 }, (_, n) => `k${n}`);
  for (const key of keys) bench.queue.add(key);
  await bench.clock.advance(0);
  assert.equal(bench.queue.depth, 7);
  await bench.clock.advance(100);
  assert.equal(most, 3);
  assert.deepEqual(order, keys);
});

/** A reconcile that takes a second and notes when each key began. */
function takingTurns(): { readonly started: readonly string[]; readonly reconcile: Reconcile } {
  const started: string[] = [];
  const reconcile: Reconcile = async (key, clock) => {
    started.push(key);
    await clock.sleep(1_000, new AbortController().signal);
    return DONE;
  };
  return { started, reconcile };
}

Deno.test("WorkQueue takes one key of each flow in turn, the oldest of a flow first", async () => {
  const { started, reconcile } = takingTurns();
  await using bench = openBench(reconcile, { parallel: 1, flowOf: (key) => key.charAt(0) });
  for (const key of ["a1", "a2", "a3", "a4", "b1", "c1", "b2"]) bench.queue.add(key);
  await bench.clock.advance(10_000);
  assert.deepEqual(started, ["a1", "b1", "c1", "a2", "b2", "a3", "a4"]);
});

Deno.test("WorkQueue gives an urgent key a reserved place, also when its urgency comes while it waits for one", async () => {
  const { started, reconcile } = takingTurns();
  await using bench = openBench(reconcile, { parallel: 1, reservedForUrgent: 1 });
  for (const key of ["a", "b", "c"]) bench.queue.add(key);
  bench.queue.add("late", { urgentAfterMs: 500 });
  bench.queue.add("now", { urgentAfterMs: 0 });
  await bench.clock.advance(0);
  assert.deepEqual(started, ["now"]);
  await bench.clock.advance(500);
  assert.deepEqual(started, ["now", "late"]);
  bench.queue.add("b", { urgentAfterMs: 100 });
  await bench.clock.advance(500);
  assert.deepEqual(started, ["now", "late", "b"]);
  await bench.clock.advance(3_000);
  assert.deepEqual(started, ["now", "late", "b", "a", "c"]);
});

Deno.test("WorkQueue keeps a key urgent after a failure and makes it urgent when a reconcile requests that", async () => {
  const started: string[] = [];
  await using bench = openBench(async (key, clock) => {
    started.push(key);
    if (key === "fails" && started.length === 1) throw new Error("once");
    if (key === "asks" && started.length === 2) return { kind: "requeue", afterMs: 100, urgentAfterMs: 100 };
    await clock.sleep(1_000, new AbortController().signal);
    return DONE;
  }, { parallel: 1, reservedForUrgent: 2, backoff: { baseMs: 100, capMs: 100 } });
  bench.queue.add("fails", { urgentAfterMs: 0 });
  for (const key of ["asks", "x", "y"]) bench.queue.add(key);
  await bench.clock.advance(200);
  assert.deepEqual([started.slice(0, 3), started.slice(3).sort()], [["fails", "asks", "x"], ["asks", "fails"]]);
});

Deno.test("WorkQueue backs a failing key off up to the cap and drops its failures after a success", async () => {
  const times: number[] = [];
  let fails = true;
  await using bench = openBench((_key, clock) => {
    times.push(clock.monotonicMs());
    return fails ? Promise.reject(new Error("no")) : Promise.resolve(DONE);
  }, { backoff: { baseMs: 10, capMs: 1_000 } });
  bench.queue.add("a");
  await bench.clock.advance(10_000);
  const gaps = times.slice(1).map((at, n) => at - (times[n] ?? 0));
  for (const [n, gap] of gaps.entries()) {
    const full = Math.min(1_000, 10 * 2 ** n);
    assert.ok(gap >= full / 2 && gap <= full, `gap ${n} is ${gap}`);
  }
  fails = false;
  await bench.clock.advance(1_000);
  fails = true;
  const before = times.length;
  bench.queue.add("a");
  await bench.clock.advance(10);
  assert.ok(times.length >= before + 2, "the first retry comes after 10 ms at most");
  assert.ok(bench.samples.some(({ outcome }) => outcome === "failed"));
});

Deno.test("WorkQueue reconciles again after the time that a reconcile requests, or earlier when the key is added", async () => {
  const seen: string[] = [];
  await using bench = openBench((key, clock) => {
    seen.push(`${key} at ${clock.monotonicMs()}`);
    return Promise.resolve({ kind: "requeue", afterMs: 1_000 });
  });
  bench.queue.add("a");
  await bench.clock.advance(1_500);
  bench.queue.add("a");
  await bench.clock.advance(1_200);
  assert.deepEqual(seen, ["a at 0", "a at 1000", "a at 1500", "a at 2500"]);
});

Deno.test("WorkQueue.run() ends when what is under way has ended, and takes up what is left when run again", async () => {
  const ended: string[] = [];
  const bench = openBench(async (key, clock) => {
    await clock.sleep(100, new AbortController().signal);
    ended.push(key);
    return DONE;
  }, { parallel: 1 });
  bench.queue.add("a");
  bench.queue.add("b");
  await bench.clock.advance(50);
  bench.stop.abort();
  await bench.clock.advance(500);
  await bench.running;
  assert.deepEqual(ended, ["a"]);
  bench.queue.add("c");
  const again = new AbortController();
  const running = bench.queue.run(again.signal);
  await bench.clock.advance(500);
  again.abort();
  await running;
  assert.deepEqual(ended, ["a", "b", "c"]);
});

type Step =
  | { readonly kind: "add"; readonly key: string }
  | { readonly kind: "advance"; readonly ms: number };

const keyName = fc.constantFrom("a", "b", "c", "d");
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant("add" as const), key: keyName }),
  fc.record({ kind: fc.constant("advance" as const), ms: fc.integer({ min: 0, max: 40 }) }),
);

const requeue = fc.record({ kind: fc.constant("requeue" as const), afterMs: fc.constantFrom(0, 5, 7, 20, 100) });
const fate = fc.oneof(fc.constant(DONE), fc.constant("fail" as const), requeue);

Deno.test("property: WorkQueue loses no key, runs none twice at a time, and none later than it was added for", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 30 }),
      fc.array(fate, { minLength: 1, maxLength: 8 }),
      fc.integer({ min: 1, max: 3 }),
      async (steps, fates, parallel) => {
        const running = new Set<string>();
        /** When each key should have been started by; set by adds and requeues, cleared by starts. */
        const owed = new Map<string, number>();
        const owe = (key: string, dueMs: number): void => {
          owed.set(key, Math.min(owed.get(key) ?? Infinity, dueMs));
        };
        let runs = 0;
        let mayRequeue = true;
        const backoff = { baseMs: 4, capMs: 16 };
        await using bench = openBench(async (key, clock) => {
          assert.ok(!running.has(key), `${key} runs twice at a time`);
          assert.ok(running.size < parallel);
          running.add(key);
          owed.delete(key);
          const fate = fates[runs++ % fates.length] ?? DONE;
          await clock.sleep(3, new AbortController().signal);
          running.delete(key);
          if (fate === "fail") throw new Error("asked to fail");
          if (fate.kind !== "requeue" || !mayRequeue) return DONE;
          owe(key, clock.monotonicMs() + fate.afterMs);
          return fate;
        }, { parallel, backoff });
        for (const next of steps) {
          if (next.kind === "advance") await bench.clock.advance(next.ms);
          else {
            owe(next.key, bench.clock.monotonicMs());
            bench.queue.add(next.key);
          }
          // Four keys, 3 ms each: whatever is owed starts within 12 ms of its time.
          const nowMs = bench.clock.monotonicMs();
          for (const [key, dueMs] of owed) assert.ok(nowMs - dueMs <= 12, `${key} is ${nowMs - dueMs} ms late`);
        }
        mayRequeue = false;
        await bench.clock.advance(200);
        assert.deepEqual([...owed.keys()], [], "every key that was added has run afterwards");
      },
    ),
    { numRuns: 200 },
  );
});

Deno.test("property: DueHeap.pop() gives keys by due time, also after a sweep", () => {
  fc.assert(fc.property(fc.array(fc.integer({ min: 0, max: 50 })), (times) => {
    const heap = new DueHeap();
    for (const [n, dueMs] of times.entries()) heap.push({ key: `k${n}`, dueMs });
    heap.keepOnly(({ dueMs }) => dueMs % 3 !== 0);
    const popped: number[] = [];
    for (let item = heap.pop(); item !== undefined; item = heap.pop()) popped.push(item.dueMs);
    assert.deepEqual(popped, times.filter((dueMs) => dueMs % 3 !== 0).sort((a, b) => a - b));
  }));
});

Deno.test("WorkQueue keeps no more times than it has keys, however often they are moved forward", async () => {
  await using bench = openBench(() => Promise.resolve({ kind: "requeue", afterMs: 1_000_000 }));
  for (let n = 0; n < 5_000; n++) {
    bench.queue.add("a");
    await Promise.resolve();
    await Promise.resolve();
  }
  await bench.clock.advance(0);
  assert.equal(bench.queue.size, 1);
  assert.ok(bench.clock.sleeping <= 2, "one timer for all of them");
});

Deno.test("WorkQueue reports each key that becomes due once, the depth after each change, and each reconcile", async () => {
  let isBad = true;
  const reconcile: Reconcile = (key) => {
    if (key !== "bad" || !isBad) return Promise.resolve(DONE);
    isBad = false;
    return Promise.reject(new Error("no"));
  };
  await using bench = openBench(reconcile, { parallel: 1 });
  for (const key of ["a", "b", "bad", "a"]) bench.queue.add(key);
  await bench.clock.advance(0);
  assert.equal(bench.counts.added, 3);
  assert.equal(bench.counts.depths[0], 2, "one is worked on, two wait");
  assert.equal(bench.counts.depths.at(-1), 0);
  assert.deepEqual(bench.samples.map(({ outcome }) => outcome), ["done", "done", "failed"]);
  await bench.clock.advance(1_000);
  assert.equal(bench.counts.added, 4, "the retry is due once more");
});
