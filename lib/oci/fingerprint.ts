// Fingerprints of credentials inside this process: equal secrets have equal ones. They are never stored, logged or
// sent, unlike the stored names of readerships.
import { createHash } from "node:crypto";
import type { Credential } from "./credential.ts";

export function fingerprintOf(credential: Credential | undefined): string {
  return credential === undefined ? ANONYMOUS : sha256([credential.secret]);
}

/** The fingerprint of a credential and its scope; the source does not matter. */
export function fingerprintWithScope(credential: Credential): string {
  const known = WITH_SCOPE.get(credential) ?? sha256([credential.scope, credential.secret]);
  WITH_SCOPE.set(credential, known);
  return known;
}

/** One fingerprint of several credentials with their scopes. Neither their order nor their sources matter. */
export function fingerprintOfAll(credentials: readonly Credential[]): string {
  return credentials.length === 0 ? ANONYMOUS : sha256(credentials.map(fingerprintWithScope).sort());
}

const ANONYMOUS = "anonymous";

/** Remembered, because a pod's credentials are compared for each of its images. */
const WITH_SCOPE = new WeakMap<Credential, string>();

function sha256(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}
