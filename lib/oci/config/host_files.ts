// Reads and checks the TLS files of a host, named by a configuration or in a directory certs.d/<host[:port]>.
import { asParsed, type Fault, type Parsed, unparsable } from "../../parsed.ts";
import type { FileProblem } from "../files/last_good.ts";
import type { FileReader } from "../files/read_files.ts";
import type { ClientCertificate } from "../pull_plan.ts";
import { type HostCertificates, parseCertificates, parseClientPair } from "./pem.ts";

export interface LoadContext {
  readonly files: FileReader;
  readonly problems: FileProblem[];
  readonly nowMs: number;
}

/** TLS settings as written, with paths relative to the file. */
export interface HostTls {
  readonly skipVerify: boolean;
  readonly caFiles: readonly string[];
  /** In the order to try; without `keyFile` the first holds both. */
  readonly clients: readonly { readonly certificateFile: string; readonly keyFile?: string }[];
}

interface NamedPair {
  readonly name: string;
  readonly certificate: Parsed<string>;
  readonly key: Parsed<string>;
}

/** Reads the files that TLS settings name. Relative paths start at `folder`. */
export function readHostTls(tls: HostTls, folder: string, { files, nowMs }: LoadContext): Parsed<HostCertificates> {
  const read = (path: string): Parsed<string> => {
    const content = files.readText(path.startsWith("/") ? path : `${folder}/${path}`);
    if (content.kind === "text") return asParsed(content.text);
    const states = { missing: "is missing", denied: "may not be read" };
    return unparsable(`${path} ${content.kind === "failed" ? content.message : states[content.kind]}`);
  };
  const authorities = tls.caFiles.map((name) => ({ name, text: read(name) }));
  const pairs = tls.clients.map(({ certificateFile: name, keyFile = name }) => {
    return { name, certificate: read(name), key: read(keyFile) };
  });
  return parseHostFiles(authorities, pairs, nowMs);
}

/** `*.crt` are CAs; `X.cert` and `X.key` a client certificate. As in the MTO, half a pair makes the host unusable. */
export function readHostDirectory(folder: string, { files, nowMs }: LoadContext): Parsed<HostCertificates> {
  const names = files.list(folder).filter((name) => /\.(crt|cert|key)$/.test(name) && !name.startsWith(".."));
  const texts = new Map(names.flatMap((name) => {
    const content = files.readText(`${folder}/${name}`);
    return content.kind === "text" ? [[name, asParsed(content.text)] as const] : [];
  }));
  const authorities = [...texts].flatMap(([name, text]) => name.endsWith(".crt") ? [{ name, text }] : []);
  const stems = new Set([...texts.keys()].flatMap((name) => /^(.*)\.(?:cert|key)$/.exec(name)?.[1] ?? []));
  const pairs = [...stems].map((stem): NamedPair => ({
    name: `${stem}.cert`,
    certificate: texts.get(`${stem}.cert`) ?? unparsable(`${stem}.key has no ${stem}.cert beside it`),
    key: texts.get(`${stem}.key`) ?? unparsable(`${stem}.cert has no ${stem}.key beside it`),
  }));
  return parseHostFiles(authorities, pairs, nowMs);
}

function parseHostFiles(
  authorities: readonly { readonly name: string; readonly text: Parsed<string> }[],
  pairs: readonly NamedPair[],
  nowMs: number,
): Parsed<HostCertificates> {
  const caCertificates: string[] = [];
  const warnings: Fault[] = [];
  for (const { name, text } of authorities) {
    if (text.kind === "unparsable") return text;
    const parsed = parseCertificates(text.value, nowMs);
    if (parsed.kind === "unparsable") return unparsable(`${name}: ${parsed.fault.message}`);
    caCertificates.push(...parsed.value);
    warnings.push(...parsed.warnings.map(({ message }) => ({ message: `${name}: ${message}` })));
  }
  const clientCertificates: ClientCertificate[] = [];
  for (const { name, certificate, key } of pairs) {
    if (certificate.kind === "unparsable") return certificate;
    if (key.kind === "unparsable") return key;
    const pair = parseClientPair(certificate.value, key.value);
    if (pair.kind === "unparsable") return unparsable(`${name}: ${pair.fault.message}`);
    clientCertificates.push(pair.value);
  }
  return asParsed({ caCertificates, clientCertificates }, warnings);
}
