// The key of a credential (`quay.io/org`, `*.example.com:5000`, `https://index.docker.io/v1/`) as something to compare. Pure.
import { hostKey } from "../registry_host.ts";
import { type Glob, parseGlob } from "../../vocabulary/glob.ts";

/** The longest DNS name; keys of a longer host cover nothing. */
const MAX_HOST = 253;

/** A parsed key. Host labels may be glob patterns; the path never is. */
export interface Scope {
  /** Lower case, Docker Hub's names made one. */
  readonly labels: readonly string[];
  /** The labels as patterns, undefined for one that is malformed; undefined: all are literal. */
  readonly globs: readonly (Glob | undefined)[] | undefined;
  readonly port: string;
  readonly path: readonly string[];
  /** Characters of the host that are patterns; 0: literal. */
  readonly wildcards: number;
}

/** The `host[:port]` of a key that is a host or the URL of one. */
export function bareHost(key: string): string {
  return key.replace(/^https?:\/\//, "").split("/", 1)[0] ?? "";
}

/** Parses a key; undefined when no host can be read from it. As the MTO, with the kubelet's rules for `/v1/` and `/v2/`. */
export function parseScope(key: string): Scope | undefined {
  const address = key.trim().replace(/^https?:\/\//i, "");
  const slash = address.indexOf("/");
  const authority = (slash < 0 ? address : address.slice(0, slash)).replace(/^.*@/, "");
  const parts = /^(\[[0-9a-fA-F:.%]+\]|[^:]+)(?::(\d{1,5}))?$/.exec(authority);
  if (parts === null) return undefined;
  const [, host = "", port = ""] = parts;
  const isAddress = host.startsWith("[") && host.includes(":");
  if (host.length > MAX_HOST) return undefined;
  const labels = isAddress ? [hostKey(host)] : hostKey(host).split(".");
  const wildcards = isAddress ? 0 : host.replace(/[^*?[]/g, "").length;
  const path = (slash < 0 ? "" : address.slice(slash + 1)).split("/").filter((segment) => segment !== "");
  return {
    labels,
    globs: wildcards === 0 ? undefined : labels.map((label) => parseGlob(label)),
    port: canonicalPort(port),
    // `/v1/` and `/v2/` are the API's own roots: the key means the host.
    path: path[0] === "v1" || path[0] === "v2" ? path.slice(1) : path,
    wildcards,
  };
}

/** A port as a plain number; empty for that of https, which a host without a port has. */
export function canonicalPort(port: string): string {
  return port === "" || Number(port) === 443 ? "" : String(Number(port));
}
