import assert from "node:assert/strict";
import {
  CALL_TIMEOUT_MS,
  type Database,
  FAULTS_IN_A_ROW,
  LONG_TIMEOUT_MS,
  openGuardedStore,
  REST_MS,
} from "../../../lib/kv/guarded_store.ts";
import { FakeClock } from "../../support/fake_clock.ts";
import { turn } from "../../support/until.ts";
import { recordingLogger } from "./kv_support.ts";

class MoodyDatabase implements Database {
  mood: "well" | "hangs" | "fails" = "well";
  calls = 0;
  closed = 0;
  readonly entries = new Map<string, string>();

  async #answer<T>(value: () => T): Promise<T> {
    this.calls += 1;
    if (this.mood === "hangs") return await new Promise<T>(() => {});
    if (this.mood === "fails") throw new Error("disk on fire");
    return value();
  }
  open = (): Promise<Database> => this.#answer((): Database => this);
  get = (key: readonly (string | number)[]): Promise<unknown> => this.#answer(() => this.entries.get(key.join()));
  set = (key: readonly (string | number)[], text: string): Promise<void> =>
    this.#answer(() => void this.entries.set(key.join(), text));
  create = (key: readonly (string | number)[], text: string): Promise<boolean> =>
    this.#answer(() => !this.entries.has(key.join()) && this.entries.set(key.join(), text) !== undefined);
  delete = (key: readonly (string | number)[]): Promise<void> =>
    this.#answer(() => void this.entries.delete(key.join()));
  async *list(): ReturnType<Database["list"]> {
    for (const [key, value] of this.entries) yield await this.#answer(() => ({ key: [key], value }));
  }
  close(): void {
    this.closed += 1;
  }
}

/** Keeps how many writes are under way, and ends them a moment later. */
class SlowDatabase extends MoodyDatabase {
  underWay = 0;
  most = 0;

  override set = async (key: readonly (string | number)[], text: string): Promise<void> => {
    this.most = Math.max(this.most, ++this.underWay);
    await turn();
    this.underWay -= 1;
    this.entries.set(key.join(), text);
  };
}

const open = async (database: MoodyDatabase) => {
  const clock = new FakeClock();
  const { log, lines } = recordingLogger();
  const opening = openGuardedStore({ open: database.open, clock, log }, 250);
  await clock.advance(250);
  return { clock, lines, store: await opening };
};

Deno.test("openGuardedStore() writes four at a time, refuses what exceeds ten thousand, and closes when all are made", async () => {
  const database = new SlowDatabase();
  const { store } = await open(database);
  const writes = Array.from({ length: 10_010 }, (_, at) => store.set([at], at));
  await store.close();
  const made = (await Promise.all(writes)).filter((isMade) => isMade).length;
  assert.deepEqual([made, database.entries.size, database.most, store.faultCount()], [10_004, 10_004, 4, 6]);
});

Deno.test("openGuardedStore() keeps, creates once, lists and deletes what fits", async () => {
  const { store } = await open(new MoodyDatabase());
  assert.equal(await store.set(["a"], { deep: [1, "x", null] }), true);
  assert.deepEqual(await store.get(["a"]), { deep: [1, "x", null] });
  assert.equal(await store.create(["a"], 2), false);
  assert.equal(await store.create(["b"], 2), true);
  assert.deepEqual((await Array.fromAsync(store.list([]))).map(({ value }) => value), [{ deep: [1, "x", null] }, 2]);
  assert.equal(await store.delete(["a"]), true);
  assert.equal(await store.get(["a"]), undefined);
  assert.equal(store.faultCount(), 0);
  await store.close();
});

Deno.test("openGuardedStore() gives every promise back in time when the database hangs for ever", async () => {
  const database = new MoodyDatabase();
  const { store, clock } = await open(database);
  database.mood = "hangs";
  const [got, set] = [store.get(["a"]), store.set(["a"], 1)];
  const calls = Promise.all([got, set, store.create(["a"], 1), store.delete(["a"])]);
  const listing = Array.fromAsync(store.list([]));
  await clock.advance(CALL_TIMEOUT_MS);
  assert.deepEqual(await calls, [undefined, false, false, false]);
  await clock.advance(LONG_TIMEOUT_MS);
  assert.deepEqual(await listing, []);
  const closing = store.close();
  await clock.advance(CALL_TIMEOUT_MS);
  await closing;
  assert.equal(await store.get(["a"]), undefined, "a closed store is a miss");
});

Deno.test("openGuardedStore() is there in time although the database never opens, and uses it once it does", async () => {
  const database = new MoodyDatabase();
  database.mood = "hangs";
  const { store, clock, lines } = await open(database);
  assert.equal(await store.get(["a"]), undefined, "no call waits for the opening");
  await clock.advance(LONG_TIMEOUT_MS);
  assert.equal(lines.filter((line) => line.startsWith("warn")).length, 1);
  database.mood = "well";
  await clock.advance(REST_MS);
  assert.equal(await store.get(["a"]), undefined);
  await clock.advance(0);
  assert.equal(await store.set(["a"], 1), true);
  await store.close();
});

Deno.test("openGuardedStore() leaves a failing database alone, warns once and recovers by itself", async () => {
  const database = new MoodyDatabase();
  const { store, clock, lines } = await open(database);
  database.mood = "fails";
  for (let at = 0; at < FAULTS_IN_A_ROW; at++) assert.equal(await store.get(["a"]), undefined);
  const calls = database.calls;
  for (let at = 0; at < 100; at++) await store.get(["a"]);
  assert.equal(database.calls, calls, "nobody asks while it rests");
  assert.equal(store.faultCount(), FAULTS_IN_A_ROW + 100, "a miss while it rests is a fault, too");
  assert.equal(database.closed, 1, "the handle is given up");
  await clock.advance(REST_MS);
  await store.get(["a"]);
  assert.ok(database.calls > calls, "somebody tries again after the rest");
  database.mood = "well";
  for (let turn = 0; turn < 3; turn++) {
    await clock.advance(REST_MS);
    await store.get(["a"]);
  }
  assert.equal(await store.set(["a"], 1), true);
  assert.deepEqual(lines.filter((line) => !line.startsWith("debug")), [
    "warn cannot use the cache database; memory only until it answers",
    "info the cache database answers again",
  ]);
  await store.close();
});

Deno.test("openGuardedStore() refuses a value that is too large without blaming the database", async () => {
  const { store } = await open(new MoodyDatabase());
  for (let at = 0; at < 10; at++) assert.equal(await store.set(["a"], "x".repeat(40_000)), false);
  assert.equal(await store.set(["a"], "small"), true);
  assert.equal(store.faultCount(), 10);
  await store.close();
});

Deno.test("openGuardedStore() reads what is not JSON text as a miss", async () => {
  const database = new MoodyDatabase();
  const { store } = await open(database);
  database.entries.set("a", "{broken");
  assert.equal(await store.get(["a"]), undefined);
  await store.close();
});

Deno.test("openGuardedStore() takes the calls that one stall holds up for one fault, and goes on with the database", async () => {
  const database = new MoodyDatabase();
  const { clock, lines, store } = await open(database);
  await store.set(["a"], 1);
  database.mood = "hangs";
  const stalled = Promise.all(Array.from({ length: 50 }, () => store.get(["a"])));
  await clock.advance(CALL_TIMEOUT_MS);
  assert.deepEqual(new Set(await stalled), new Set([undefined]));
  database.mood = "well";
  assert.equal(await store.get(["a"]), 1);
  assert.deepEqual(lines, []);
  await store.close();
});
