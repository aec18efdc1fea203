// Issues the certificates of a self-managed authority: ECDSA P-256, by @peculiar/x509.

export interface IssuedPair {
  readonly cert: string;
  readonly key: string;
}

interface Validity {
  readonly nowMs: number;
  readonly lifetimeMs: number;
}

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

/** Certificates are valid from this much earlier (ms): API servers whose clocks are behind must take them too. */
export const CLOCK_SKEW_MS = 3_600_000;

/** A new certificate authority that can sign serving certificates and nothing else. */
export async function issueAuthority(validity: Validity): Promise<IssuedPair> {
  const x509 = await loadX509();
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const cert = await x509.X509CertificateGenerator.createSelfSigned({
    ...datesOf(validity),
    serialNumber: makeSerial(),
    // Two authorities trusted at once must not share a name, or clients may pick the wrong one.
    name: `CN=archway ${makeSerial()}`,
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { cert: cert.toString("pem"), key: encodeKey(await crypto.subtle.exportKey("pkcs8", keys.privateKey)) };
}

/** A serving certificate for these DNS names and IP addresses, signed by the authority. */
export async function issueServing(
  authority: IssuedPair,
  options: Validity & { readonly names: readonly string[] },
): Promise<IssuedPair> {
  const x509 = await loadX509();
  const issuer = new x509.X509Certificate(authority.cert);
  const signingKey = await crypto.subtle.importKey("pkcs8", decodePem(authority.key), ALGORITHM, false, ["sign"]);
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const cert = await x509.X509CertificateGenerator.create({
    ...datesOf(options),
    serialNumber: makeSerial(),
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
        options.names.map((value) => ({ type: isAddress(value) ? "ip" as const : "dns" as const, value })),
      ),
      await x509.AuthorityKeyIdentifierExtension.create(issuer),
    ],
  });
  return { cert: cert.toString("pem"), key: encodeKey(await crypto.subtle.exportKey("pkcs8", keys.privateKey)) };
}

/** Loaded on first use: the polyfill is global and both take 180 ms, which a certificate of files does not need. */
async function loadX509(): Promise<typeof import("@peculiar/x509")> {
  await import("reflect-metadata");
  return await import("@peculiar/x509");
}

function datesOf({ nowMs, lifetimeMs }: Validity): { readonly notBefore: Date; readonly notAfter: Date } {
  return { notBefore: new Date(nowMs - CLOCK_SKEW_MS), notAfter: new Date(nowMs + lifetimeMs) };
}

/** 126 random bits: positive, never zero in front. */
function makeSerial(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[0] = (bytes[0] ?? 0) & 0x3f | 0x40;
  return bytes.toHex();
}

export function isAddress(name: string): boolean {
  return name.includes(":") || /^\d+(\.\d+){3}$/.test(name);
}

function encodeKey(pkcs8: ArrayBuffer): string {
  const bytes = new Uint8Array(pkcs8);
  return `-----BEGIN PRIVATE KEY-----\n${
    bytes.toBase64().replaceAll(/.{64}/g, "$&\n").trimEnd()
  }\n-----END PRIVATE KEY-----\n`;
}

function decodePem(pem: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.fromBase64(pem.replaceAll(/-----[^-]+-----|\s/g, ""));
}
