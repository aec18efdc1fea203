// The serving certificate of the webhooks, from files or Archway's own authority.
import { createPrivateKey, X509Certificate } from "node:crypto";
import type { IssuedPair } from "../../tls/issue.ts";

export interface CertificateInForce extends IssuedPair {
  /** What API servers must trust; undefined when another controller injects it. */
  readonly caBundle: string | undefined;
}

/** Why a certificate and key cannot be used, or undefined. */
export function findPairProblem(cert: string, key: string): string | undefined {
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))
      ? undefined
      : "the key does not belong to the certificate";
  } catch {
    return "certificate or key is not PEM";
  }
}

/** Sets the current certificate. Returns true and calls listeners only if it changed. */
type PutInForce = (next: CertificateInForce) => boolean;

export class ServingCertificate {
  readonly #follow: (put: PutInForce, signal: AbortSignal) => Promise<void>;
  readonly #listeners: ((certificate: CertificateInForce) => void)[] = [];
  #current: CertificateInForce;

  /** `follow`: watches and renews until the signal aborts; never rejects. */
  constructor(first: CertificateInForce, follow: (put: PutInForce, signal: AbortSignal) => Promise<void>) {
    this.#current = first;
    this.#follow = follow;
  }

  current(): CertificateInForce {
    return this.#current;
  }

  onChange(listener: (certificate: CertificateInForce) => void): void {
    this.#listeners.push(listener);
  }

  async run(signal: AbortSignal): Promise<void> {
    await this.#follow((next) => this.#put(next), signal);
  }

  #put(next: CertificateInForce): boolean {
    const before = this.#current;
    if (next.cert === before.cert && next.key === before.key && next.caBundle === before.caBundle) return false;
    this.#current = next;
    for (const listener of this.#listeners) listener(next);
    return true;
  }
}
