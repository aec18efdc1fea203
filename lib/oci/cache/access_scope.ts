// Which requests may use a cached answer: an anonymous one serves all, any other those with the same credentials.
// Private scopes are stored under a slow salted hash (PBKDF2), truncated, so that no password is found by trial. The
// salt beside it is no secret.
import { LRUCache } from "lru-cache";
import { SALT_KEY } from "../../kv/keys.ts";
import type { KeyValueStore } from "../../kv/store.ts";
import type { Credential } from "../credential.ts";
import { fingerprintOfAll } from "../fingerprint.ts";
import { atMost } from "../weights.ts";

export interface AccessScope {
  /** Means nothing outside of this process; no scope has had it before. */
  readonly id: number;
  /** Its name in the store. Takes some tens of milliseconds the first time, off the main thread. */
  storedName(kv: KeyValueStore): Promise<string>;
}

export const PUBLIC_NAME = "public";

export const PUBLIC_SCOPE: AccessScope = { id: 0, storedName: () => Promise.resolve(PUBLIC_NAME) };

const SALT = /^[0-9a-f]{32}$/;

const ITERATIONS = 100_000;

/** Scopes in memory: credentials change, and each pull secret may be one. */
const MAX_SCOPES = 10_000;

/** Makes scopes; equal credentials have one scope while it is in memory. */
export function openAccessScopes(): (credentials: readonly Credential[]) => AccessScope {
  const scopes = new LRUCache<string, AccessScope>(atMost(MAX_SCOPES));
  let salt: Promise<Uint8Array<ArrayBuffer>> | undefined;
  let lastId = PUBLIC_SCOPE.id;

  const makeScope = (fingerprint: string): AccessScope => {
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
    if (credentials.length === 0) return PUBLIC_SCOPE;
    const fingerprint = fingerprintOfAll(credentials);
    const scope = scopes.get(fingerprint) ?? makeScope(fingerprint);
    scopes.set(fingerprint, scope);
    return scope;
  };
}

/**
 * The salt of this store. Only the first replica's is kept; without an answer a passing one serves, and costs misses.
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
