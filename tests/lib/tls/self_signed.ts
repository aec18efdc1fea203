// Self-signed certificates for tests, right and wrong in what a pin judges.
import "reflect-metadata";
import * as x509 from "@peculiar/x509";

const EC = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const DAY_MS = 86_400_000;

/** What to put into it; by default what `openssl req -x509` makes for localhost. */
export interface SelfSignedRequest {
  readonly names?: readonly { readonly type: "dns" | "ip"; readonly value: string }[];
  readonly usages?: readonly string[];
  readonly isCa?: boolean;
  readonly notBefore?: Date;
  readonly notAfter?: Date;
  readonly more?: readonly x509.Extension[];
}

export interface SelfSigned {
  readonly pem: string;
  readonly der: Uint8Array<ArrayBuffer>;
  readonly key: string;
}

export async function issueSelfSigned(request: SelfSignedRequest = {}): Promise<SelfSigned> {
  const { names = [{ type: "dns", value: "localhost" }], usages, isCa = true, more = [] } = request;
  const keys = await crypto.subtle.generateKey(EC, true, ["sign", "verify"]);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: "0123",
    name: "CN=localhost",
    notBefore: request.notBefore ?? new Date(Date.now() - DAY_MS),
    notAfter: request.notAfter ?? new Date(Date.now() + DAY_MS),
    keys,
    signingAlgorithm: EC,
    extensions: [
      new x509.BasicConstraintsExtension(isCa, undefined, true),
      ...(names.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension([...names])]),
      ...(usages === undefined ? [] : [new x509.ExtendedKeyUsageExtension([...usages])]),
      ...more,
    ],
  });
  const der = new Uint8Array(await crypto.subtle.exportKey("pkcs8", keys.privateKey));
  const key = `-----BEGIN PRIVATE KEY-----\n${der.toBase64()}\n-----END PRIVATE KEY-----\n`;
  return { pem: `${certificate.toString("pem")}\n`, der: new Uint8Array(certificate.rawData), key };
}
