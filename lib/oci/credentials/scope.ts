// Parses a credential's key (`quay.io/org`, `*.example.com:5000`, `https://index.docker.io/v1/`) for matching. Pure.
import { hostKey } from "../host_names.ts";
import { type Glob, parseGlob } from "../../vocabulary/glob.ts";

/** The longest DNS name; a key with a longer host matches nothing. */
const MAX_HOST = 253;

/** A parsed key. Host labels may be glob patterns; the path never is. */
export interface CredentialScope {
  /** Lower case; Docker Hub's names are unified. */
  readonly labels: readonly string[];
  /** The labels as patterns, undefined for a malformed one. No list when all are literal. */
  readonly globs: readonly (Glob | undefined)[] | undefined;
  readonly port: string;
  readonly path: readonly string[];
  /** Number of pattern characters in the host; 0: literal. */
  readonly wildcards: number;
}

/** The `host[:port]` of a key that is a host or the URL of one. */
export function bareHost(key: string): string {
  return key.replace(/^https?:\/\//, "").split("/", 1)[0] ?? "";
}

/** Parses a key as the MTO does, with the kubelet's rules for `/v1/` and `/v2/`. Undefined without a valid host. */
export function parseScope(key: string): CredentialScope | undefined {
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

/** A port as a plain number; empty for 443, the default. */
export function canonicalPort(port: string): string {
  return port === "" || Number(port) === 443 ? "" : String(Number(port));
}
