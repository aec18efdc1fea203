// Base64 as people and tools write it, to text. Called by the parsers of credentials.

/** Decodes standard or URL-safe base64, padded or not, with stray white space; undefined when it is not base64 of UTF-8. */
export function decodeBase64Text(encoded: string): string | undefined {
  const plain = encoded.replace(/\s+/g, "").replaceAll("-", "+").replaceAll("_", "/").replace(/=+$/, "");
  if (!/^[A-Za-z0-9+/]*$/.test(plain) || plain.length % 4 === 1) return undefined;
  const bytes = Uint8Array.from(atob(plain), (char) => char.charCodeAt(0));
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
