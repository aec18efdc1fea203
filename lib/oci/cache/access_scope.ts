// Who may use what was learnt: knowledge read anonymously is everybody's; knowledge that took a credential belongs to those
// who have the same credentials. Names of private scopes go into the store, so they must not help anybody guess a password:
// a slow salted hash (PBKDF2), truncated. The salt lives in the store beside them and is no secret; the slowness is what protects.
import { LRUCache } from "lru-cache";
import { SALT_KEY } from "../../kv/keys.ts";
import type { KeyValueStore } from "../../kv/store.ts";
import type { Credential } from "../credential.ts";
import { fingerprintOfAll } from "../fingerprint.ts";

/** A scope: its name in this process, and the name that may be stored. */
export interface AccessScope {
  /** Never stored. */
  readonly name: string;
  /** Takes some tens of milliseconds the first time, off the main thread. */
  storedName(): Promise<string>;
}

/** What anybody may know. */
export const PUBLIC_SCOPE: AccessScope = { name: "public", storedName: () => Promise.resolve("public") };

const SALT = /^[0-9a-f]{32}$/;

const ITERATIONS = 100_000;

/** Makes scopes; the slow names are kept. */
export function openAccessScopes(
  options: { readonly kv: KeyValueStore },
): (credentials: readonly Credential[]) => AccessScope {
  const { kv } = options;
  const names = new LRUCache<string, Promise<string>>({ max: 10_000 });
  let salt: Promise<Uint8Array<ArrayBuffer>> | undefined;

  /** The salt of this store. Only the first replica's is kept; without an answer a passing one serves, and costs misses. */
  async function readSalt(): Promise<Uint8Array<ArrayBuffer>> {
    const made = crypto.getRandomValues(new Uint8Array(16)).toHex();
    const stored = await kv.get(SALT_KEY);
    if (stored === undefined && await kv.create(SALT_KEY, made)) return Uint8Array.fromHex(made);
    const settled = stored ?? await kv.get(SALT_KEY);
    return Uint8Array.fromHex(typeof settled === "string" && SALT.test(settled) ? settled : made);
  }

  async function derive(fingerprint: string): Promise<string> {
    salt ??= readSalt();
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

  return (credentials) => {
    if (credentials.length === 0) return PUBLIC_SCOPE;
    const name = fingerprintOfAll(credentials);
    return {
      name,
      storedName: () => {
        const known = names.get(name) ?? derive(name);
        names.set(name, known);
        return known;
      },
    };
  };
}
