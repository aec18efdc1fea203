// A name for a credential inside this process: equal secrets, equal names. Never stored, logged or sent.
import { createHash } from "node:crypto";
import type { Credential } from "./types.ts";

/** The fingerprint; a constant for no credential. */
export function fingerprintOf(credential: Credential | undefined): string {
  if (credential === undefined) return "anonymous";
  return createHash("sha256").update(JSON.stringify(credential.secret)).digest("hex");
}
