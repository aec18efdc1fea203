// Prevents server-side request forgery to loopback, link-local and metadata addresses. Private addresses stay allowed.
import ipaddr from "ipaddr.js";
import { registryError } from "../errors.ts";
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
/** The last two are tunnels that hide an IPv4 address and lead to no registry. */
const DENIED_RANGES: readonly string[] = [
  "unspecified",
  "loopback",
  "linkLocal",
  "multicast",
  "broadcast",
  "6to4",
  "teredo",
];

export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** Whether an address may be contacted without a declared registry there. */
export function isAllowedAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = embedded(ipaddr.process(address));
  return !METADATA_ADDRESSES.includes(parsed.toString()) && !DENIED_RANGES.includes(parsed.range());
}

/** Whether an address is public, so that every user may see what is there. */
export function isPublicAddress(address: string): boolean {
  return ipaddr.isValid(address) && embedded(ipaddr.process(address)).range() === "unicast";
}

/** The IPv4 address at the end of an IPv6 one: NAT64, its stateless kind, and the old `::127.0.0.1`. */
function embedded(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  const bytes = address.toByteArray();
  const isOldForm = bytes.length === 16 && bytes.slice(0, 12).every((byte) => byte === 0) && bytes[12] !== 0;
  const isEmbedding = isOldForm || ["rfc6052", "rfc6145"].includes(address.range());
  return isEmbedding ? ipaddr.fromByteArray(bytes.slice(12)) : address;
}

/**
 * The allowed addresses of a host. Empty for a name that does not resolve here: then the request fails, or a proxy
 * resolves it. Throws AddressDenied.
 *
 * `fetch` resolves the name again and cannot be bound to the checked addresses. Deno.createHttpClient has no resolver,
 * its `tcp` transport skips TLS, and certificates do not match an address in the URL. An attacker who changes the name
 * in between can read nothing: requests to undeclared hosts use verified TLS only, so the server must first prove its
 * name. The exception is a redirect or realm of a registry declared to be without TLS. A connection is made even then:
 * its duration can be measured, but failures are only described for hosts that have answered before. Unverified TLS is
 * bound to the checked addresses.
 */
export async function guardAddress(
  host: string,
  { resolve, signal }: { readonly resolve: Resolve; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  const hostname = hostnameOf(host);
  const addresses = ipaddr.isValid(hostname) ? [hostname] : await orAborted(resolve(hostname), signal);
  const denied = addresses.find((address) => !isAllowedAddress(address));
  if (denied === undefined) return addresses;
  throw registryError(
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
