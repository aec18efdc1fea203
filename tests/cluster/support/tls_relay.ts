// Ends TLS on a port and hands the plain bytes to another port. Used by fault_proxy.ts to present a wrong certificate.
import type { IssuedCertificate } from "./pki.ts";

/** From where to where, under which certificate. */
export interface TlsRelayOptions {
  readonly port: number;
  readonly targetPort: number;
  readonly certificate: IssuedCertificate;
}

/** A running relay. Its TLS sessions are its own, so no client can resume one that began under another certificate. */
export class TlsRelay implements AsyncDisposable {
  readonly #listener: Deno.TlsListener;
  readonly #targetPort: number;
  readonly #open = new Set<Disposable>();
  readonly #accepting: Promise<void>;

  constructor({ port, targetPort, certificate }: TlsRelayOptions) {
    const { certificatePem: cert, keyPem: key } = certificate;
    this.#listener = Deno.listenTls({ hostname: "127.0.0.1", port, cert, key });
    this.#targetPort = targetPort;
    this.#accepting = this.#accept();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    for (const connection of this.#open) connection[Symbol.dispose]();
    await this.#accepting;
  }

  async #accept(): Promise<void> {
    const relays: Promise<void>[] = [];
    try {
      for (;;) relays.push(this.#relay(await this.#listener.accept()).catch(() => {}));
    } catch {
      // Closed: the relay ends.
    }
    await Promise.all(relays);
  }

  async #relay(client: Deno.TlsConn): Promise<void> {
    using cleanup = new DisposableStack();
    this.#own(client, cleanup);
    await client.handshake();
    const target = await Deno.connect({ hostname: "127.0.0.1", port: this.#targetPort });
    this.#own(target, cleanup);
    await Promise.race([client.readable.pipeTo(target.writable), target.readable.pipeTo(client.writable)]);
  }

  /** Closed when the relay of this connection ends, or all of them do; closing twice is no fault. */
  #own(connection: Deno.Conn, cleanup: DisposableStack): void {
    const entry: Disposable = {
      [Symbol.dispose]: () => {
        if (!this.#open.delete(entry)) return;
        try {
          connection.close();
        } catch {
          // The streams have closed it.
        }
      },
    };
    this.#open.add(entry);
    cleanup.use(entry);
  }
}
