// Where a full name may be pulled from: by registries.conf, hosts.toml, registries.yaml, or the host itself.
import { hostKey } from "../registry_host.ts";
import type { EndpointUrl } from "./endpoint_url.ts";
import { findRule, type FullName, pullSources } from "./registry_rules.ts";
import { type HostCapabilities, hostDirectories, type HostsFile } from "./hosts_toml.ts";
import { rewriteRepository } from "./rewrite.ts";
import type { HostAccess } from "./pem.ts";
import type { PullSettings } from "./settings.ts";

export interface Source {
  /** As written: `docker.io` is still that. */
  readonly host: string;
  readonly repository: string;
  readonly isMirror: boolean;
  readonly pathPrefix: string;
  /** The registry that a mirror stands for, sent to it as containerd does; undefined: not sent. */
  readonly mirrorOf: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly scheme: "https" | "http";
  readonly insecure: boolean;
  readonly declared: boolean;
  readonly access: HostAccess | undefined;
}

type SourcesAnswer =
  | { readonly kind: "sources"; readonly sources: readonly Source[] }
  | { readonly kind: "unparsable"; readonly message: string };

export function findSources(full: FullName, settings: PullSettings): SourcesAnswer {
  const { host, repository } = splitName(full.name);
  const upstream: Source = { ...PLAIN, host, repository };
  return fromRegistriesConf(full, settings) ??
    fromHostsTree(full, upstream, settings) ??
    fromRancher(upstream, settings) ??
    { kind: "sources", sources: [upstream] };
}

export function splitName(name: string): { readonly host: string; readonly repository: string } {
  const slash = name.indexOf("/");
  return slash < 0 ? { host: name, repository: "" } : { host: name.slice(0, slash), repository: name.slice(slash + 1) };
}

const PLAIN = {
  isMirror: false,
  pathPrefix: "",
  mirrorOf: undefined,
  headers: {},
  scheme: "https",
  insecure: false,
  declared: false,
  access: undefined,
} as const;

function fromRegistriesConf(full: FullName, { registries }: PullSettings): SourcesAnswer | undefined {
  const rule = findRule(registries?.rules ?? [], full);
  if (rule === undefined) return undefined;
  const isWildcard = rule.prefix.startsWith("*.");
  const sources = pullSources(rule, full).map(({ name, insecure, isMirror }): Source => ({
    ...PLAIN,
    ...splitName(name),
    insecure,
    isMirror,
    declared: isMirror || insecure || !isWildcard || rule.location !== "",
  }));
  return { kind: "sources", sources };
}

function fromHostsTree(full: FullName, upstream: Source, { hosts }: PullSettings): SourcesAnswer | undefined {
  const directory = hostDirectories(upstream.host).find((name) => hosts.has(name));
  const found = directory === undefined ? undefined : hosts.get(directory);
  if (found === undefined) return undefined;
  if (found.kind === "unparsable") return found;
  const isDigest = full.suffix.startsWith("@");
  const isCapable = ({ resolves, pulls }: HostCapabilities): boolean => isDigest ? pulls : resolves;
  const mirrors = found.mirrors.filter(isCapable)
    .map(({ url, access, headers }): Source => ({ ...atUrl(url, upstream), declared: true, access, headers }));
  const servers = isCapable(found.serverCapabilities) ? [serverSource(found, upstream, directory ?? "")] : [];
  return { kind: "sources", sources: [...mirrors, ...servers] };
}

function serverSource(found: HostsFile, upstream: Source, directory: string): Source {
  const { server, serverAccess: access, serverHeaders: headers } = found;
  // _default applies to whatever host an image names: a header there would be sent to any host.
  if (server === undefined && directory === "_default") return { ...upstream, access };
  return { ...(server === undefined ? upstream : atUrl(server, upstream)), declared: true, access, headers };
}

function fromRancher(upstream: Source, { rancher }: PullSettings): SourcesAnswer | undefined {
  const found = rancher?.mirrors.get(upstream.host) ?? rancher?.mirrors.get("*");
  if (found === undefined) return undefined;
  const rewritten = { ...upstream, repository: rewriteRepository(found.rewrites, upstream.repository) };
  const mirrors = found.endpoints.map((url): Source => ({ ...atUrl(url, rewritten), declared: true }));
  return { kind: "sources", sources: [...mirrors, upstream] };
}

function atUrl(url: EndpointUrl, upstream: Source): Source {
  const isMirror = hostKey(url.host) !== hostKey(upstream.host);
  return {
    ...upstream,
    host: url.host,
    repository: url.repositoryPrefix + upstream.repository,
    scheme: url.scheme,
    pathPrefix: url.pathPrefix,
    isMirror,
    mirrorOf: isMirror ? upstream.host : undefined,
  };
}
