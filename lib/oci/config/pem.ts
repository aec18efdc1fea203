// Certificates and keys in PEM, checked before a TLS client chokes on them. Called by certs_d.ts and settings_files.ts.
import { createPrivateKey, X509Certificate } from "node:crypto";
import type { ClientCertificate } from "../pull_plan.ts";
import { broken, ok, type Parsed } from "../../files/problem.ts";

/** What a host's TLS needs beside the public roots. */
export interface HostCertificates {
  readonly caCertificates: readonly string[];
  /** In the order to try. */
  readonly clientCertificates: readonly ClientCertificate[];
}

/** No certificates. */
export const NO_CERTIFICATES: HostCertificates = { caCertificates: [], clientCertificates: [] };

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The certificates of a PEM text, one a string. Broken when there is none, or when one cannot be read. */
export function parseCertificates(text: string): Parsed<readonly string[]> {
  const blocks = [...text.matchAll(CERTIFICATE)].map(([block]) => `${block}\n`);
  if (blocks.length === 0) return broken("no PEM certificate in it");
  const unreadable = blocks.findIndex((block) => !isReadable(() => new X509Certificate(block)));
  return unreadable < 0 ? ok(blocks) : broken(`certificate ${unreadable + 1} in it is not readable`);
}

/** A client certificate and its key. Broken when either cannot be read or they do not belong together. */
export function parseClientPair(certificate: string, key: string): Parsed<ClientCertificate> {
  const certificates = parseCertificates(certificate);
  if (certificates.kind === "broken") return certificates;
  const privateKey = /-----BEGIN ([A-Z ]*)PRIVATE KEY-----[^-]+-----END \1PRIVATE KEY-----/.exec(key)?.[0];
  if (privateKey === undefined) return broken("no PEM private key for the client certificate");
  const [first = ""] = certificates.value;
  const fits = isReadable(() => {
    if (!new X509Certificate(first).checkPrivateKey(createPrivateKey(privateKey))) throw new Error("another key");
  });
  if (!fits) return broken("the private key does not belong to the client certificate");
  return ok({ certificate: certificates.value.join(""), key: `${privateKey}\n` });
}

function isReadable(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}
