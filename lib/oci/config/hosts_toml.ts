// containerd's certs.d/<host>/hosts.toml: the places to pull a host's images from.
import * as z from "zod";
import { asParsed, type Fault, type Parsed, unparsable } from "../../parsed.ts";
import { findLine, parseAs, parseToml } from "../files/formats.ts";
import { isSendable } from "../http/exchange.ts";
import { type EndpointUrl, parseEndpointUrl } from "./endpoint_url.ts";
import type { HostTls, TlsFiles } from "./host_tls.ts";

export interface HostCapabilities {
  readonly resolves: boolean;
  readonly pulls: boolean;
}

interface HostsMirror extends HostCapabilities {
  readonly url: EndpointUrl;
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: HostTls;
}

/** One directory of containerd's tree. `server` undefined: the host itself. */
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

/** Mirrors keep their order. An unusable URL is skipped with a warning; a bad certificate makes the file unparsable. */
export function parseHostsToml(text: string, readTls: (tls: TlsFiles) => Parsed<HostTls>): Parsed<HostsFile> {
  const parsed = parseAs(Document, parseToml(text), text);
  if (parsed.kind === "unparsable") return parsed;
  const { host: hosts = {}, server: serverText = "", ...root } = parsed.value;
  const server = serverText === "" ? undefined : parseEndpointUrl(serverText, { path: rootOrApi(root) });
  if (serverText !== "" && server === undefined) {
    return unparsable("the server is not a usable URL", findLine(text, "server"));
  }
  const warnings: Fault[] = [];
  const warn = (message: string, needle: string): unknown => warnings.push({ message, line: findLine(text, needle) });
  const serverTls = readTls(tlsOf(root));
  if (serverTls.kind === "unparsable") return serverTls;
  warnings.push(...serverTls.warnings);
  const mirrors: HostsMirror[] = [];
  for (const [name, host] of Object.entries(hosts)) {
    const url = parseEndpointUrl(name, { path: rootOrApi(host) });
    if (url === undefined) {
      warn("a host is passed over: its URL cannot be used", name);
      continue;
    }
    const tls = readTls(tlsOf(host));
    if (tls.kind === "unparsable") return tls;
    warnings.push(...tls.warnings);
    mirrors.push({ url, ...readCapabilities(host), headers: readHeaders(host, warn), tls: tls.value });
  }
  return asParsed({
    mirrors,
    server,
    serverTls: serverTls.value,
    // Capabilities in the file are those of the named server, not of the host itself.
    serverCapabilities: readCapabilities(server === undefined ? {} : root),
    serverHeaders: readHeaders(root, warn),
  }, warnings);
}

/** Directory names that may hold a host's file, in containerd's order. A canonical host without port means 443. */
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

function tlsOf({ ca = [], client = [], skip_verify: skipsVerify = false }: z.infer<typeof Host>): TlsFiles {
  const clients = client.flatMap(([certificateFile = "", keyFile = ""]): TlsFiles["clients"] =>
    certificateFile === "" ? [] : [{ certificateFile, ...keyFile === "" ? {} : { keyFile } }]
  );
  return { skipsVerify, caFiles: ca, clients };
}

/** Headers of the connection and the message length, which a configuration must not set. */
const RESERVED_HEADER =
  /^(host|connection|content-.*|transfer-encoding|te|trailer|upgrade|proxy-.*|expect|keep-alive)$/i;

/** Joins several values of a header. A warning never shows a value: it may be a password. */
function readHeaders(
  { header = {} }: z.infer<typeof Host>,
  warn: (message: string, needle: string) => unknown,
): Readonly<Record<string, string>> {
  const entries = Object.entries(header).map(([name, value]) => [name, [value].flat().join(", ")] as const);
  const usable = entries.filter(([name, value]) => {
    const isUsable = /^[\w!#$%&'*+.^`|~-]+$/.test(name) && !RESERVED_HEADER.test(name) && isSendable(value);
    if (!isUsable) warn("a header is not sent: its name or value is not valid in HTTP", "header");
    return isUsable;
  });
  return Object.fromEntries(usable);
}
