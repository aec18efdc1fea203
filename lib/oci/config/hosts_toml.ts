// containerd's certs.d/<host>/hosts.toml: the places to pull a host's images from. The files that it
// names are read elsewhere.
import * as z from "zod";
import { isSendable } from "../http/exchange.ts";
import { parseToml } from "../../files/documents.ts";
import { type EndpointUrl, parseEndpointUrl } from "./endpoint_url.ts";
import { findLine } from "../../files/problem.ts";
import { asParsed, type Fault, type Parsed, unparsable } from "../../parsed.ts";
import { findSchemaFault } from "../../files/schema_fault.ts";

/** The files of a client certificate; without `keyFile` the first holds both. */
export interface ClientFiles {
  readonly certificateFile: string;
  readonly keyFile?: string;
}

/** TLS settings as they are written: paths, relative to the file. */
export interface HostTls {
  readonly skipVerify: boolean;
  readonly caFiles: readonly string[];
  /** In the order to try. */
  readonly clients: readonly ClientFiles[];
}

/** What may be requested of a host. */
export interface HostCapabilities {
  /** May answer for tags. */
  readonly resolves: boolean;
  /** May answer for digests. */
  readonly pulls: boolean;
}

/** A `[host."URL"]` table. */
export interface HostsMirror extends HostCapabilities {
  readonly url: EndpointUrl;
  /** Sent along; may be secret. */
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: HostTls;
}

/** One hosts.toml. `server` undefined: the host itself. */
export interface HostsFile {
  readonly mirrors: readonly HostsMirror[];
  readonly server: EndpointUrl | undefined;
  readonly serverTls: HostTls;
  readonly serverCapabilities: HostCapabilities;
  readonly serverHeaders: Readonly<Record<string, string>>;
}

const Strings = z.union([z.string().transform((one) => [one]), z.array(z.string())]);
const Client = z.union([
  z.string().transform((file): string[][] => [[file]]),
  z.array(z.union([z.string().transform((file) => [file]), z.array(z.string()).min(1).max(2)])),
]);
const Host = z.object({
  capabilities: z.array(z.string()).optional(),
  ca: Strings.optional(),
  client: Client.optional(),
  skip_verify: z.boolean().optional(),
  override_path: z.boolean().optional(),
  header: z.record(z.string(), z.union([z.string(), z.array(z.string())])).optional(),
});
const Document = Host.extend({ server: z.string().optional(), host: z.record(z.string(), Host).optional() });

/** Parses one file. Mirrors keep their order. What cannot be requested or sent is skipped with a warning. */
export function parseHostsToml(text: string): Parsed<HostsFile> {
  const document = parseToml(text);
  if (document.kind === "unparsable") return document;
  const parsed = Document.safeParse(document.value);
  if (!parsed.success) return unparsable("a value of a wrong kind", findSchemaFault(parsed.error, text).line);
  const { host: hosts = {}, server: serverText = "", ...root } = parsed.data;
  const server = serverText === "" ? undefined : parseEndpointUrl(serverText, { path: rootOrApi(root) });
  if (serverText !== "" && server === undefined) {
    return unparsable("the server is not a usable URL", findLine(text, "server"));
  }
  const warnings: Fault[] = [];
  const warn = (message: string, needle: string): void => void warnings.push(fault(message, text, needle));
  const mirrors = Object.entries(hosts).flatMap(([url, host]): readonly HostsMirror[] => {
    const parsedUrl = parseEndpointUrl(url, { path: rootOrApi(host) });
    if (parsedUrl === undefined) warn("a host is passed over: its URL cannot be used", url);
    if (parsedUrl === undefined) return [];
    return [{ url: parsedUrl, ...readCapabilities(host), headers: readHeaders(host, warn), tls: readTls(host) }];
  });
  return asParsed({
    mirrors,
    server,
    serverTls: readTls(root),
    // They are those of the server that is named, not of the host itself.
    serverCapabilities: readCapabilities(server === undefined ? {} : root),
    serverHeaders: readHeaders(root, warn),
  }, warnings);
}

/** Directory names that may hold a host's file, in containerd's order. The host is canonical: no port is that of https. */
export function hostDirectories(host: string): readonly string[] {
  const [, name = host, port = "443"] = /^(.+):(\d+)$/.exec(host) ?? [];
  return [`${name}_${port}_`, host, "_default"];
}

function rootOrApi({ override_path: overridePath }: z.infer<typeof Host>): "root" | "api" {
  return overridePath === true ? "api" : "root";
}

function readCapabilities({ capabilities }: z.infer<typeof Host>): HostCapabilities {
  const has = (name: string): boolean =>
    capabilities === undefined || capabilities.length === 0 || capabilities.includes(name);
  return { resolves: has("resolve"), pulls: has("pull") };
}

function readTls({ ca = [], client = [], skip_verify: skipVerify = false }: z.infer<typeof Host>): HostTls {
  const clients = client.flatMap(([certificateFile = "", keyFile = ""]): readonly ClientFiles[] =>
    certificateFile === "" ? [] : [{ certificateFile, ...keyFile === "" ? {} : { keyFile } }]
  );
  return { skipVerify, caFiles: ca, clients };
}

/** The connection and the length of a message are not the configuration's to say. */
const RESERVED_HEADER =
  /^(host|connection|content-.*|transfer-encoding|te|trailer|upgrade|proxy-.*|expect|keep-alive)$/i;

/** Several values of one header become one. A warning names the header, never its value: it may be a password. */
function readHeaders(
  { header = {} }: z.infer<typeof Host>,
  warn: (message: string, needle: string) => void,
): Readonly<Record<string, string>> {
  const entries = Object.entries(header).map(([name, value]) => [name, [value].flat().join(", ")] as const);
  const usable = entries.filter(([name, value]) => {
    const isUsable = /^[\w!#$%&'*+.^`|~-]+$/.test(name) && !RESERVED_HEADER.test(name) && isSendable(value);
    if (!isUsable) warn("a header is not sent: its name or value is none that may be", "header");
    return isUsable;
  });
  return Object.fromEntries(usable);
}

function fault(message: string, text: string, needle: string): Fault {
  const line = findLine(text, needle);
  return line === undefined ? { message } : { message, line };
}
