// Trusts one certificate itself. `openssl req -x509` marks certificates as a CA. The runtime refuses a server
// certificate with this mark, even when it is trusted, and Go accepts it. Nothing is accepted that Go refuses: the
// bytes must be equal, and version, name, time and usage must pass Go's checks.
import ipaddr from "ipaddr.js";
import { type CertificateFields, readCertificate } from "./certificate.ts";
import { certificateBlocks, derOf } from "./der.ts";
import { renderDay } from "../vocabulary/time.ts";

/** Whether a served certificate is good. `unlisted`: it is not among the trusted ones, so its chain decides. */
export type PinCheck =
  | { readonly kind: "accepted" }
  | { readonly kind: "unlisted" }
  /** The certificate is trusted itself, but this server must not show it now; `why` is for users. */
  | { readonly kind: "refused"; readonly why: string };

const SERVER_AUTH: readonly string[] = ["1.3.6.1.5.5.7.3.1", "2.5.29.37.0"];
/** Critical extensions that Go's crypto/x509 handles: key usage, names, constraints, policies, extended key usage. */
const HANDLED: readonly string[] = [15, 17, 19, 30, 32, 33, 36, 37, 54].map((arc) => `2.5.29.${arc}`);

export function judgePin(
  certificate: Uint8Array,
  { host, trusted, nowMs }: { readonly host: string; readonly trusted: readonly string[]; readonly nowMs: number },
): PinCheck {
  if (!isListed(certificate, trusted)) return { kind: "unlisted" };
  const fields = readCertificate(certificate);
  if (fields === undefined) return refused("certificate cannot be read");
  const why = CHECKS.map((check) => check(fields, { host: bare(host), nowMs })).find((problem) =>
    problem !== undefined
  );
  return why === undefined ? { kind: "accepted" } : refused(why);
}

type Check = (fields: CertificateFields, at: { readonly host: string; readonly nowMs: number }) => string | undefined;

/**
 * The first problem in this order is reported. Below version 3 the runtime does not check the handshake's signature.
 */
const CHECKS: readonly Check[] = [
  ({ version }) => version === 3 ? undefined : `certificate is X.509 v${version}`,
  ({ repeated }) => repeated === undefined ? undefined : `certificate has the extension ${repeated} twice`,
  ({ hasNegativeSerial }) => hasNegativeSerial ? "certificate has a negative serial number" : undefined,
  ({ critical }) => {
    const unknown = critical.find((id) => !HANDLED.includes(id));
    return unknown === undefined ? undefined : `certificate: UnsupportedCriticalExtension ${unknown}`;
  },
  ({ notAfterMs }, { nowMs }) => nowMs > notAfterMs ? `certificate expired on ${renderDay(notAfterMs)}` : undefined,
  ({ notBeforeMs }, { nowMs }) =>
    nowMs < notBeforeMs ? `certificate not valid yet: it is from ${renderDay(notBeforeMs)}` : undefined,
  (fields, { host }) => {
    if (hasName(fields, host)) return undefined;
    const names = fields.dnsNames === undefined ? "it has no subjectAltName" : "its subjectAltName has others";
    return `certificate not valid for this name: ${names}`;
  },
  ({ usages }) =>
    usages === undefined || usages.some((usage) => SERVER_AUTH.includes(usage))
      ? undefined
      : "certificate does not allow extended key usage for server authentication",
];

function refused(why: string): PinCheck {
  return { kind: "refused", why };
}

/** Byte for byte: a certificate of the same name and key is another one. */
function isListed(certificate: Uint8Array, trusted: readonly string[]): boolean {
  return trusted.flatMap(certificateBlocks).some((block) => {
    const der = derOf(block);
    return der?.length === certificate.length && der.every((byte, at) => byte === certificate[at]);
  });
}

/**
 * Compares as Go's VerifyHostname: addresses only by address, names only by name, no common name, `*` only as a whole
 * first label.
 */
function hasName({ dnsNames = [], addresses = [] }: CertificateFields, host: string): boolean {
  if (ipaddr.isValid(host)) {
    const wanted = ipaddr.process(host).toByteArray();
    return addresses.some((bytes) => {
      if (bytes.length !== 4 && bytes.length !== 16) return false;
      const found = ipaddr.process(ipaddr.fromByteArray([...bytes]).toString()).toByteArray();
      return found.length === wanted.length && found.every((byte, at) => byte === wanted[at]);
    });
  }
  const labels = host.split(".");
  return dnsNames.some((name) => {
    const pattern = name.toLowerCase().split(".");
    if (pattern.length !== labels.length || name === "*") return false;
    return pattern.every((label, at) => label === labels[at] || at === 0 && label === "*");
  });
}

function bare(host: string): string {
  return host.replace(/^\[|\]$/g, "").toLowerCase().replace(/\.$/, "");
}
