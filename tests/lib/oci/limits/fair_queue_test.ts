import assert from "node:assert/strict";
import fc from "fast-check";
import { type Caller, PRIORITIES } from "../../../../lib/oci/callers.ts";
import { FairQueue, type QueueEntry } from "../../../../lib/oci/limits/fair_queue.ts";

function caller(namespace: string, priority: Caller["priority"] = "gated"): Caller {
  return { namespace, priority };
}

function all<T>(queue: FairQueue<T>): readonly T[] {
  const items: T[] = [];
  for (let next = queue.next(() => true); next !== undefined; next = queue.next(() => true)) items.push(next.item);
  return items;
}

Deno.test("FairQueue.next() takes priorities in order, namespaces in turn, and each first come, first served", () => {
  const queue = new FairQueue<string>();
  for (const name of ["a1", "a2", "a3", "b1", "c1", "b2"]) queue.add(name, [caller(name.slice(0, 1))]);
  queue.add("warm", [caller("d", "prewarm")]);
  queue.add("new", [caller("d", "admission")]);
  assert.deepEqual(all(queue), ["a1", "b1", "c1", "a2", "b2", "a3", "new", "warm"]);
});

Deno.test("FairQueue.next() skips namespaces that may have no more, and keeps their turn", () => {
  const queue = new FairQueue<string>();
  for (const name of ["a1", "b1", "a2"]) queue.add(name, [caller(name.slice(0, 1))]);
  assert.equal(queue.next((namespace) => namespace !== "a")?.item, "b1");
  assert.equal(queue.next((namespace) => namespace !== "a"), undefined);
  assert.equal(queue.size, 2);
  assert.deepEqual(all(queue), ["a1", "a2"]);
});

Deno.test("FairQueue.next() takes an entry of several callers at the first turn that any of them has, once", () => {
  const queue = new FairQueue<string>();
  for (const name of ["a1", "a2", "a3"]) queue.add(name, [caller("a")]);
  const shared = queue.add("shared", [caller("a")]);
  queue.join(shared, caller("b"));
  assert.deepEqual(all(queue), ["a1", "shared", "a2", "a3"]);
  const raised = queue.add("raised", [caller("a", "prewarm")]);
  queue.add("admitted", [caller("a", "admission")]);
  queue.join(raised, caller("a", "gated"));
  assert.deepEqual(all(queue), ["raised", "admitted"]);
});

type Step =
  | { readonly kind: "add"; readonly callers: readonly Caller[] }
  | { readonly kind: "join"; readonly at: number; readonly caller: Caller }
  | { readonly kind: "remove"; readonly at: number }
  | { readonly kind: "next" };

const someone = fc.record({ namespace: fc.constantFrom("a", "b", "c"), priority: fc.constantFrom(...PRIORITIES) });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant("add" as const), callers: fc.array(someone, { minLength: 1, maxLength: 3 }) }),
  fc.record({ kind: fc.constant("join" as const), at: fc.nat(50), caller: someone }),
  fc.record({ kind: fc.constant("remove" as const), at: fc.nat(50) }),
  fc.record({ kind: fc.constant("next" as const) }),
);

Deno.test("FairQueue gives every entry once, the most urgent first, in any history of joins and departures", () => {
  fc.assert(fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
    const queue = new FairQueue<number>();
    const entries: QueueEntry<number>[] = [];
    const waiting = new Map<number, Caller[]>();
    const rank = (callers: readonly Caller[]): number =>
      Math.min(...callers.map(({ priority }) => PRIORITIES.indexOf(priority)));
    for (const one of steps) {
      const entry = "at" in one ? entries[one.at] : undefined;
      if (one.kind === "add") {
        waiting.set(entries.length, [...one.callers]);
        entries.push(queue.add(entries.length, one.callers));
      } else if (one.kind === "next") {
        const next = queue.next(() => true);
        assert.equal(next === undefined, waiting.size === 0);
        if (next === undefined) continue;
        const best = Math.min(...[...waiting.values()].map(rank));
        assert.equal(rank(waiting.get(next.item) ?? []), best);
        assert.ok(waiting.delete(next.item), "was waiting");
      } else if (entry !== undefined && one.kind === "join") {
        queue.join(entry, one.caller);
        waiting.get(entry.item)?.push(one.caller);
      } else if (entry !== undefined) {
        assert.equal(queue.remove(entry), waiting.delete(entry.item));
      }
      assert.equal(queue.size, waiting.size);
    }
  }));
});

/** Far above what 20 000 steps of constant time take on a busy machine, far below what 20 000 × 20 000 take on any (ms). */
const LINEAR_MS = 400;

Deno.test("FairQueue lets 20 000 waiters leave, or be served, each in constant time", () => {
  const ways: readonly ((queue: FairQueue<number>, entries: QueueEntry<number>[]) => void)[] = [
    (queue, entries) => entries.forEach((entry) => queue.remove(entry)),
    (queue, entries) => entries.reverse().forEach((entry) => queue.remove(entry)),
    (queue) => void all(queue),
    (queue, entries) => {
      entries.forEach((entry, at) => at % 2 === 0 ? queue.remove(entry) : undefined);
      all(queue);
    },
  ];
  for (const way of ways) {
    const times = [1, 2, 3].map(() => {
      const queue = new FairQueue<number>();
      const entries = Array.from({ length: 20_000 }, (_, at) => queue.add(at, [caller(`n${at % 100}`)]));
      const startedMs = performance.now();
      way(queue, entries);
      assert.equal(queue.size, 0);
      return performance.now() - startedMs;
    });
    assert.ok(Math.min(...times) < LINEAR_MS, `${times.join(", ")} ms`);
  }
});
