// containerd's certs.d/<host>/hosts.toml: the places to pull a host's images from. Pure; files that it names are read by
// host_files.ts. Used by plan.ts.
import { z } from "zod";
import { parseToml } from "./documents.ts";
import { type EndpointUrl, parseEndpointUrl } from "./endpoint_url.ts";
import { broken, type Fault, findLine, ok, type Parsed } from "./problem.ts";

/** The files of a client certificate; without `keyFile` the first holds both. */
export interface ClientFiles {
  readonly certificateFile: string;
  readonly keyFile?: string;
}

/** TLS settings as they are written: paths, relative to the file. */
export interface HostTls {
  readonly skipVerify: boolean;
  readonly caFiles: readonly string[];
  readonly client?: ClientFiles;
}

/** A `[host."URL"]` table. */
export interface HostsMirror {
  readonly url: EndpointUrl;
  /** May answer for tags. */
  readonly resolves: boolean;
  /** May answer for digests. */
  readonly pulls: boolean;
  readonly tls: HostTls;
}

/** One hosts.toml. `server` undefined: the host itself. */
export interface HostsFile {
  readonly mirrors: readonly HostsMirror[];
  readonly server: EndpointUrl | undefined;
  readonly serverTls: HostTls;
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
  header: z.unknown().optional(),
});
const Document = Host.extend({ server: z.string().optional(), host: z.record(z.string(), Host).optional() });

/** Parses one file. Mirrors keep their order. What Archway cannot do (headers, odd paths) is a warning, not a fault. */
export function parseHostsToml(text: string): Parsed<HostsFile> {
  const document = parseToml(text);
  if (document.kind === "broken") return document;
  const parsed = Document.safeParse(document.value);
  if (!parsed.success) {
    const key = parsed.error.issues[0]?.path.map(String).findLast((part) => !/^\d+$/.test(part)) ?? "";
    return broken("a value of a wrong kind", findLine(text, key));
  }
  const { host: hosts = {}, server: serverText = "", ...root } = parsed.data;
  const server = serverText === "" ? undefined : parseEndpointUrl(serverText, { path: rootOrApi(root) });
  if (serverText !== "" && server === undefined) {
    return broken("the server is not a usable URL", findLine(text, "server"));
  }
  const warnings: Fault[] = [];
  const mirrors = Object.entries(hosts).flatMap(([url, host]): readonly HostsMirror[] => {
    const parsedUrl = parseEndpointUrl(url, { path: rootOrApi(host) });
    if (host.header !== undefined) warnings.push(fault("headers are not sent", text, "header"));
    if (parsedUrl === undefined) warnings.push(fault("a host is passed over: its URL cannot be used", text, url));
    return parsedUrl === undefined ? [] : [{ url: parsedUrl, ...readCapabilities(host), tls: readTls(host) }];
  });
  return ok({ mirrors, server, serverTls: readTls(root) }, warnings);
}

/** Directory names that may hold a host's file, in containerd's order. */
export function hostDirectories(host: string): readonly string[] {
  const [, name, port] = /^(.+):(\d+)$/.exec(host) ?? [];
  return [...name === undefined ? [] : [`${name}_${port}_`], host, "_default"];
}

function rootOrApi({ override_path: overridePath }: z.infer<typeof Host>): "root" | "api" {
  return overridePath === true ? "api" : "root";
}

function readCapabilities({ capabilities }: z.infer<typeof Host>): { resolves: boolean; pulls: boolean } {
  const has = (name: string): boolean =>
    capabilities === undefined || capabilities.length === 0 || capabilities.includes(name);
  return { resolves: has("resolve"), pulls: has("pull") };
}

function readTls({ ca = [], client = [], skip_verify: skipVerify = false }: z.infer<typeof Host>): HostTls {
  const [certificateFile, keyFile = ""] = client[0] ?? [];
  if (certificateFile === undefined || certificateFile === "") return { skipVerify, caFiles: ca };
  return { skipVerify, caFiles: ca, client: { certificateFile, ...keyFile === "" ? {} : { keyFile } } };
}

function fault(message: string, text: string, needle: string): Fault {
  const line = findLine(text, needle);
  return line === undefined ? { message } : { message, line };
}
