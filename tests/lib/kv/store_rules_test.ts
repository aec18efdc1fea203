import assert from "node:assert/strict";
import fc from "fast-check";
import * as z from "zod";
import { ageOf, seal, storedBytes, unseal } from "../../../lib/kv/envelope.ts";
import { entryKey, kindPrefix } from "../../../lib/kv/keys.ts";
import { openMemoryStore } from "../../support/memory_store.ts";
import { prune, StoreBudget } from "../../../lib/kv/prune.ts";
import type { KeyValueStore, StoreEntry } from "../../../lib/kv/store.ts";
import { FakeClock } from "../../support/fake_clock.ts";

Deno.test("unseal() gives back what seal() took, until its end", () => {
  const sealed = seal({ a: 1 }, { v: 3, atMs: 1_000, expireAtMs: 2_000 });
  const schema = z.object({ a: z.number() });
  assert.deepEqual(unseal(sealed, { v: 3, nowMs: 1_999, schema }), { a: 1 });
  assert.equal(unseal(sealed, { v: 3, nowMs: 2_000, schema }), undefined, "expired, although still stored");
  assert.equal(unseal(sealed, { v: 4, nowMs: 1_500, schema }), undefined, "another version");
  assert.equal(unseal(sealed, { v: 3, nowMs: 1_500, schema: z.string() }), undefined, "another shape");
});

Deno.test("unseal() and ageOf() never throw, whatever the store holds", () => {
  fc.assert(fc.property(fc.anything(), (raw) => {
    assert.equal(unseal(raw, { v: 1, nowMs: 0, schema: z.never() }), undefined);
    assert.equal(typeof ageOf(raw, 0).isExpired, "boolean");
  }));
});

Deno.test("entryKey() stays below 2 048 bytes, is stable, and keeps names apart", () => {
  fc.assert(fc.property(fc.string({ maxLength: 5_000 }), fc.string({ maxLength: 5_000 }), (left, right) => {
    const key = entryKey("tag", [left, "public"]);
    assert.ok(key.every((part) => typeof part === "number" || part.length <= 300));
    assert.deepEqual(key, entryKey("tag", [left, "public"]));
    assert.equal(left === right, JSON.stringify(key) === JSON.stringify(entryKey("tag", [right, "public"])));
    assert.deepEqual(key.slice(0, 3), kindPrefix("tag"));
  }));
});

async function fill(store: KeyValueStore, ages: readonly number[], nowMs: number): Promise<void> {
  for (const [at, age] of ages.entries()) {
    const kind = at % 2 === 0 ? "digest" : "tag";
    await store.set(entryKey(kind, [`name-${at}`, "public"]), seal(age, { v: 1, atMs: nowMs - age }));
  }
}

async function entriesOf(store: KeyValueStore): Promise<readonly StoreEntry[]> {
  const lists = (["digest", "tag"] as const).map((kind) => Array.fromAsync(store.list(kindPrefix(kind))));
  return (await Promise.all(lists)).flat();
}

Deno.test("prune() deletes the oldest beyond the size, over all kinds", async () => {
  const clock = new FakeClock();
  await fc.assert(fc.asyncProperty(
    fc.uniqueArray(fc.nat({ max: 1_000_000 }), { maxLength: 60 }),
    fc.nat({ max: 60 }),
    async (ages, maxEntries) => {
      const store = openMemoryStore();
      await fill(store, ages, clock.nowMs());
      assert.ok(await prune(store, { maxEntries, maxBytes: Infinity, clock }));
      const left = (await entriesOf(store)).map(({ value }) => z.object({ value: z.number() }).parse(value).value);
      const wanted = [...ages].sort((a, b) => a - b).slice(0, maxEntries);
      assert.deepEqual(left.sort((a, b) => a - b), wanted);
    },
  ));
});

Deno.test("prune() deletes the oldest beyond the bytes, whichever entries are the large ones", async () => {
  const clock = new FakeClock();
  const store = openMemoryStore();
  for (const [age, size] of [[1, 10], [2, 3_000], [3, 10], [4, 3_000], [5, 10]] as const) {
    const sealed = seal("x".repeat(size), { v: 1, atMs: clock.nowMs() - age });
    await store.set(entryKey("digest", [`name-${age}`]), sealed);
  }
  assert.ok(await prune(store, { maxEntries: 100, maxBytes: 7_000, clock }));
  const left = (await Array.fromAsync(store.list(kindPrefix("digest")))).map(({ key }) => key.at(-1));
  assert.deepEqual(left.sort(), ["name-1", "name-2", "name-3"]);
});

/** What a file took for each of thousands of such texts. */
const MEASURED = [[400, 940], [2_500, 4_860], [14_700, 17_060]] as const;

for (const [characters, bytes] of MEASURED) {
  Deno.test(`storedBytes() weighs a text of ${characters} characters as the file does, or a little more`, () => {
    const weight = storedBytes("x".repeat(characters));
    assert.ok(weight >= bytes && weight <= bytes * 1.1, `${weight} bytes`);
    assert.ok(storedBytes("\u0142".repeat(characters)) >= 2 * characters);
  });
}

Deno.test("prune() deletes expired and unreadable entries even when there is room", async () => {
  const clock = new FakeClock();
  const store = openMemoryStore();
  await fill(store, [5, 6], clock.nowMs());
  await store.set(entryKey("digest", ["gone"]), seal(1, { v: 1, atMs: 0, expireAtMs: clock.nowMs() }));
  await store.set(entryKey("digest", ["nonsense"]), "nonsense");
  assert.ok(await prune(store, { maxEntries: 100, maxBytes: Infinity, clock }));
  assert.deepEqual((await entriesOf(store)).map(({ key }) => key.at(-2)).sort(), ["name-0", "name-1"]);
});

Deno.test("prune() is complete only when all entries were listed, and goes on after deletes that failed", async () => {
  const clock = new FakeClock();
  const memory = openMemoryStore();
  await fill(memory, Array.from({ length: 100 }, (_, at) => at + 1), clock.nowMs());
  const limits = { maxEntries: 20, maxBytes: Infinity, clock };
  let [deletes, cuts] = [0, 0];
  const flaky: KeyValueStore = {
    ...memory,
    delete: (key) => deletes++ < 10 ? Promise.resolve(false) : memory.delete(key),
  };
  const pruned = async (store: KeyValueStore) => [await prune(store, limits), (await entriesOf(memory)).length];
  assert.deepEqual(await pruned(flaky), [false, 30]);
  const cutting: KeyValueStore = {
    ...memory,
    cutListingCount: () => cuts,
    list: async function* (): AsyncGenerator<StoreEntry> {
      cuts++;
      yield* [];
      await Promise.resolve();
    },
  };
  assert.deepEqual(await pruned(cutting), [false, 30]);
  assert.deepEqual(await pruned(memory), [true, 20]);
});

Deno.test("StoreBudget lets a store that deletes nothing grow by a quarter beyond its limits, and lists it every ten seconds", async () => {
  const clock = new FakeClock();
  const memory = openMemoryStore();
  let [lists, written, canDelete] = [0, 0, false];
  const store: KeyValueStore = {
    ...memory,
    delete: (key) => canDelete ? memory.delete(key) : Promise.resolve(false),
    list: (prefix) => {
      lists++;
      return memory.list(prefix);
    },
  };
  const budget = new StoreBudget(store, { maxEntries: 400, maxBytes: 1e9, clock });
  const write = async (number: number): Promise<boolean> => {
    const sealed = seal(number, { v: 1, atMs: clock.nowMs() });
    const isTaken = budget.take(sealed);
    if (isTaken) await store.set(entryKey("digest", [`entry-${written++}`]), sealed);
    await budget.restore();
    return isTaken;
  };
  const writeMany = async (): Promise<number> => {
    let taken = 0;
    for (let number = 0; number < 2_000; number++) if (await write(number)) taken++;
    return taken;
  };
  assert.equal(await writeMany(), 500);
  const before = lists;
  assert.equal(await writeMany(), 0);
  assert.equal(lists, before);
  canDelete = true;
  await clock.advance(10_000);
  assert.equal(await write(0), false);
  assert.ok(await write(1));
});
