import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import { openDenoKv } from "../../../../lib/kv/deno_kv.ts";
import { seal } from "../../../../lib/kv/envelope.ts";
import { entryKey } from "../../../../lib/kv/keys.ts";
import { openMemoryStore } from "../../../support/memory_store.ts";
import type { KeyValueStore, StoreEntry } from "../../../../lib/kv/store.ts";
import { silentLogger } from "../../../../lib/log.ts";
import { PUBLIC_NAME, PUBLIC_READERSHIP } from "../../../../lib/oci/cache/readership.ts";
import { RecordStore } from "../../../../lib/oci/cache/record_store.ts";
import type { ImageRecord } from "../../../../lib/oci/inspection.ts";
import { FakeClock } from "../../../support/fake_clock.ts";
import { makePlatforms } from "../../../support/reports.ts";
import { temporaryFolder } from "../../../support/temporary_folder.ts";

const MB = 1024 * 1024;
/** What SQLite writes ahead of the file before it takes it over. */
const AHEAD_MB = 4.5;

/** An index of 64 platforms with the longest names that images have: 14.7 kB as it is stored. */
function hostileRecord(at: number): ImageRecord {
  return makePlatforms({
    digest: `sha256:${at.toString(16).padStart(64, "0")}`,
    platforms: Array.from({ length: 64 }, (_, each) => ({
      os: `o${at}-${each}`.padEnd(63, "o"),
      architecture: `a${each}`.padEnd(63, "a"),
      variant: `v${each}`.padEnd(63, "v"),
    })),
  });
}

/** A store that says when all that was begun has ended, and how often it was listed. */
function observed(kv: KeyValueStore): { readonly kv: KeyValueStore; quiet(): Promise<void>; lists: number } {
  const underWay = new Set<Promise<unknown>>();
  const during = <T>(work: Promise<T>): Promise<T> => {
    underWay.add(work);
    return work.finally(() => underWay.delete(work));
  };
  const seen = {
    lists: 0,
    quiet: async (): Promise<void> => {
      // What follows an ended call begins in the same turn of the event loop.
      for (; underWay.size > 0; await setImmediate()) await Promise.all(underWay);
    },
    kv: {
      ...kv,
      set: (key, value) => during(kv.set(key, value)),
      delete: (key) => during(kv.delete(key)),
      list: async function* (prefix): AsyncGenerator<StoreEntry> {
        seen.lists++;
        const ended = Promise.withResolvers<void>();
        void during(ended.promise);
        try {
          yield* kv.list(prefix);
        } finally {
          ended.resolve();
        }
      },
    } satisfies KeyValueStore,
  };
  return seen;
}

async function read(store: RecordStore, digest: string): Promise<ImageRecord | undefined> {
  await store.readRecord(PUBLIC_READERSHIP, digest);
  return store.recordInMemory(PUBLIC_READERSHIP.id, digest);
}

async function fileMb(path: string): Promise<number> {
  return (await Deno.stat(path)).size / MB;
}

/** Puts as many, one a millisecond by the wall. */
async function putAll(
  store: RecordStore,
  { quiet, clock }: { quiet(): Promise<void>; readonly clock: FakeClock },
  count: number,
): Promise<void> {
  for (let at = 0; at < count; at++) {
    clock.jumpWall(1);
    store.putRecord(PUBLIC_READERSHIP, hostileRecord(at));
    if (at % 20 !== 19) continue;
    await setImmediate();
    await quiet();
  }
}

Deno.test("RecordStore holds the cache file to its bytes, and keeps the newest", async () => {
  await using folder = await temporaryFolder();
  const path = `${folder.path}/cache.db`;
  // By its time no call takes longer than it may, however slow the disk.
  const clock = new FakeClock();
  const kv = await openDenoKv({ path, clock, log: silentLogger });
  const seen = observed(kv);
  const options = { kv: seen.kv, clock, maxEntries: 10_000, maxStoredBytes: 8 * MB };
  await putAll(new RecordStore(options), { ...seen, clock }, 1_600);
  assert.ok(seen.lists <= 60, `${seen.lists} lists`);
  const later = new RecordStore(options);
  const { digest } = hostileRecord(1_599);
  assert.equal((await read(later, digest))?.digest, digest);
  assert.equal(await read(later, hostileRecord(0).digest), undefined);
  await kv.close();
  // Without a bound it has 26 MB.
  assert.ok(await fileMb(path) < 8 * 1.25 + AHEAD_MB, `${await fileMb(path)} MB`);
});

Deno.test("RecordStore cuts back a file that an earlier version has filled, and reads what is left", async () => {
  await using folder = await temporaryFolder();
  const clock = new FakeClock();
  const kv = await openDenoKv({ path: `${folder.path}/cache.db`, clock, log: silentLogger });
  const filledMs = clock.nowMs() - 60_000;
  for (let at = 0; at < 400; at++) {
    const record = hostileRecord(at);
    const sealed = seal(record, { v: 1, atMs: filledMs + at });
    await kv.set(entryKey("digest", [record.digest, PUBLIC_NAME]), sealed);
  }
  const seen = observed(kv);
  const store = new RecordStore({ kv: seen.kv, clock, maxEntries: 10_000, maxStoredBytes: 4 * MB });
  for (let at = 400; at < 500; at++) store.putRecord(PUBLIC_READERSHIP, hostileRecord(at));
  await setImmediate();
  await seen.quiet();
  const left = await Array.fromAsync(kv.list(["archway"]));
  const stored = left.reduce((sum, { bytes }) => sum + bytes, 0);
  assert.ok(stored > 2 * MB && stored <= 4 * MB * 1.25, `${stored} bytes`);
  assert.equal(await read(store, hostileRecord(0).digest), undefined);
  assert.equal((await read(store, hostileRecord(399).digest))?.platforms.length, 64);
  await kv.close();
});

Deno.test("RecordStore cuts the store back once at a time, and writes no more than so much meanwhile", async () => {
  const clock = new FakeClock();
  const memory = openMemoryStore();
  let [lists, sets] = [0, 0];
  const kv: KeyValueStore = {
    ...memory,
    set: () => Promise.resolve(++sets > 0),
    list: async function* (prefix): AsyncGenerator<StoreEntry> {
      lists++;
      await new Promise(() => {});
      yield* memory.list(prefix);
    },
  };
  const store = new RecordStore({ kv, clock, maxEntries: 10_000, maxStoredBytes: 8 * MB });
  for (let at = 0; at < 1_000; at++) {
    store.putRecord(PUBLIC_READERSHIP, hostileRecord(at));
    await clock.advance(0);
  }
  assert.equal(lists, 1);
  // One megabyte before the first time, and a quarter of all during it; each record weighs 17 kB.
  assert.ok(sets > 150 && sets < 200, `${sets} writes`);
});
