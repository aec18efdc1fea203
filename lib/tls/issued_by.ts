// Whether API servers that trust a CA bundle will trust a serving certificate: a warning is better than pods that pass
// unhandled because no call arrives.
import { X509Certificate } from "node:crypto";

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Whether a certificate of the chain, which begins with the serving one, is in the bundle or was issued by one that is.
 * undefined when that is not known: a text that is no certificate, or a signature that cannot be checked here.
 */
export function isIssuedBy(chainPem: string, bundlePem: string): boolean | undefined {
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
  return [...pem.matchAll(BLOCK)].map(([block]) => new X509Certificate(block));
}
