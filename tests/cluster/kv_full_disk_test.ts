// The cache file on a disk that is really full: a small tmpfs. Nothing fails for the images; what was stored is still there.
import assert from "node:assert/strict";
import { type Clock, systemClock } from "../../lib/clock.ts";
import { openDenoKv } from "../../lib/kv/deno_kv.ts";
import { REST_MS } from "../../lib/kv/guarded_store.ts";
import type { KeyValueStore } from "../../lib/kv/store.ts";
import { succeeds } from "../support/commands.ts";
import { keepLog } from "../support/logs.ts";
import { lacks } from "../support/needs.ts";
import { waitUntil } from "./support/wait.ts";

/** A disk of half a megabyte that a test may fill. */
interface SmallDisk extends AsyncDisposable {
  readonly path: string;
  fill(): void;
  free(): void;
}

async function mountSmallDisk(): Promise<SmallDisk> {
  const path = await Deno.makeTempDir({ prefix: "archway-small-disk-" });
  if (!await succeeds("mount", ["-t", "tmpfs", "-o", "size=512k", "tmpfs", path])) {
    await Deno.remove(path);
    throw new Error("Cannot mount a tmpfs: no right to.");
  }
  const ballast = `${path}/ballast`;
  return {
    path,
    fill: () => {
      const block = new Uint8Array(4_096);
      using file = Deno.openSync(ballast, { write: true, create: true });
      try {
        for (;;) file.writeSync(block);
      } catch {
        // Full: that is what was wanted.
      }
    },
    free: () => Deno.removeSync(ballast),
    [Symbol.asyncDispose]: async () => {
      // A database handle that is on its way to be closed holds the disk for a moment.
      await waitUntil("the small disk to be unmounted", () => succeeds("umount", [path]));
      await Deno.remove(path);
    },
  };
}

function test(name: string, body: (disk: SmallDisk) => Promise<void>): void {
  Deno.test({
    name,
    ignore: lacks("root"),
    fn: async () => {
      await using disk = await mountSmallDisk();
      await body(disk);
    },
  });
}

function onlyWarning({ lines }: ReturnType<typeof keepLog>): string {
  const warnings = lines.filter(({ level }) => level === "warn" || level === "error");
  assert.equal(warnings.length, 1, JSON.stringify(warnings));
  return JSON.stringify(warnings);
}

const VALUE = "x".repeat(8_000);

async function fillByWriting(kv: KeyValueStore): Promise<number> {
  for (let at = 0; at < 1_000; at++) if (!await kv.set(["archway", "many", at], VALUE)) return at;
  throw new Error("the disk took a thousand entries");
}

test("openDenoKv() on a full disk loses writes only, says so once, and writes again when there is room", async (disk) => {
  let shiftMs = 0;
  const clock: Clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + shiftMs };
  const log = keepLog();
  const kv = await openDenoKv({ path: `${disk.path}/cache.db`, clock, log });
  assert.equal(await kv.set(["archway", "kept"], VALUE), true);
  disk.fill();
  const stored = await fillByWriting(kv);
  for (let turn = 0; turn < 20; turn++) assert.equal(await kv.set(["archway", "more"], VALUE), false);
  assert.match(onlyWarning(log), /cannot use the cache database.*full/i);
  await waitUntil("reading to go on", async () => {
    shiftMs += REST_MS;
    return await kv.get(["archway", "kept"]) === VALUE;
  });
  disk.free();
  await waitUntil("the store to take entries again", async () => {
    shiftMs += REST_MS;
    return await kv.set(["archway", "more"], VALUE);
  });
  for (let at = 0; at < stored; at++) assert.equal(await kv.get(["archway", "many", at]), VALUE);
  await kv.close();
});

test("openDenoKv() starts on a full disk with its memory alone", async (disk) => {
  disk.fill();
  const log = keepLog();
  const kv = await openDenoKv({ path: `${disk.path}/cache.db`, clock: systemClock, log });
  assert.equal(await kv.set(["archway", "a"], 1), false);
  assert.equal(await kv.get(["archway", "a"]), undefined);
  onlyWarning(log);
  await kv.close();
});
