import assert from "node:assert/strict";
import { openDenoKv } from "../../../lib/kv/deno_kv.ts";
import { REST_MS } from "../../../lib/kv/guarded_store.ts";
import { recordingLogger, shiftedClock, spawnScript } from "./kv_support.ts";
import { keepLog } from "../../support/logs.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";

const ONE_WARNING = ["warn cannot use the cache database; memory only until it answers"];

Deno.test("openDenoKv() keeps entries over a restart, in a folder that it makes", async () => {
  await using folder = await temporaryFolder();
  const { clock } = shiftedClock();
  const { log, lines } = recordingLogger();
  const path = `${folder.path}/not/there/yet/cache.db`;
  const first = await openDenoKv({ path, clock, log });
  assert.equal(await first.set(["a", 1], { platforms: ["amd64"] }), true);
  await first.close();
  const second = await openDenoKv({ path, clock, log });
  assert.deepEqual(await second.get(["a", 1]), { platforms: ["amd64"] });
  assert.deepEqual((await Array.fromAsync(second.list(["a"]))).map(({ key }) => key), [["a", 1]]);
  assert.equal(await second.create(["a", 1], 2), false);
  await second.close();
  assert.deepEqual(lines, []);
});

Deno.test("openDenoKv() sets a garbage file aside with a warning and starts anew", async () => {
  await using folder = await temporaryFolder();
  const { clock } = shiftedClock();
  const path = `${folder.path}/cache.db`;
  for (const text of ["this is garbage ", "more of it "]) {
    const { log, lines } = recordingLogger();
    await Deno.writeTextFile(path, text.repeat(500));
    await Deno.remove(`${path}-wal`).catch(() => {});
    const store = await openDenoKv({ path, clock, log });
    assert.equal(await store.set(["a"], 1), true);
    await store.close();
    assert.deepEqual(lines, ["warn the cache file is damaged; set aside, starting a new one"]);
    assert.ok((await Deno.readTextFile(`${path}.broken`)).startsWith(text));
  }
});

Deno.test("openDenoKv() sets a truncated file aside and starts anew", async () => {
  await using folder = await temporaryFolder();
  const { clock } = shiftedClock();
  const { log, lines } = recordingLogger();
  const path = `${folder.path}/cache.db`;
  const first = await openDenoKv({ path, clock, log });
  for (let at = 0; at < 300; at++) await first.set(["a", at], "x".repeat(1_000));
  await first.close();
  for (const side of ["-wal", "-shm"]) await Deno.remove(path + side).catch(() => {});
  await Deno.truncate(path, Math.floor((await Deno.stat(path)).size / 2));
  const second = await openDenoKv({ path, clock, log });
  assert.equal(await second.set(["b"], 1), true);
  assert.equal(await second.get(["b"]), 1);
  await second.close();
  assert.deepEqual(lines, ["warn the cache file is damaged; set aside, starting a new one"]);
});

Deno.test("openDenoKv() goes on without a file that cannot be used, with one warning", async () => {
  await using folder = await temporaryFolder();
  const { clock, forward } = shiftedClock();
  // A folder in the file's place, and a file system that takes no files.
  for (const path of [folder.path, "/proc/archway-cache.db"]) {
    const { log, lines } = recordingLogger();
    const store = await openDenoKv({ path, clock, log });
    for (let turn = 0; turn < 5; turn++) {
      assert.equal(await store.set(["a"], 1), false);
      assert.equal(await store.get(["a"]), undefined);
      forward(REST_MS);
    }
    await store.close();
    assert.deepEqual(lines.filter((line) => !line.startsWith("debug")), ONE_WARNING);
  }
});

Deno.test("openDenoKv() takes a burst of writes without losing one, nor those that wait when it is closed", async () => {
  await using folder = await temporaryFolder();
  const { log, lines } = recordingLogger();
  const { clock: { sleep, ...clock } } = shiftedClock();
  // A busy machine may take longer for one of them than the store waits, which is no loss in the queue.
  const patient = { ...clock, sleep: (ms: number, signal: AbortSignal) => sleep(20 * ms, signal) };
  const options = { path: `${folder.path}/cache.db`, clock: patient, log };
  const store = await openDenoKv(options);
  const burst = (name: string, count: number): Promise<boolean>[] =>
    Array.from({ length: count }, (_, at) => store.set(["archway", "burst", name, at], "x".repeat(300)));
  assert.deepEqual(new Set(await Promise.all(burst("first", 2_000))), new Set([true]));
  const last = burst("last", 200);
  await store.close();
  assert.deepEqual(new Set(await Promise.all(last)), new Set([true]));
  assert.deepEqual(lines, []);
  const again = await openDenoKv(options);
  assert.equal((await Array.fromAsync(again.list(["archway", "burst"]))).length, 2_200);
  await again.close();
});

Deno.test("openDenoKv() goes on while another process locks the file, and uses it when the lock is gone", async () => {
  await using folder = await temporaryFolder();
  const { clock, forward } = shiftedClock();
  const { log, lines } = recordingLogger();
  const path = `${folder.path}/cache.db`;
  await (await openDenoKv({ path, clock, log })).close();
  const { child, lines: said } = spawnScript(`
    import { DatabaseSync } from "node:sqlite";
    const database = new DatabaseSync(${JSON.stringify(path)});
    database.exec("BEGIN IMMEDIATE");
    console.log("locked");
    setInterval(() => {}, 1_000);
  `);
  assert.equal((await said.next()).value, "locked");
  const store = await openDenoKv({ path, clock, log });
  assert.equal(await store.set(["a"], 1), false);
  assert.deepEqual(lines, ONE_WARNING);
  child.kill("SIGKILL");
  await child.status;
  await said.return?.();
  for (let turn = 0; turn < 20 && !(await store.set(["a"], 2)); turn++) {
    forward(REST_MS);
    await clock.sleep(100, new AbortController().signal);
  }
  assert.equal(await store.get(["a"]), 2);
  await store.close();
  assert.equal(lines.at(-1), "info the cache database answers again");
});

Deno.test("openDenoKv() loses no acknowledged entry when the process is killed while writing", async () => {
  await using folder = await temporaryFolder();
  const { clock } = shiftedClock();
  const { log, lines } = recordingLogger();
  const path = `${folder.path}/cache.db`;
  const acknowledged: number[] = [];
  for (let round = 0; round < 2; round++) {
    const { child, lines: said } = spawnScript(`
      import { systemClock } from "./lib/clock.ts";
      import { openDenoKv } from "./lib/kv/deno_kv.ts";
      import { silentLogger } from "./lib/log.ts";
      const store = await openDenoKv({ path: ${JSON.stringify(path)}, clock: systemClock, log: silentLogger });
      for (let at = ${round * 1_000_000};; at++) if (await store.set(["a", at], at)) console.log(at);
    `);
    for (let heard = 0; heard < 100; heard++) acknowledged.push(Number((await said.next()).value));
    child.kill("SIGKILL");
    await child.status;
    await said.return?.();
  }
  const store = await openDenoKv({ path, clock, log });
  const kept = new Set((await Array.fromAsync(store.list(["a"]))).map(({ value }) => value));
  assert.deepEqual(acknowledged.filter((at) => !kept.has(at)), []);
  await store.close();
  assert.deepEqual(lines, []);
});

Deno.test("openDenoKv() starts without its server, shows no password, and misses", async () => {
  const { clock } = shiftedClock();
  const log = keepLog();
  const store = await openDenoKv({ url: "http://user:canary@127.0.0.1:9/?canary", clock, log });
  assert.equal(await store.get(["a"]), undefined);
  assert.equal(await store.set(["a"], 1), false);
  await store.close();
  assert.equal(log.lines.filter(({ level }) => level === "warn").length, 1);
  assert.doesNotMatch(JSON.stringify(log.lines), /canary/);
});
