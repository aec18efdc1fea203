// The self-managed authority, and when its parts are renewed. API servers never see an untrusted certificate: a new CA
// is trusted before it signs, and the old one stays trusted afterwards.
//
//   serving   ──── renewed at two thirds of its life by the same CA; the bundle stays as it is
//   authority ──── at two thirds of its life a successor is staged (its certificate joins the bundle);
//                  it signs once `overlapMs` has passed; its predecessor stays in the bundle until the next change
import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { CLOCK_SKEW_MS, issueAuthority, type IssuedPair, issueServing } from "../../tls/issue.ts";
import { findPairProblem } from "./serving_certificate.ts";

/** The authority's whole state, stored only in a Secret. `predecessor`: PEM of the previous CA, or empty. */
export interface Authority {
  readonly signer: IssuedPair;
  readonly serving: IssuedPair;
  readonly successor: { readonly pair: IssuedPair; readonly signsAtMs: number } | undefined;
  readonly predecessor: string;
}

export interface AuthorityTerms {
  readonly authorityMs: number;
  readonly servingMs: number;
  /** Time for every API server to read a new CA (ms). */
  readonly overlapMs: number;
  readonly names: readonly string[];
}

export const DEFAULT_TERMS = {
  authorityMs: 365 * 86_400_000,
  servingMs: 30 * 86_400_000,
  overlapMs: 15 * 60_000,
} as const;

type AuthorityChange = "none" | "create" | "stage" | "promote" | "renew";

export function decideAuthorityChange(
  authority: Authority | undefined,
  terms: AuthorityTerms,
  nowMs: number,
): AuthorityChange {
  if (authority === undefined || isBroken(authority)) return "create";
  const { signer, serving, successor } = authority;
  if (endOf(signer.cert) <= nowMs) return "create";
  if (successor !== undefined && successor.signsAtMs <= nowMs) return "promote";
  if (successor === undefined && isDue(signer.cert, nowMs)) return "stage";
  return isDue(serving.cert, nowMs) || !servesAll(serving.cert, terms.names) ? "renew" : "none";
}

export async function changeAuthority(
  authority: Authority | undefined,
  options: {
    readonly change: Exclude<AuthorityChange, "none">;
    readonly terms: AuthorityTerms;
    readonly nowMs: number;
  },
): Promise<Authority> {
  const { change, terms, nowMs } = options;
  // Keep the current names: replicas with different names must not replace the certificate in turn.
  const names = [...new Set([...terms.names, ...namesOf(authority)])];
  const serve = (signer: IssuedPair): Promise<IssuedPair> =>
    issueServing(signer, { names, nowMs, lifetimeMs: terms.servingMs });
  if (authority === undefined || change === "create") {
    const signer = await issueAuthority({ nowMs, lifetimeMs: terms.authorityMs });
    return { signer, serving: await serve(signer), successor: undefined, predecessor: "" };
  }
  if (change === "stage") {
    const pair = await issueAuthority({ nowMs, lifetimeMs: terms.authorityMs });
    return { ...authority, successor: { pair, signsAtMs: nowMs + terms.overlapMs } };
  }
  if (change === "promote" && authority.successor !== undefined) {
    const { pair } = authority.successor;
    return { signer: pair, serving: await serve(pair), successor: undefined, predecessor: authority.signer.cert };
  }
  return { ...authority, serving: await serve(authority.signer) };
}

/** The PEM bundle for API servers: the signer, its successor, its predecessor. */
export function bundleOf({ signer, successor, predecessor }: Authority): string {
  return [signer.cert, successor?.pair.cert ?? "", predecessor]
    .filter((pem) => pem !== "")
    .map((pem) => `${pem.trimEnd()}\n`)
    .join("");
}

function isBroken({ signer, serving, successor }: Authority): boolean {
  const pairs = [signer, serving, ...successor === undefined ? [] : [successor.pair]];
  return pairs.some(({ cert, key }) => findPairProblem(cert, key) !== undefined) ||
    !new X509Certificate(serving.cert).checkIssued(new X509Certificate(signer.cert));
}

/** Whether two thirds of the lifetime are over. Counts from the time of issue: `validFrom` is earlier. */
function isDue(cert: string, nowMs: number): boolean {
  const start = Date.parse(new X509Certificate(cert).validFrom) + CLOCK_SKEW_MS;
  return nowMs >= start + (endOf(cert) - start) * 2 / 3;
}

function endOf(cert: string): number {
  return Date.parse(new X509Certificate(cert).validTo);
}

/** The names of the serving certificate; empty when missing or unreadable. */
function namesOf(authority: Authority | undefined): readonly string[] {
  if (authority === undefined || findPairProblem(authority.serving.cert, authority.serving.key) !== undefined) {
    return [];
  }
  const alternative = new X509Certificate(authority.serving.cert).subjectAltName ?? "";
  return alternative.split(", ").map((entry) => entry.replace(/^(DNS|IP Address):/, "")).filter((name) => name !== "");
}

function servesAll(cert: string, names: readonly string[]): boolean {
  const parsed = new X509Certificate(cert);
  return names.every((name) => (isIP(name) > 0 ? parsed.checkIP(name) : parsed.checkHost(name)) !== undefined);
}
