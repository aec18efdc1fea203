// Hosts whose own certificate is trusted although its chain is not. A request is first tried with verified TLS. If the
// certificate is refused, it is tried with the certificate pinned, and later requests begin pinned. A server gets
// nothing of a request before one of the two checks has passed.
//
//   verified ──certificate refused──▶ pinned ──accepted──▶ kept: the next request starts pinned
//      ▲                                └─ unlisted, or refused: the verified attempt's fault, or why
//      └── kept, but the server shows another certificate now
import { LRUCache } from "lru-cache";
import { errorText } from "../log.ts";
import { judgePin } from "./pin.ts";

/** How to send one request in either way. Both reject when no answer comes. */
interface PinnableRequest {
  readonly trusted: readonly string[];
  readonly nowMs: number;
  readonly verified: () => Promise<Response>;
  readonly pinned: (judge: (certificate: Uint8Array) => void) => Promise<Response>;
}

const MAX_HOSTS = 256;

/** The certificate is not one of the trusted ones: its chain decides. */
class Unlisted extends Error {}
class PinRefused extends Error {}

export class PinnedHosts {
  readonly #trusted = new LRUCache<string, readonly string[]>({ max: MAX_HOSTS });

  async fetch(url: URL, request: PinnableRequest): Promise<Response> {
    const { trusted, verified } = request;
    if (url.protocol !== "https:" || trusted.length === 0) return await verified();
    const known = this.#trusted.get(url.host);
    if (known !== undefined && isSame(known, trusted)) {
      try {
        return await this.#pinned(url, request);
      } catch (error) {
        if (!(error instanceof Unlisted)) throw error;
        this.#trusted.delete(url.host);
      }
    }
    try {
      return await verified();
    } catch (error) {
      if (!isCertificateRefused(error)) throw error;
      return await this.#pinned(url, request).catch((second) => {
        const wasAccepted = this.#trusted.has(url.host);
        throw wasAccepted || second instanceof PinRefused ? second : error;
      });
    }
  }

  #pinned(url: URL, { trusted, nowMs, pinned }: PinnableRequest): Promise<Response> {
    return pinned((certificate) => {
      const checked = judgePin(certificate, { host: url.hostname, trusted, nowMs });
      if (checked.kind === "unlisted") throw new Unlisted("certificate is not trusted itself");
      if (checked.kind === "refused") throw new PinRefused(checked.why);
      this.#trusted.set(url.host, trusted);
    });
  }
}

/** Whether the handshake refused the certificate, so that nothing was sent, for another reason than its dates. */
function isCertificateRefused(error: unknown): boolean {
  const text = errorText(error);
  return /invalid peer certificate/.test(text) && !/certificate (expired|not valid yet)/.test(text);
}

function isSame(left: readonly string[], right: readonly string[]): boolean {
  return left === right || left.length === right.length && left.every((text, at) => text === right[at]);
}
