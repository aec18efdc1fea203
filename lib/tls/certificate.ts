// The few fields of an X.509 certificate that decide whether a server may show it. Pure.
import { childrenOf, type DerElement, oidOf, readElements, Tag, timeOf } from "./der.ts";

export interface CertificateFields {
  readonly version: number;
  readonly hasNegativeSerial: boolean;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly dnsNames: readonly string[] | undefined;
  readonly addresses: readonly Uint8Array[] | undefined;
  readonly usages: readonly string[] | undefined;
  readonly critical: readonly string[];
  readonly repeated: string | undefined;
}

const SUBJECT_ALT_NAME = "2.5.29.17";
const EXTENDED_KEY_USAGE = "2.5.29.37";
const DNS_NAME = 0x82;
const IP_ADDRESS = 0x87;

/** Reads a certificate in DER; undefined when it is none. Signatures are not verified. */
export function readCertificate(der: Uint8Array): CertificateFields | undefined {
  const [certificate, ...rest] = readElements(der) ?? [];
  if (certificate?.tag !== Tag.sequence || rest.length > 0) return undefined;
  const fields = childrenOf(childrenOf(certificate)[0]);
  const version = fields[0]?.tag === Tag.context0 ? (childrenOf(fields[0])[0]?.bytes.at(-1) ?? 0) + 1 : 1;
  // serial, signature algorithm, issuer, validity, subject, key, then unique names and extensions
  const [serial, , , validity, , , ...more] = fields[0]?.tag === Tag.context0 ? fields.slice(1) : fields;
  const [notBeforeMs, notAfterMs] = childrenOf(validity).map(timeOf);
  if (serial?.tag !== Tag.integer || notBeforeMs === undefined || notAfterMs === undefined) return undefined;
  const extensions = extensionsOf(more.find(({ tag }) => tag === Tag.context3));
  const names = extensions.find(({ id }) => id === SUBJECT_ALT_NAME);
  const usages = extensions.find(({ id }) => id === EXTENDED_KEY_USAGE);
  return {
    version,
    hasNegativeSerial: (serial.bytes[0] ?? 0) >= 0x80,
    notBeforeMs,
    notAfterMs,
    dnsNames: names && valuesOf(names, DNS_NAME).map((bytes) => new TextDecoder().decode(bytes)),
    addresses: names && valuesOf(names, IP_ADDRESS),
    usages: usages && childrenOf(usages.value).map(oidOf),
    critical: extensions.filter(({ isCritical }) => isCritical).map(({ id }) => id),
    repeated: extensions.find(({ id }, at) => extensions.findIndex((other) => other.id === id) < at)?.id,
  };
}

interface Extension {
  readonly id: string;
  readonly isCritical: boolean;
  readonly value: DerElement | undefined;
}

function extensionsOf(wrapper: DerElement | undefined): readonly Extension[] {
  return childrenOf(childrenOf(wrapper)[0]).flatMap((extension): readonly Extension[] => {
    const [id, ...rest] = childrenOf(extension);
    if (id?.tag !== Tag.oid) return [];
    const isCritical = rest.some(({ tag, bytes }) => tag === Tag.boolean && bytes[0] !== 0);
    const [value] = readElements(rest.at(-1)?.bytes ?? new Uint8Array()) ?? [];
    return [{ id: oidOf(id), isCritical, value }];
  });
}

function valuesOf({ value }: Extension, tag: number): readonly Uint8Array[] {
  return childrenOf(value).filter((name) => name.tag === tag).map(({ bytes }) => bytes);
}
