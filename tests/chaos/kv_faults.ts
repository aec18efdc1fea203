// What is done to the caches of the replicas. Rows of the chaos table. The replica whose cache it is leads meanwhile: the
// leader alone looks images up, so another replica would not feel the fault.
import { DatabaseSync } from "node:sqlite";
import type { Archway } from "../cluster/support/archway.ts";
import { type ChaosBed, makeLeader } from "./bed.ts";
import type { Heal } from "./engine.ts";
import { felt } from "./registry_faults.ts";

async function countWarnings(replica: Archway): Promise<number> {
  const lines = await replica.logs();
  return lines.filter(({ message }) => /cache (?:database|file)/.test(String(message))).length;
}

function healing(replica: Archway, before: number, undo: () => Promise<void>): Heal {
  return async () => {
    const warnings = await countWarnings(replica) - before;
    await undo();
    return await felt(warnings, "warning");
  };
}

export async function lockFile(bed: ChaosBed): Promise<Heal> {
  const { cacheFile, replicas: [first] } = bed;
  await makeLeader(bed, first);
  const before = await countWarnings(first);
  const database = new DatabaseSync(cacheFile);
  database.exec("BEGIN EXCLUSIVE");
  return healing(first, before, () => {
    database.exec("ROLLBACK");
    database.close();
    return Promise.resolve();
  });
}

/** Overwrites the first replica's cache file while it is in use, and again while it restarts: it must find it so. */
export async function corruptFile(bed: ChaosBed): Promise<Heal> {
  const { cacheFile, replicas: [first] } = bed;
  const before = await countWarnings(first);
  const garbage = new TextEncoder().encode("this was a database once. ".repeat(2_000));
  await Deno.writeFile(cacheFile, garbage);
  await first.stop();
  await Deno.writeFile(cacheFile, garbage);
  await first.restart();
  await makeLeader(bed, first);
  return healing(first, before, () => Promise.resolve());
}

/** Fills the small disk of the first replica's cache and lets it start a new cache there: not even its head can be written. */
export async function fillDisk(bed: ChaosBed): Promise<Heal> {
  const { smallDisk = "", replicas: [first] } = bed;
  const before = await countWarnings(first);
  await first.stop();
  for await (const { name } of Deno.readDir(smallDisk)) await Deno.remove(`${smallDisk}/${name}`);
  const filler = `${smallDisk}/filler`;
  await writeUntilFull(filler);
  await first.restart();
  await makeLeader(bed, first);
  return healing(first, before, () => Deno.remove(filler));
}

async function writeUntilFull(path: string): Promise<void> {
  using file = await Deno.open(path, { create: true, write: true });
  const block = new Uint8Array(4_096);
  while (await file.write(block).catch(() => 0) > 0);
}

export async function killServer(bed: ChaosBed): Promise<Heal> {
  const { kvServer, replicas: [, second] } = bed;
  await makeLeader(bed, second);
  const before = await countWarnings(second);
  await kvServer?.kill();
  return healing(second, before, () => kvServer?.restart() ?? Promise.resolve());
}
