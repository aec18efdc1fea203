// Prevents server-side request forgery: no loopback, link-local or metadata address. In-cluster registries have private ones.
import ipaddr from "ipaddr.js";
import { inspectionError } from "../errors.ts";
import { orAborted } from "../../clock.ts";

/** Addresses of cloud metadata services that no range covers. */
export const METADATA_ADDRESSES: readonly string[] = [
  "fd00:ec2::254",
  "fd00:ec2::23",
  "fd20:ce::254",
  "fd00:c1::a9fe:a9fe",
  "100.100.100.200",
  "168.63.129.16",
  "192.0.0.192",
];
/** The last two are tunnels that hide an IPv4 address; no registry is there. */
const DENIED_RANGES: readonly string[] = [
  "unspecified",
  "loopback",
  "linkLocal",
  "multicast",
  "broadcast",
  "6to4",
  "teredo",
];

export type Resolve = (hostname: string, signal: AbortSignal) => Promise<readonly string[]>;

/** Whether an address may be contacted without the operator having declared a registry there. */
export function isAllowedAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = embedded(ipaddr.process(address));
  return !METADATA_ADDRESSES.includes(parsed.toString()) && !DENIED_RANGES.includes(parsed.range());
}

/** Whether an address belongs to the public internet: what is found there may be shown to all users. */
export function isPublicAddress(address: string): boolean {
  return ipaddr.isValid(address) && embedded(ipaddr.process(address)).range() === "unicast";
}

/** IPv6 addresses that end with the IPv4 one they stand for: NAT64, its stateless kind, and the old `::127.0.0.1`. */
function embedded(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  const bytes = address.toByteArray();
  const isOldForm = bytes.length === 16 && bytes.slice(0, 12).every((byte) => byte === 0) && bytes[12] !== 0;
  const isEmbedding = isOldForm || ["rfc6052", "rfc6145"].includes(address.range());
  return isEmbedding ? ipaddr.fromByteArray(bytes.slice(12)) : address;
}

/**
 * The addresses of a host, none of them forbidden. Empty for a name that does not resolve here: the request itself says
 * so, or a proxy resolves the name. Throws AddressDenied.
 *
 * `fetch` resolves the name once more, and cannot be held to what was checked. Deno.createHttpClient has no resolver, its
 * `tcp` transport skips TLS, and the certificate is not for an address in the URL. A name that changes in between reads
 * nothing by it. Where the administrator declared nothing, requests go over verified TLS alone, so the server must first
 * prove to be that name. The exception is where a registry that is declared to be without TLS sends them. A connection is
 * made all the same. So a failure is described only at hosts that have answered before. How long it takes can still be
 * measured where the first address was a public one. Where TLS is not verified the addresses are held to.
 */
export async function guardAddress(
  host: string,
  { resolve, signal }: { readonly resolve: Resolve; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  const hostname = hostnameOf(host);
  const addresses = ipaddr.isValid(hostname) ? [hostname] : await orAborted(resolve(hostname, signal), signal);
  const denied = addresses.find((address) => !isAllowedAddress(address));
  if (denied === undefined) return addresses;
  throw inspectionError(
    "AddressDenied",
    `Cannot ask registry "${host}": ${denied} is a loopback, link-local or metadata address. ` +
      `If a registry is there, declare it with --registry ${host}.`,
    { registry: host },
  );
}

/** `host[:port]` without port and brackets. */
function hostnameOf(host: string): string {
  return new URL(`http://${host}`).hostname.replace(/^\[|\]$/g, "");
}
