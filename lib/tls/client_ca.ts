// The CA that the client certificates of API servers are verified against. Read once: a new file needs a restart.
import { X509Certificate } from "node:crypto";
import { errorText } from "../log.ts";

/** Reads the PEM file. Rejects with an Error that names it when it cannot be read or holds no CA. */
export async function readClientCa(path: string): Promise<string> {
  try {
    const pem = await Deno.readTextFile(path);
    if (new X509Certificate(pem).ca) return pem;
  } catch (cause) {
    throw new Error(`Cannot read the client CA "${path}": ${errorText(cause)}. Give a PEM certificate.`, { cause });
  }
  throw new Error(`Cannot use "${path}" as client CA: its first certificate is none of a CA.`);
}
