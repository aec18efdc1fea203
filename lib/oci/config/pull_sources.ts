// Where a full name may be pulled from: by registries.conf, hosts.toml, registries.yaml, or the host itself.
import type { Endpoint } from "../endpoint.ts";
import { isDigest, renderReference } from "../reference.ts";
import { hostKey } from "../host_names.ts";
import type { EndpointUrl } from "./endpoint_url.ts";
import { asParsed, type Parsed } from "../../parsed.ts";
import type { HostTls } from "./host_tls.ts";
import { findRule, type FullName, locationsFor } from "./registry_rules.ts";
import { type HostCapabilities, hostDirectories, type HostsFile } from "./hosts_toml.ts";
import { rewriteRepository } from "./rewrite.ts";
import type { PullSettings } from "./settings.ts";

/** A place with what is configured for its connection. Its host is as written: `docker.io` is not replaced. */
export interface PullSource extends Omit<Endpoint, "identifier" | "connection"> {
  readonly headers: Readonly<Record<string, string>>;
  readonly scheme: "https" | "http";
  readonly isInsecure: boolean;
  readonly isDeclared: boolean;
  readonly tls: HostTls | undefined;
}

export function findPullSources(full: FullName, settings: PullSettings): Parsed<readonly PullSource[]> {
  const { identifier: _, ...place } = full;
  const upstream: PullSource = { ...PLAIN, ...place };
  return fromRegistriesConf(full, settings) ??
    fromHostsTree(full, upstream, settings) ??
    fromRancher(upstream, settings) ??
    asParsed([upstream]);
}

function splitName(name: string): { readonly host: string; readonly repository: string } {
  const slash = name.indexOf("/");
  return slash < 0 ? { host: name, repository: "" } : { host: name.slice(0, slash), repository: name.slice(slash + 1) };
}

const PLAIN = {
  isMirror: false,
  pathPrefix: "",
  headers: {},
  scheme: "https",
  isInsecure: false,
  isDeclared: false,
  tls: undefined,
} as const;

function fromRegistriesConf(full: FullName, { registries }: PullSettings): Parsed<readonly PullSource[]> | undefined {
  const rule = findRule(registries.rules, renderReference(full));
  if (rule === undefined) return undefined;
  const isWildcard = rule.prefix.startsWith("*.");
  const sources = locationsFor(rule, full).map(({ name, isInsecure, isMirror }): PullSource => ({
    ...PLAIN,
    ...splitName(name),
    isInsecure,
    isMirror,
    isDeclared: isMirror || isInsecure || !isWildcard || rule.location !== "",
  }));
  return asParsed(sources);
}

function fromHostsTree(
  full: FullName,
  upstream: PullSource,
  { hosts }: PullSettings,
): Parsed<readonly PullSource[]> | undefined {
  const directory = hostDirectories(upstream.host).find((name) => hosts.has(name));
  const found = directory === undefined ? undefined : hosts.get(directory);
  if (found === undefined) return undefined;
  if (found.kind === "unparsable") return found;
  const { value: file } = found;
  const isCapable = ({ resolves, pulls }: HostCapabilities): boolean => isDigest(full.identifier) ? pulls : resolves;
  const mirrors = file.mirrors.filter(isCapable)
    .map(({ url, tls, headers }): PullSource => ({ ...atUrl(url, upstream), isDeclared: true, tls, headers }));
  const servers = isCapable(file.serverCapabilities) ? [serverSource(file, upstream, directory ?? "")] : [];
  return asParsed([...mirrors, ...servers]);
}

function serverSource(found: HostsFile, upstream: PullSource, directory: string): PullSource {
  const { server, serverTls: tls, serverHeaders: headers } = found;
  // _default applies to any host that an image names, so its headers would be sent anywhere.
  if (server === undefined && directory === "_default") return { ...upstream, tls };
  return { ...(server === undefined ? upstream : atUrl(server, upstream)), isDeclared: true, tls, headers };
}

function fromRancher(upstream: PullSource, { rancher }: PullSettings): Parsed<readonly PullSource[]> | undefined {
  const found = rancher.mirrors.get(upstream.host) ?? rancher.mirrors.get("*");
  if (found === undefined) return undefined;
  const rewritten = { ...upstream, repository: rewriteRepository(found.rewrites, upstream.repository) };
  const mirrors = found.endpoints.map((url): PullSource => ({ ...atUrl(url, rewritten), isDeclared: true }));
  return asParsed([...mirrors, upstream]);
}

function atUrl(url: EndpointUrl, upstream: PullSource): PullSource {
  const isMirror = hostKey(url.host) !== hostKey(upstream.host);
  return {
    ...upstream,
    host: url.host,
    repository: url.repositoryPrefix + upstream.repository,
    scheme: url.scheme,
    pathPrefix: url.pathPrefix,
    isMirror,
    ...isMirror ? { mirrorOf: upstream.host } : {},
  };
}
