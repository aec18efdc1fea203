// Parses certificates and keys in PEM, and describes those that cannot be used.
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readCertificate } from "../../tls/certificate.ts";
import { certificateBlocks, childrenOf, derOf, readElements, Tag } from "../../tls/der.ts";
import type { ClientCertificate } from "../endpoint.ts";
import { asParsed, type Fault, type Parsed, unparsable } from "../../parsed.ts";

const PRIVATE_KEY = /-----BEGIN ([A-Z ]*)PRIVATE KEY-----([^-]*)-----END \1PRIVATE KEY-----/;

/** Shortest RSA key (bits) that handshakes accept, ours and the server's. */
const MIN_RSA_BITS = 2_048;

/** Leaves out unreadable certificates with a warning, as the nodes' runtimes do. Unparsable when none can be read. */
export function parseCertificates(text: string): Parsed<readonly string[]> {
  const blocks = certificateBlocks(text).map((block) => `${block}\n`);
  if (blocks.length === 0) return unparsable("no PEM certificate in it");
  const usable = usableAmong(blocks);
  const warnings = blocks.flatMap((block, at): readonly Fault[] =>
    usable.includes(block) ? [] : [{ message: `certificate ${at + 1} in it is not readable and is left out` }]
  );
  return usable.length > 0 ? asParsed(usable, warnings) : unparsable("no certificate in it is readable");
}

/** Keeps what the TLS client accepts. The client would reject a whole list for one bad certificate. */
function usableAmong(blocks: readonly string[]): readonly string[] {
  const readable = blocks.filter((block) => isReadable(() => new X509Certificate(block)));
  if (isReadable(() => openClient({ caCerts: [...readable] }))) return readable;
  return readable.filter((block) => isReadable(() => openClient({ caCerts: [block] })));
}

/** A client certificate and its key. Unparsable, with the reason, when they cannot be used. */
export function parseClientPair(certificate: string, key: string): Parsed<ClientCertificate> {
  const blocks = certificateBlocks(certificate).map((block) => `${block}\n`);
  const [first] = blocks;
  if (first === undefined) return unparsable("no PEM certificate in it");
  const unreadable = blocks.findIndex((block) => !isReadable(() => new X509Certificate(block)));
  if (unreadable >= 0) return unparsable(`certificate ${unreadable + 1} in it is not readable`);
  const privateKey = readKey(key);
  if (privateKey.kind === "unparsable") return privateKey;
  const pair = { certificate: blocks.join(""), key: privateKey.value };
  const problem = problemOfPair(new X509Certificate(first), privateKey.value) ?? problemOfUse(first, pair);
  return problem === undefined ? asParsed(pair) : unparsable(problem);
}

/** The first private key of a text, relabelled by its content: OpenSSL and Go accept a wrong label. */
function readKey(text: string): Parsed<string> {
  const [, label, body = ""] = PRIVATE_KEY.exec(text) ?? [];
  if (label === "ENCRYPTED " || /^Proc-Type:.*ENCRYPTED/m.test(text)) {
    return unparsable(
      "the private key of the client certificate is encrypted: nodes cannot use it either; store it decrypted",
    );
  }
  if (label === undefined) return unparsable("no PEM private key for the client certificate");
  const der = derOf(body);
  const fitting = der === undefined ? undefined : labelOf(der);
  if (fitting === undefined) return unparsable("the private key of the client certificate is not readable");
  return asParsed(`-----BEGIN ${fitting}-----\n${body.trim()}\n-----END ${fitting}-----\n`);
}

/** After the version, PKCS #8 has an algorithm, PKCS #1 a number, and SEC 1 the key. */
function labelOf(der: Uint8Array): string | undefined {
  switch (childrenOf(readElements(der)?.[0])[1]?.tag) {
    case Tag.sequence:
      return "PRIVATE KEY";
    case Tag.integer:
      return "RSA PRIVATE KEY";
    case Tag.octetString:
      return "EC PRIVATE KEY";
    default:
      return undefined;
  }
}

function problemOfPair(certificate: X509Certificate, key: string): string | undefined {
  const isOwn = isReadable(() => {
    if (!certificate.checkPrivateKey(createPrivateKey(key))) throw new Error("another key");
  });
  if (!isOwn) return "the private key does not belong to the client certificate";
  const bits = createPrivateKey(key).asymmetricKeyDetails?.modulusLength ?? MIN_RSA_BITS;
  return bits < MIN_RSA_BITS
    ? `its key is too short (RSA ${bits}): reissue it with at least RSA ${MIN_RSA_BITS}`
    : undefined;
}

/** Why the TLS client would reject a certificate and key that match; undefined if it would not. */
function problemOfUse(first: string, { certificate, key }: ClientCertificate): string | undefined {
  const version = readCertificate(derOf(first) ?? new Uint8Array())?.version;
  if (version !== 3) return "the client certificate is X.509 v1: reissue it with an extension file";
  if (isReadable(() => openClient({ cert: certificate, key }))) return undefined;
  return "the client certificate or its key cannot be used for TLS";
}

function openClient(options: Parameters<typeof Deno.createHttpClient>[0]): void {
  Deno.createHttpClient(options).close();
}

function isReadable(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}
