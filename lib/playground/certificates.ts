// A throw-away certificate authority and a serving certificate for loopback: for the webhook and the registry of the playground.
import type { KeyPair } from "../https_listener.ts";

/** PEM of an authority and of a certificate it signed for 127.0.0.1, ::1 and localhost. */
export interface LoopbackCertificates {
  /** Certificate of the authority, PEM. */
  readonly authority: string;
  /** Certificate and key of the server, PEM. */
  readonly serving: KeyPair;
}

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const DAY_MS = 86_400_000;

/** Issues both, valid from an hour ago for thirty days. The authority's key is forgotten at once. */
export async function issueLoopbackCertificates(nowMs: number): Promise<LoopbackCertificates> {
  // Loaded on use: the polyfill is global and takes 180 ms that `serve` should not pay.
  await import("reflect-metadata");
  const x509 = await import("@peculiar/x509");
  const validity = { notBefore: new Date(nowMs - 3_600_000), notAfter: new Date(nowMs + 30 * DAY_MS) };
  const authorityKeys = await crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const authority = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity,
    serialNumber: "01",
    name: "CN=Archway playground",
    keys: authorityKeys,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
    ],
  });
  const servingKeys = await crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const serving = await x509.X509CertificateGenerator.create({
    ...validity,
    serialNumber: "02",
    subject: "CN=127.0.0.1",
    issuer: authority.subject,
    publicKey: servingKeys.publicKey,
    signingKey: authorityKeys.privateKey,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(false),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension([
        { type: "ip", value: "127.0.0.1" },
        { type: "ip", value: "::1" },
        { type: "dns", value: "localhost" },
      ]),
    ],
  });
  const key = x509.PemConverter.encode(await crypto.subtle.exportKey("pkcs8", servingKeys.privateKey), "PRIVATE KEY");
  return { authority: authority.toString("pem"), serving: { cert: serving.toString("pem"), key } };
}
