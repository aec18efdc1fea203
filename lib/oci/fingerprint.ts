// Names for credentials inside this process: equal secrets, equal names. Never stored, logged or sent; cache/access_scope.ts
// makes the names that may be stored.
import { createHash } from "node:crypto";
import type { Credential } from "./credential.ts";

/** The fingerprint; a constant for no credential. */
export function fingerprintOf(credential: Credential | undefined): string {
  if (credential === undefined) return ANONYMOUS;
  return sha256([credential.secret]);
}

/** One for several, with what each is for; their order does not matter, and where they come from neither. */
export function fingerprintOfAll(credentials: readonly Credential[]): string {
  if (credentials.length === 0) return ANONYMOUS;
  return sha256(credentials.map(({ scope, secret }) => JSON.stringify([scope, secret])).sort());
}

const ANONYMOUS = "anonymous";

function sha256(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}
