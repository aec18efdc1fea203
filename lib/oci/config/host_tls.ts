// Reads and checks the TLS files of a host, named by a configuration or in a directory certs.d/<host[:port]>.
import { asParsed, type Fault, type Parsed, unparsable } from "../../parsed.ts";
import type { FileReader } from "../files/read_files.ts";
import type { ClientCertificate } from "../endpoint.ts";
import { parseCertificates, parseClientPair } from "./pem.ts";

/** The TLS settings of a host that has its own. */
export interface HostTls {
  readonly skipsVerify: boolean;
  readonly caCertificates: readonly string[];
  readonly clientCertificates: readonly ClientCertificate[];
}

/** TLS settings as they are written, with paths relative to the file. */
export interface TlsFiles {
  readonly skipsVerify: boolean;
  readonly caFiles: readonly string[];
  /** In the order to try. Without `keyFile`, `certificateFile` holds the key as well. */
  readonly clients: readonly { readonly certificateFile: string; readonly keyFile?: string }[];
}

interface NamedPair {
  readonly name: string;
  readonly certificate: Parsed<string>;
  readonly key: Parsed<string>;
}

/** Reads the files that TLS settings name. Relative paths start at `folder`. */
export function readHostTls(
  { skipsVerify, caFiles, clients }: TlsFiles,
  folder: string,
  files: FileReader,
): Parsed<HostTls> {
  const read = (path: string): Parsed<string> => {
    const text = files.readText(path.startsWith("/") ? path : `${folder}/${path}`) ?? unparsable("is missing");
    return text.kind === "parsed" ? text : unparsable(`${path} ${text.fault.message}`);
  };
  const authorities = caFiles.map((name) => ({ name, text: read(name) }));
  const pairs = clients.map(({ certificateFile: name, keyFile = name }) => {
    return { name, certificate: read(name), key: read(keyFile) };
  });
  return parseHostFiles(authorities, pairs, skipsVerify);
}

/** `*.crt` are CAs; `X.cert` and `X.key` a client certificate. As in the MTO, half a pair makes the host unusable. */
export function readHostDirectory(folder: string, files: FileReader): Parsed<HostTls> {
  const names = files.list(folder).filter((name) => /\.(crt|cert|key)$/.test(name) && !name.startsWith(".."));
  const texts = new Map(names.flatMap((name) => {
    const text = files.readText(`${folder}/${name}`);
    return text?.kind === "parsed" ? [[name, text] as const] : [];
  }));
  const authorities = [...texts].flatMap(([name, text]) => name.endsWith(".crt") ? [{ name, text }] : []);
  const stems = new Set([...texts.keys()].flatMap((name) => /^(.*)\.(?:cert|key)$/.exec(name)?.[1] ?? []));
  const pairs = [...stems].map((stem): NamedPair => ({
    name: `${stem}.cert`,
    certificate: texts.get(`${stem}.cert`) ?? unparsable(`${stem}.key has no ${stem}.cert beside it`),
    key: texts.get(`${stem}.key`) ?? unparsable(`${stem}.cert has no ${stem}.key beside it`),
  }));
  return parseHostFiles(authorities, pairs, false);
}

function parseHostFiles(
  authorities: readonly { readonly name: string; readonly text: Parsed<string> }[],
  pairs: readonly NamedPair[],
  skipsVerify: HostTls["skipsVerify"],
): Parsed<HostTls> {
  const caCertificates: string[] = [];
  const warnings: Fault[] = [];
  for (const { name, text } of authorities) {
    if (text.kind === "unparsable") return text;
    const parsed = parseCertificates(text.value);
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
  return asParsed({ skipsVerify, caCertificates, clientCertificates }, warnings);
}
