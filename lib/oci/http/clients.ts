// Pools of verified connections, one for each set of certificates.
import { type Exchange, failed } from "./exchange.ts";

/** Sets of certificates kept open: they change rarely, and hosts with their own are few. */
const MAX_CLIENTS = 64;

export class HttpClients implements Disposable {
  readonly #clients = new Map<string, Deno.HttpClient>();

  /** The pool to send through. Throws Misconfigured when the certificates cannot be read. */
  clientFor(exchange: Exchange): Deno.HttpClient {
    const { caCertificates, clientCertificates = [] } = exchange.transport;
    const key = JSON.stringify([caCertificates, clientCertificates[0]]);
    const known = this.#clients.get(key);
    if (known !== undefined) return known;
    const [oldest] = this.#clients.size >= MAX_CLIENTS ? this.#clients : [];
    if (oldest !== undefined) {
      this.#clients.delete(oldest[0]);
      oldest[1].close();
    }
    const client = openClient(exchange);
    this.#clients.set(key, client);
    return client;
  }

  [Symbol.dispose](): void {
    for (const client of this.#clients.values()) client.close();
    this.#clients.clear();
  }
}

/** HTTP/1.1: with HTTP/2 the runtime waits 40 ms on small answers. */
function openClient(exchange: Exchange): Deno.HttpClient {
  const { caCertificates, clientCertificates: [own] = [] } = exchange.transport;
  const tls = own === undefined ? {} : { cert: own.certificate, key: own.key };
  try {
    return Deno.createHttpClient({ caCerts: [...caCertificates], http2: false, ...tls });
  } catch (error) {
    throw failed(exchange, "Misconfigured", "is configured with certificates that cannot be read", error);
  }
}
