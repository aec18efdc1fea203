// The directory certs.d/<host[:port]>: `*.crt` are CAs, `X.cert` with `X.key` a client certificate.
import type { ClientCertificate } from "../pull_plan.ts";
import { type HostCertificates, parseCertificates, parseClientPair } from "./pem.ts";
import { asParsed, type Fault, type Parsed, unparsable } from "../../parsed.ts";

/** A file of the directory. */
export interface NamedText {
  readonly name: string;
  readonly text: string;
}

/** Whether a file of the directory means anything. */
export function isCertificateFile(name: string): boolean {
  return /\.(crt|cert|key)$/.test(name) && !name.startsWith("..");
}

/**
 * Puts a host's files together. A certificate without key or a key without certificate makes the host unusable, as it
 * does in the MTO: without them a request would be made that the administrator did not mean. Several pairs are tried in order of their names.
 */
export function parseHostDirectory(files: readonly NamedText[], nowMs: number): Parsed<HostCertificates> {
  const sorted = files.toSorted((left, right) => (left.name < right.name ? -1 : 1));
  const caCertificates: string[] = [];
  const warnings: Fault[] = [];
  for (const { name, text } of sorted.filter(({ name }) => name.endsWith(".crt"))) {
    const parsed = parseCertificates(text, nowMs);
    if (parsed.kind === "unparsable") return unparsable(`${name}: ${parsed.fault.message}`);
    caCertificates.push(...parsed.value);
    warnings.push(...parsed.warnings.map(({ message }) => ({ message: `${name}: ${message}` })));
  }
  const byName = new Map(sorted.map(({ name, text }) => [name, text]));
  const clientCertificates: ClientCertificate[] = [];
  for (const name of byName.keys()) {
    const stem = /^(.*)\.(cert|key)$/.exec(name)?.[1];
    if (stem === undefined) continue;
    const [certificate, key] = [byName.get(`${stem}.cert`), byName.get(`${stem}.key`)];
    if (certificate === undefined) return unparsable(`${stem}.key has no ${stem}.cert beside it`);
    if (key === undefined) return unparsable(`${stem}.cert has no ${stem}.key beside it`);
    if (!name.endsWith(".cert")) continue;
    const pair = parseClientPair(certificate, key);
    if (pair.kind === "unparsable") return unparsable(`${stem}.cert: ${pair.fault.message}`);
    clientCertificates.push(pair.value);
  }
  return asParsed({ caCertificates, clientCertificates }, warnings);
}
