// Issues the certificates of a self-managed authority: ECDSA P-256, by @peculiar/x509.
import { isIP } from "node:net";
import type { X509Certificate } from "@peculiar/x509";

export interface IssuedPair {
  readonly cert: string;
  readonly key: string;
}

interface Validity {
  readonly nowMs: number;
  readonly lifetimeMs: number;
}

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

/** Certificates are back-dated by this much (ms), for API servers whose clocks are behind. */
export const CLOCK_SKEW_MS = 3_600_000;

export async function issueAuthority(validity: Validity): Promise<IssuedPair> {
  const x509 = await loadX509();
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const cert = await x509.X509CertificateGenerator.createSelfSigned({
    ...datesOf(validity),
    // Two authorities trusted at once must not share a name, or clients may pick the wrong one.
    name: `CN=archway ${crypto.randomUUID()}`,
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return await renderPair(cert, keys);
}

/** A serving certificate for these DNS names and IP addresses, signed by the authority. */
export async function issueServing(
  authority: IssuedPair,
  options: Validity & { readonly names: readonly string[] },
): Promise<IssuedPair> {
  const x509 = await loadX509();
  const issuer = new x509.X509Certificate(authority.cert);
  const signingKey = await crypto.subtle.importKey(
    "pkcs8",
    x509.PemConverter.decodeFirst(authority.key),
    ALGORITHM,
    false,
    ["sign"],
  );
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const cert = await x509.X509CertificateGenerator.create({
    ...datesOf(options),
    subject: "CN=archway",
    issuer: issuer.subject,
    publicKey: keys.publicKey,
    signingKey,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(false),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(
        options.names.map((value) => ({ type: isIP(value) > 0 ? "ip" as const : "dns" as const, value })),
      ),
      await x509.AuthorityKeyIdentifierExtension.create(issuer),
    ],
  });
  return await renderPair(cert, keys);
}

/** Loaded on first use: both modules take 180 ms and the polyfill is global; certificates from files need neither. */
async function loadX509(): Promise<typeof import("@peculiar/x509")> {
  await import("reflect-metadata");
  return await import("@peculiar/x509");
}

function datesOf({ nowMs, lifetimeMs }: Validity): { readonly notBefore: Date; readonly notAfter: Date } {
  return { notBefore: new Date(nowMs - CLOCK_SKEW_MS), notAfter: new Date(nowMs + lifetimeMs) };
}

async function renderPair(cert: X509Certificate, { privateKey }: CryptoKeyPair): Promise<IssuedPair> {
  const { PemConverter } = await loadX509();
  const key = PemConverter.encode(await crypto.subtle.exportKey("pkcs8", privateKey), PemConverter.PrivateKeyTag);
  return { cert: cert.toString("pem"), key };
}
