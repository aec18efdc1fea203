// Certificates and keys that configuration files name, read and checked.
import type { ClientCertificate } from "../pull_plan.ts";
import type { ClientFiles, HostTls } from "./hosts_toml.ts";
import { isCertificateFile, parseHostDirectory } from "./certs_d.ts";
import { type HostCertificates, NO_CERTIFICATES, parseCertificates, parseClientPair } from "./pem.ts";
import { asParsed, type Fault, type Parsed, unparsable } from "../../parsed.ts";
import type { FileReader } from "../../files/read_files.ts";

/** Where named files are found and read, and when that is: certificates have a time. */
export interface HostFilesOptions {
  /** Relative paths start here. */
  readonly folder: string;
  readonly files: FileReader;
  readonly nowMs: number;
}

/** Reads what a `tls` table names. */
export function readHostTls(
  tls: HostTls,
  options: HostFilesOptions,
): Parsed<HostCertificates> {
  const caCertificates: string[] = [];
  const warnings: Fault[] = [];
  for (const path of tls.caFiles) {
    const text = readNamed(path, options);
    const parsed = text.kind === "unparsable" ? text : parseCertificates(text.value, options.nowMs);
    if (parsed.kind === "unparsable") return unparsable(`${path}: ${parsed.fault.message}`);
    caCertificates.push(...parsed.value);
    warnings.push(...parsed.warnings.map(({ message }) => ({ message: `${path}: ${message}` })));
  }
  const clientCertificates: ClientCertificate[] = [];
  for (const client of tls.clients) {
    const pair = readPair(client, options);
    if (pair.kind === "unparsable") return pair;
    clientCertificates.push(pair.value);
  }
  return asParsed({ caCertificates, clientCertificates }, warnings);
}

/** Reads a directory of certs.d; no certificates when there is none in it. */
export function readHostDirectory({ folder, files, nowMs }: HostFilesOptions): Parsed<HostCertificates> {
  const names = files.list(folder).filter(isCertificateFile);
  if (names.length === 0) return asParsed(NO_CERTIFICATES);
  const texts = names.map((name) => ({ name, content: files.readText(`${folder}/${name}`) }));
  // What may not be read is passed over, as the MTO does.
  return parseHostDirectory(
    texts.flatMap(({ name, content }) => content.kind === "text" ? [{ name, text: content.text }] : []),
    nowMs,
  );
}

function readPair(
  client: ClientFiles,
  options: HostFilesOptions,
): Parsed<ClientCertificate> {
  const certificate = readNamed(client.certificateFile, options);
  if (certificate.kind === "unparsable") return certificate;
  const key = client.keyFile === undefined ? certificate : readNamed(client.keyFile, options);
  if (key.kind === "unparsable") return key;
  const pair = parseClientPair(certificate.value, key.value);
  return pair.kind === "unparsable" ? unparsable(`${client.certificateFile}: ${pair.fault.message}`) : pair;
}

function readNamed(path: string, options: HostFilesOptions): Parsed<string> {
  const content = options.files.readText(path.startsWith("/") ? path : `${options.folder}/${path}`);
  if (content.kind === "text") return asParsed(content.text);
  const state = content.kind === "missing"
    ? "is missing"
    : content.kind === "denied"
    ? "may not be read"
    : content.message;
  return unparsable(`${path} ${state}`);
}
