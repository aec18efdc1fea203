// Signs the RS256 tokens that a registry with `auth: token` believes.
import type { IssuedCertificate } from "./pki.ts";

export interface RepositoryAccess {
  readonly type: string;
  readonly name: string;
  readonly actions: readonly string[];
}

export interface TokenClaims {
  readonly issuer: string;
  readonly audience: string;
  readonly subject: string;
  readonly access: readonly RepositoryAccess[];
  readonly lifetimeSeconds: number;
}

/** A compact JWS whose `x5c` header carries the certificate of the signing key. */
export async function signToken(signer: IssuedCertificate, claims: TokenClaims): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const header = { typ: "JWT", alg: "RS256", x5c: [signer.certificateBase64] };
  const payload = {
    iss: claims.issuer,
    sub: claims.subject,
    aud: claims.audience,
    iat: now,
    nbf: now - 10,
    exp: now + claims.lifetimeSeconds,
    jti: crypto.randomUUID(),
    access: claims.access,
  };
  const signed = `${encode(header)}.${encode(payload)}`;
  const signature = await crypto.subtle.sign(
    "RSASSA-PKCS1-v1_5",
    signer.keys.privateKey,
    new TextEncoder().encode(signed),
  );
  return `${signed}.${base64Url(new Uint8Array(signature))}`;
}

function encode(value: unknown): string {
  return base64Url(new TextEncoder().encode(JSON.stringify(value)));
}

function base64Url(bytes: Uint8Array<ArrayBuffer>): string {
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}
