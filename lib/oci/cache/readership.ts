// A readership says which requests may use a cached answer. An anonymous answer serves all requests, any other serves
// those with the same credentials. The stored name of a private readership is a slow salted hash (PBKDF2), truncated,
// so that no password is found by trial. The salt beside it is no secret.
import { LRUCache } from "lru-cache";
import { SALT_KEY } from "../../kv/keys.ts";
import type { KeyValueStore } from "../../kv/store.ts";
import type { Credential } from "../credential.ts";
import { fingerprintOfAll } from "../fingerprint.ts";
import { atMost } from "../cache_limits.ts";

export interface Readership {
  /** Valid in this process only. It is never given to a second readership. */
  readonly id: number;
  /** Its name in the store. Takes some tens of milliseconds the first time, off the main thread. */
  storedName(kv: KeyValueStore): Promise<string>;
}

export const PUBLIC_NAME = "public";

export const PUBLIC_READERSHIP: Readership = { id: 0, storedName: () => Promise.resolve(PUBLIC_NAME) };

const SALT = /^[0-9a-f]{32}$/;

const ITERATIONS = 100_000;

/** Readerships in memory: credentials change, and each pull secret may be one. */
const MAX_READERSHIPS = 10_000;

/** Makes readerships; equal credentials have one readership while it is in memory. */
export function openReaderships(): (credentials: readonly Credential[]) => Readership {
  const readerships = new LRUCache<string, Readership>(atMost(MAX_READERSHIPS));
  let salt: Promise<Uint8Array<ArrayBuffer>> | undefined;
  let lastId = PUBLIC_READERSHIP.id;

  const makeReadership = (fingerprint: string): Readership => {
    let stored: Promise<string> | undefined;
    lastId += 1;
    return {
      id: lastId,
      storedName: (kv) => {
        salt ??= readSalt(kv);
        stored ??= deriveName(fingerprint, salt);
        return stored;
      },
    };
  };

  return (credentials) => {
    if (credentials.length === 0) return PUBLIC_READERSHIP;
    const fingerprint = fingerprintOfAll(credentials);
    const readership = readerships.get(fingerprint) ?? makeReadership(fingerprint);
    readerships.set(fingerprint, readership);
    return readership;
  };
}

/**
 * The salt of this store, made by the first replica. If the store does not answer, this process uses a salt of its own,
 * and does not find what others stored.
 */
async function readSalt(kv: KeyValueStore): Promise<Uint8Array<ArrayBuffer>> {
  const made = crypto.getRandomValues(new Uint8Array(16)).toHex();
  const stored = await kv.get(SALT_KEY);
  if (stored === undefined && await kv.create(SALT_KEY, made)) return Uint8Array.fromHex(made);
  const kept = stored ?? await kv.get(SALT_KEY);
  return Uint8Array.fromHex(typeof kept === "string" && SALT.test(kept) ? kept : made);
}

async function deriveName(fingerprint: string, salt: Promise<Uint8Array<ArrayBuffer>>): Promise<string> {
  const key = await crypto.subtle.importKey("raw", new TextEncoder().encode(fingerprint), "PBKDF2", false, [
    "deriveBits",
  ]);
  const bits = await crypto.subtle.deriveBits(
    { name: "PBKDF2", hash: "SHA-256", salt: await salt, iterations: ITERATIONS },
    key,
    128,
  );
  return `private-${new Uint8Array(bits).toHex()}`;
}
