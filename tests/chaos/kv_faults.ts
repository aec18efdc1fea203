// What is done to the caches of the replicas. Rows of the chaos table.
import { DatabaseSync } from "node:sqlite";
import type { ChaosBed } from "./bed.ts";
import type { Heal } from "./engine.ts";

/** Locks the first replica's cache file, as another process would. */
export function lockFile({ cacheFile }: ChaosBed): Promise<Heal> {
  const database = new DatabaseSync(cacheFile);
  database.exec("BEGIN EXCLUSIVE");
  return Promise.resolve(() => {
    database.exec("ROLLBACK");
    database.close();
    return Promise.resolve();
  });
}

/** Overwrites the first replica's cache file while it is in use, and again while it restarts: it must find it so. */
export async function corruptFile({ cacheFile, replicas: [first], balancer }: ChaosBed): Promise<Heal> {
  const targets = [...balancer.counts().keys()];
  const garbage = new TextEncoder().encode("this was a database once. ".repeat(2_000));
  await Deno.writeFile(cacheFile, garbage);
  balancer.setTargets(targets.filter((port) => port !== first.webhookPort));
  await first.stop();
  await Deno.writeFile(cacheFile, garbage);
  await first.restart();
  balancer.setTargets(targets);
  return () => Promise.resolve();
}

/** Fills the small disk on which the first replica's cache lies. */
export async function fillDisk({ smallDisk = "" }: ChaosBed): Promise<Heal> {
  const filler = `${smallDisk}/filler`;
  using file = await Deno.open(filler, { create: true, write: true });
  const block = new Uint8Array(4_096);
  // The last block is written in part before the disk says no.
  while (await file.write(block).catch(() => 0) > 0);
  return () => Deno.remove(filler);
}

/** Kills the KV server of the second replica. */
export async function killServer({ kvServer }: ChaosBed): Promise<Heal> {
  await kvServer?.kill();
  return () => kvServer?.restart() ?? Promise.resolve();
}
