// Reads the little of DER that certificates need. A whole ASN.1 library costs more at start, and refuses some
// certificates.

/** One element of DER. `bytes` is its content; `whole` has its tag and length as well. */
export interface DerElement {
  readonly tag: number;
  readonly bytes: Uint8Array;
  readonly whole: Uint8Array;
}

export const Tag = {
  boolean: 0x01,
  integer: 0x02,
  octetString: 0x04,
  oid: 0x06,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  context0: 0xa0,
  context3: 0xa3,
} as const;

/** The elements in their order. Undefined when the bytes are not DER from the first to the last. */
export function readElements(bytes: Uint8Array): readonly DerElement[] | undefined {
  const elements: DerElement[] = [];
  for (let at = 0; at < bytes.length;) {
    const element = readElement(bytes.subarray(at));
    if (element === undefined) return undefined;
    elements.push(element);
    at += element.whole.length;
  }
  return elements;
}

/** What is inside of a constructed element; empty when that is not DER. */
export function childrenOf(element: DerElement | undefined): readonly DerElement[] {
  return element === undefined ? [] : readElements(element.bytes) ?? [];
}

export function oidOf({ bytes }: DerElement): string {
  const parts: number[] = [];
  let value = 0;
  for (const byte of bytes) {
    value = value * 128 + (byte & 0x7f);
    if (byte >= 0x80) continue;
    parts.push(value);
    value = 0;
  }
  const [first = 0, ...rest] = parts;
  const root = Math.min(2, Math.floor(first / 40));
  return [root, first - root * 40, ...rest].join(".");
}

/** A UTCTime or GeneralizedTime as epoch ms; undefined when it is neither. Years of two digits are 1950 to 2049. */
export function timeOf({ tag, bytes }: DerElement): number | undefined {
  const text = new TextDecoder().decode(bytes);
  const match = /^(\d{2}|\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})Z$/.exec(text);
  if (match === null || tag !== Tag.utcTime && tag !== Tag.generalizedTime) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1).map(Number);
  const full = tag === Tag.generalizedTime ? year : year < 50 ? 2_000 + year : 1_900 + year;
  return Date.UTC(full, month - 1, day, hour, minute, second);
}

export function certificateBlocks(pem: string): readonly string[] {
  return pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
}

export function derOf(pem: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.fromBase64(pem.replaceAll(/-----[^-]+-----|\s/g, ""));
  } catch {
    return undefined;
  }
}

function readElement(bytes: Uint8Array): DerElement | undefined {
  const [tag, first] = bytes;
  if (tag === undefined || first === undefined || (tag & 0x1f) === 0x1f) return undefined;
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
  // 0x80 is an indefinite length, which DER does not have; no certificate needs more than four bytes of length.
  if (first === 0x80 || lengthBytes > 4) return undefined;
  let length = first < 0x80 ? first : 0;
  for (const byte of bytes.subarray(2, 2 + lengthBytes)) length = length * 256 + byte;
  const end = 2 + lengthBytes + length;
  if (end > bytes.length) return undefined;
  return { tag, bytes: bytes.subarray(2 + lengthBytes, end), whole: bytes.subarray(0, end) };
}
