// A private certificate authority for tests: serving and client certificates, and keys that sign tokens. No openssl needed.
import "reflect-metadata";
import * as x509 from "@peculiar/x509";

const DAY_MS = 86_400_000;
const EC = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const RSA = {
  name: "RSASSA-PKCS1-v1_5",
  modulusLength: 2048,
  publicExponent: new Uint8Array([1, 0, 1]),
  hash: "SHA-256",
} as const;

export interface IssuedCertificate {
  readonly certificatePem: string;
  readonly keyPem: string;
  readonly keys: CryptoKeyPair;
  /** Base64 DER, the form of an `x5c` header. */
  readonly certificateBase64: string;
}

/** What to certify. Server names default to `localhost` and `127.0.0.1`. */
export interface CertificateRequest {
  readonly commonName: string;
  readonly usage: "server" | "client";
  readonly keyType?: "ec" | "rsa";
  readonly names?: readonly string[];
}

/** Signs certificates that only those trust who were given {@link certificatePem}. */
export interface CertificateAuthority {
  readonly certificatePem: string;
  issue(request: CertificateRequest): Promise<IssuedCertificate>;
}

export async function generateSigningKeys(): Promise<CryptoKeyPair> {
  return await crypto.subtle.generateKey(RSA, true, ["sign", "verify"]);
}

export async function exportKeyPem(key: CryptoKey): Promise<string> {
  const isPrivate = key.type === "private";
  const der = new Uint8Array(await crypto.subtle.exportKey(isPrivate ? "pkcs8" : "spki", key));
  const lines = der.toBase64().match(/.{1,64}/g) ?? [];
  const label = isPrivate ? "PRIVATE KEY" : "PUBLIC KEY";
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}

async function selfSign(name: string, keys: CryptoKeyPair, own: x509.Extension): Promise<x509.X509Certificate> {
  const authority = new x509.BasicConstraintsExtension(true, undefined, true);
  const extensions = [authority, await x509.SubjectKeyIdentifierExtension.create(keys.publicKey), own];
  const more = { keys, signingAlgorithm: EC, extensions };
  return await x509.X509CertificateGenerator.createSelfSigned({ name: `CN=${name}`, ...validity(), ...more });
}

/** Makes an authority of its own; two calls trust each other in nothing. */
export async function createAuthority(commonName: string): Promise<CertificateAuthority> {
  const keys = await crypto.subtle.generateKey(EC, true, ["sign", "verify"]);
  const usage = new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true);
  const authority = await selfSign(commonName, keys, usage);
  return {
    certificatePem: pemOf(authority),
    issue: (request) =>
      issue({ subject: authority.subject, signingKey: keys.privateKey, publicKey: keys.publicKey }, request),
  };
}

/** A server's certificate that is its own authority, as `openssl req -x509` makes them. */
export async function createSelfSigned(
  names: readonly string[],
): Promise<Omit<IssuedCertificate, "certificateBase64">> {
  const keys = await crypto.subtle.generateKey(EC, true, ["sign", "verify"]);
  const certificate = await selfSign("registry", keys, namesExtension(names));
  return { certificatePem: pemOf(certificate), keyPem: await exportKeyPem(keys.privateKey), keys };
}

function namesExtension(names: readonly string[]): x509.SubjectAlternativeNameExtension {
  return new x509.SubjectAlternativeNameExtension(
    names.map((value) => ({ type: /^[\d.]+$|:/.test(value) ? "ip" as const : "dns" as const, value })),
  );
}

interface Issuer {
  readonly subject: string;
  readonly signingKey: CryptoKey;
  readonly publicKey: CryptoKey;
}

async function issue(issuer: Issuer, request: CertificateRequest): Promise<IssuedCertificate> {
  const keys = await crypto.subtle.generateKey(request.keyType === "rsa" ? RSA : EC, true, ["sign", "verify"]);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: `CN=${request.commonName}`,
    issuer: issuer.subject,
    signingKey: issuer.signingKey,
    publicKey: keys.publicKey,
    signingAlgorithm: EC,
    ...validity(),
    extensions: await leafExtensions(issuer, request),
  });
  return {
    certificatePem: pemOf(certificate),
    keyPem: await exportKeyPem(keys.privateKey),
    keys,
    certificateBase64: new Uint8Array(certificate.rawData).toBase64(),
  };
}

async function leafExtensions(issuer: Issuer, request: CertificateRequest): Promise<x509.Extension[]> {
  const usage = request.usage === "server" ? x509.ExtendedKeyUsage.serverAuth : x509.ExtendedKeyUsage.clientAuth;
  const names = request.names ?? ["localhost", "127.0.0.1"];
  return [
    new x509.BasicConstraintsExtension(false, undefined, true),
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.keyEncipherment, true),
    new x509.ExtendedKeyUsageExtension([usage]),
    await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ...(request.usage === "client" ? [] : [
      namesExtension(names),
    ]),
  ];
}

/** From yesterday on, for a month. */
function validity(): { readonly serialNumber: string; readonly notBefore: Date; readonly notAfter: Date } {
  return {
    serialNumber: `01${crypto.getRandomValues(new Uint8Array(15)).toHex()}`,
    notBefore: new Date(Date.now() - DAY_MS),
    notAfter: new Date(Date.now() + 30 * DAY_MS),
  };
}

function pemOf(certificate: x509.X509Certificate): string {
  return `${certificate.toString("pem").trim()}\n`;
}
