import assert from "node:assert/strict";
import { retryingStore } from "../../../lib/cli/cache.ts";
import { type Clock, systemClock } from "../../../lib/clock.ts";
import { openMemoryStore } from "../../support/memory_store.ts";
import type { KeyValueStore } from "../../../lib/kv/store.ts";

function hastyClock(): { readonly clock: Clock; sleeps(): number } {
  let sleeps = 0;
  const sleep = (): Promise<void> => {
    sleeps += 1;
    return Promise.resolve();
  };
  return { clock: { ...systemClock, sleep }, sleeps: () => sleeps };
}

function refusingStore(refusals: number): KeyValueStore {
  let left = refusals;
  const store = openMemoryStore();
  return { ...store, set: (key, value) => left-- > 0 ? Promise.resolve(false) : store.set(key, value) };
}

const { signal } = new AbortController();

Deno.test("retryingStore() offers a write again until it is taken", async () => {
  const { clock, sleeps } = hastyClock();
  const store = retryingStore(refusingStore(30), { clock, signal });
  assert.equal(await store.set(["a"], 1), true);
  assert.equal(await store.get(["a"]), 1);
  assert.equal(sleeps(), 30);
});

Deno.test("retryingStore() gives up in the end, and then waits for no other write", async () => {
  const { clock, sleeps } = hastyClock();
  const store = retryingStore(refusingStore(Infinity), { clock, signal });
  assert.equal(await store.set(["a"], 1), false);
  const waited = sleeps();
  for (let at = 0; at < 100; at++) assert.equal(await store.set(["a", at], 1), false);
  assert.equal(sleeps(), waited);
});

Deno.test("retryingStore() stops waiting when the command is ended", async () => {
  const { clock, sleeps } = hastyClock();
  const store = retryingStore(refusingStore(Infinity), { clock, signal: AbortSignal.abort() });
  assert.equal(await store.set(["a"], 1), false);
  assert.equal(sleeps(), 0);
});
