// The store in Deno KV: a file of this replica's own, or a KV Connect server shared by all.
import type { Clock } from "../clock.ts";
import { errorText, type Logger } from "../log.ts";
import { CALL_TIMEOUT_MS, type Database, LONG_TIMEOUT_MS, openGuardedStore } from "./guarded_store.ts";
import { PROBE_KEY } from "./keys.ts";
import { KvFile } from "./kv_file.ts";
import type { KeyValueStore, StoreKey } from "./store.ts";

/** Where the database is. A server's access token comes from DENO_KV_ACCESS_TOKEN, which Deno reads itself. */
type DenoKvLocation = { readonly path: string } | { readonly url: string };

const PROBES = 3;
/**
 * Waits (ms) between attempts of a write while another process writes; together they fit into the limit of one call.
 */
const LOCKED_WAITS_MS = [5, 10, 20, 40, 80] as const;

/** Never rejects. A damaged file is set aside as `PATH.broken`. Without a usable database every call is a miss. */
export async function openDenoKv(
  options: DenoKvLocation & { readonly clock: Clock; readonly log: Logger },
): Promise<KeyValueStore> {
  const { clock, log } = options;
  if ("url" in options) {
    const { url } = options;
    const guarded = { open: () => openServer(url), clock, log: log.with({ server: withoutSecrets(url) }) };
    return await openGuardedStore(guarded, CALL_TIMEOUT_MS);
  }
  const file = new KvFile(options.path, log);
  const open = async (): Promise<Database> =>
    withRetries(toDatabase(await file.open(), (error) => file.note(error)), clock);
  const store = await openGuardedStore({ open, clock, log: log.with({ path: options.path }) }, LONG_TIMEOUT_MS);
  // Test at once whether the file can be written, so that the one warning is at the start of the log.
  for (let probes = 0; probes < PROBES && !(await store.set(PROBE_KEY, true)); probes++);
  return store;
}

async function openServer(url: string): Promise<Database> {
  try {
    return toDatabase(await Deno.openKv(url), () => {});
  } catch (error) {
    // Deno repeats the whole address, which may hold a password.
    const reason = errorText(error).replaceAll(/\bhttps?:\/\/[^\s'")]+/g, "…");
    throw new Error(`Cannot open the cache server "${withoutSecrets(url)}": ${reason}.`);
  }
}

export function withoutSecrets(url: string): string {
  const { origin, pathname } = URL.canParse(url) ? new URL(url) : { origin: "", pathname: "unreadable address" };
  return origin + pathname;
}

function toDatabase(kv: Deno.Kv, onFault: (error: unknown) => void): Database {
  const watched = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      onFault(error);
      throw error;
    }
  };
  return {
    get: async (key) => (await watched(kv.get([...key]))).value,
    set: async (key, text) => {
      await watched(kv.set([...key], text));
    },
    create: async (key, text) => {
      const absent = { key: [...key], versionstamp: null };
      return (await watched(kv.atomic().check(absent).set([...key], text).commit())).ok;
    },
    delete: (key) => watched(kv.delete([...key])),
    list: (prefix) => listEntries(kv, prefix),
    close: () => kv.close(),
  };
}

/**
 * A write is refused at once, not delayed, while another process writes to the file. Measured: 57 % of writes refused.
 */
function withRetries(database: Database, clock: Clock): Database {
  const { signal } = new AbortController();
  const retry = async <T>(write: () => Promise<T>): Promise<T> => {
    for (const waitMs of LOCKED_WAITS_MS) {
      try {
        return await write();
      } catch (error) {
        if (!/database is locked/i.test(errorText(error))) throw error;
        await clock.sleep(waitMs, signal);
      }
    }
    return await write();
  };
  return {
    ...database,
    set: (key, text) => retry(() => database.set(key, text)),
    create: (key, text) => retry(() => database.create(key, text)),
    delete: (key) => retry(() => database.delete(key)),
  };
}

async function* listEntries(kv: Deno.Kv, prefix: StoreKey): ReturnType<Database["list"]> {
  for await (const { key, value } of kv.list({ prefix: [...prefix] }, { batchSize: 200 })) {
    yield { key: key.filter((part) => typeof part === "string" || typeof part === "number"), value };
  }
}
