// A serving certificate from files, reread every two seconds. A pair that cannot be used does not replace the last one.
import type { Clock } from "../../clock.ts";
import { certificateBlocks } from "../../tls/der.ts";
import { errorText, type Logger } from "../../log.ts";
import { type CertificateInForce, findPairProblem, ServingCertificate } from "./serving_certificate.ts";
import { X509Certificate } from "node:crypto";

interface CertificateFiles {
  readonly certPath: string;
  readonly keyPath: string;
  readonly caPath: string | undefined;
}

const POLL_MS = 2_000;

/** Reads the files. Rejects with an Error naming the file when unreadable or mismatched. */
export async function openCertificateFiles(
  files: CertificateFiles,
  deps: { readonly clock: Clock; readonly log: Logger },
): Promise<ServingCertificate> {
  const { clock, log } = deps;
  const first = await readPair(files);
  warnOfForeignCa(files, first, log);
  const serving = new ServingCertificate(first, async (put, signal) => {
    while (!signal.aborted) {
      await clock.sleep(POLL_MS, signal);
      if (signal.aborted) return;
      try {
        // Certificate and key may change one after the other: retry until they match.
        const pair = await readPair(files, serving.current());
        if (!put(pair)) continue;
        log.info("serving certificate reloaded", { file: files.certPath });
        warnOfForeignCa(files, pair, log);
      } catch (error) {
        log.warn("serving certificate not reloaded, the last good one stays", { error: errorText(error) });
      }
    }
  });
  return serving;
}

/** Throws when the pair cannot be used. The pair in force was checked before. */
async function readPair(files: CertificateFiles, inForce?: CertificateInForce): Promise<CertificateInForce> {
  const [cert, key, caBundle] = await Promise.all([
    readText(files.certPath),
    readText(files.keyPath),
    files.caPath === undefined ? undefined : readText(files.caPath),
  ]);
  const isInForce = cert === inForce?.cert && key === inForce.key;
  const problem = isInForce ? undefined : findPairProblem(cert, key);
  if (problem !== undefined) {
    throw new Error(`Cannot serve with "${files.certPath}": ${problem}. Check it and "${files.keyPath}".`);
  }
  return { cert, key, caBundle };
}

/** Only warns: the right files may still arrive, and not serving is no better than failing calls. */
function warnOfForeignCa(files: CertificateFiles, { cert, caBundle }: CertificateInForce, log: Logger): void {
  if (caBundle === undefined || isIssuedBy(cert, caBundle) !== false) return;
  log.warn("the CA of the webhooks did not issue the serving certificate", {
    file: files.certPath,
    ca: files.caPath,
    next: "API servers will not call Archway, and pods pass unplaced: name the CA that issued it by --tls-ca",
  });
}

async function readText(path: string): Promise<string> {
  try {
    return await Deno.readTextFile(path);
  } catch (cause) {
    throw new Error(`Cannot read "${path}": ${errorText(cause)}. Check the path and its permissions.`, { cause });
  }
}

/** Whether an API server with this CA bundle trusts the chain; undefined when either is unreadable. */
function isIssuedBy(chainPem: string, bundlePem: string): boolean | undefined {
  try {
    const [chain, bundle] = [chainPem, bundlePem].map(parseAll);
    if (chain === undefined || bundle === undefined || chain.length === 0 || bundle.length === 0) return undefined;
    return chain.some((certificate) =>
      bundle.some((authority) =>
        certificate.fingerprint256 === authority.fingerprint256 ||
        certificate.checkIssued(authority) && certificate.verify(authority.publicKey)
      )
    );
  } catch {
    return undefined;
  }
}

function parseAll(pem: string): readonly X509Certificate[] {
  return certificateBlocks(pem).map((block) => new X509Certificate(block));
}
