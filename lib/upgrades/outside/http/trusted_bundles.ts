// Certificate authorities in files, such as OpenShift's bundle for the cluster's proxy. Files may appear and change.
import { errorText, type Logger } from "../../../log.ts";
import { parseCertificates } from "../../../oci/config/pem.ts";

export type TrustedBundles = () => Promise<readonly string[]>;

/** Reads nothing yet. A file that cannot be read is logged, and its certificate authorities are not trusted. */
export function openTrustedBundles(paths: readonly string[], log: Logger): TrustedBundles {
  return async () => (await Promise.all(paths.map((path) => readBundle(path, log)))).flat();
}

async function readBundle(path: string, log: Logger): Promise<readonly string[]> {
  try {
    const parsed = parseCertificates(await Deno.readTextFile(path));
    if (parsed.kind === "parsed") return parsed.value;
    log.warn("cannot use a CA file", { file: path, reason: parsed.fault.message });
  } catch (error) {
    log.warn("cannot read a CA file", { file: path, error: errorText(error) });
  }
  return [];
}
