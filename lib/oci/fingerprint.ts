// Names for credentials inside this process: equal secrets, equal names. Never stored, logged or sent, unlike access
// scopes.
import { createHash } from "node:crypto";
import type { Credential } from "./credential.ts";

export function fingerprintOf(credential: Credential | undefined): string {
  if (credential === undefined) return ANONYMOUS;
  return remembered(SECRETS, credential, () => sha256([credential.secret]));
}

/** The fingerprint of a credential with what it is for; where it comes from does not matter. */
export function fingerprintWithScope(credential: Credential): string {
  return remembered(SCOPED, credential, () => sha256([credential.scope, credential.secret]));
}

/** One for several, with what each is for; their order does not matter, and where they come from neither. */
export function fingerprintOfAll(credentials: readonly Credential[]): string {
  if (credentials.length === 0) return ANONYMOUS;
  return remembered(LISTS, credentials, () => sha256(credentials.map(fingerprintWithScope).sort()));
}

const ANONYMOUS = "anonymous";

const SECRETS = new WeakMap<Credential, string>();
const SCOPED = new WeakMap<Credential, string>();
const LISTS = new WeakMap<readonly Credential[], string>();

function remembered<K extends WeakKey>(names: WeakMap<K, string>, key: K, make: () => string): string {
  const known = names.get(key);
  if (known !== undefined) return known;
  const made = make();
  names.set(key, made);
  return made;
}

function sha256(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}
