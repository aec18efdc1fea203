// HTTP proxies for connections without `fetch`, by the rules of golang.org/x/net/http/httpproxy.
import ipaddr from "ipaddr.js";

/** The proxies of the environment. The address may hold a password: never log it. */
export interface ProxySettings {
  /** The proxy for https requests: `http://user:password@host:port`; undefined: none. */
  readonly https: string | undefined;
  /** Hosts that are reached directly: names, `.suffixes`, addresses, ranges, each also with a port; `*` is all. */
  readonly except: readonly string[];
}

export const NO_PROXIES: ProxySettings = { https: undefined, except: [] };

/** Reads `HTTPS_PROXY`, else `ALL_PROXY`, and `NO_PROXY`, in either case. Ignores a proxy that is not http or https. */
export function readProxySettings(env: Readonly<Record<string, string | undefined>>): ProxySettings {
  const read = (name: string): string => (env[name] || env[name.toLowerCase()] || "").trim();
  const address = read("HTTPS_PROXY") || read("ALL_PROXY");
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(address) ? address : `http://${address}`;
  const isWeb = address !== "" && URL.canParse(url) && ["http:", "https:"].includes(new URL(url).protocol);
  const except = read("NO_PROXY").toLowerCase().split(",").map((entry) => entry.trim()).filter((entry) => entry !== "");
  return { https: isWeb ? url : undefined, except };
}

/** The proxy for an https URL; undefined: connect directly, as always to this machine. */
export function proxyFor({ https, except }: ProxySettings, url: URL): string | undefined {
  if (https === undefined) return undefined;
  const host = url.hostname.replace(/^\[|\]$/g, "").toLowerCase();
  const port = url.port || "443";
  const address = ipaddr.isValid(host) ? ipaddr.process(host) : undefined;
  if (host === "localhost" || address?.range() === "loopback") return undefined;
  return except.some((entry) => covers(entry, { host, port, address })) ? undefined : https;
}

interface Target {
  readonly host: string;
  readonly port: string;
  readonly address: ipaddr.IPv4 | ipaddr.IPv6 | undefined;
}

function covers(entry: string, { host, port, address }: Target): boolean {
  if (entry === "*") return true;
  const parts = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(entry);
  if (parts?.[3] !== undefined && parts[3] !== port) return false;
  const name = parts?.[1] ?? parts?.[2] ?? entry;
  if (address !== undefined) return coversAddress(name, address);
  const suffix = name.replace(/^\*/, "");
  return suffix.startsWith(".") ? host.endsWith(suffix) : host === suffix || host.endsWith(`.${suffix}`);
}

function coversAddress(entry: string, address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (ipaddr.isValid(entry)) return ipaddr.process(entry).toString() === address.toString();
  if (!ipaddr.isValidCIDR(entry)) return false;
  const [network, bits] = ipaddr.parseCIDR(entry);
  return network.kind() === address.kind() && address.match(network, bits);
}
