// A throw-away authority and a serving certificate for loopback: for the webhook and the registry of the playground.
import type { KeyPair } from "../lib/server/https_listener.ts";
import { issueAuthority, issueServing } from "../lib/tls/issue.ts";

/** An authority and a certificate it signed for 127.0.0.1, ::1 and localhost. */
export interface LoopbackCertificates {
  /** Certificate of the authority, PEM. */
  readonly authority: string;
  /** Certificate and key of the server, PEM. */
  readonly serving: KeyPair;
}

const LIFETIME_MS = 30 * 86_400_000;

/** Issues both, valid for thirty days. The authority's key is not kept. */
export async function issueLoopbackCertificates(nowMs: number): Promise<LoopbackCertificates> {
  const validity = { nowMs, lifetimeMs: LIFETIME_MS };
  const authority = await issueAuthority(validity);
  const serving = await issueServing(authority, { ...validity, names: ["127.0.0.1", "::1", "localhost"] });
  return { authority: authority.cert, serving };
}
