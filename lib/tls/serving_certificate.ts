// The certificate that the webhooks are served with, wherever it comes from: files, or Archway's own authority.
import { createPrivateKey, X509Certificate } from "node:crypto";

export interface CertificateInForce {
  readonly cert: string;
  readonly key: string;
  /** What API servers must trust; undefined when another controller of the cluster writes it where they read it. */
  readonly caBundle: string | undefined;
}

export interface ServingCertificate {
  /** In force now; always a pair that fits together. */
  current(): CertificateInForce;
  onChange(listener: (certificate: CertificateInForce) => void): void;
  /** Watches and renews until the signal aborts; never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

/** Why a certificate and a key cannot be served with, or undefined when they can. */
export function findPairProblem(cert: string, key: string): string | undefined {
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))
      ? undefined
      : "the key does not belong to the certificate";
  } catch {
    return "certificate or key is not PEM";
  }
}

/** Keeps the value and its listeners: what every source of certificates is made of. */
export class CertificateCell {
  #current: CertificateInForce;
  readonly #listeners: ((certificate: CertificateInForce) => void)[] = [];

  constructor(first: CertificateInForce) {
    this.#current = first;
  }

  get current(): CertificateInForce {
    return this.#current;
  }

  onChange(listener: (certificate: CertificateInForce) => void): void {
    this.#listeners.push(listener);
  }

  /** Puts a value in force. Answers whether it differs from the one before; only then listeners are called. */
  put(next: CertificateInForce): boolean {
    const before = this.#current;
    if (next.cert === before.cert && next.key === before.key && next.caBundle === before.caBundle) return false;
    this.#current = next;
    for (const listener of this.#listeners) listener(next);
    return true;
  }
}
