// Terminates TLS on a port and forwards the plain bytes to another port.
import { passBytes, Relays } from "../../support/relays.ts";
import type { IssuedCertificate } from "./pki.ts";

export interface TlsRelayOptions {
  readonly port: number;
  readonly targetPort: number;
  readonly certificate: IssuedCertificate;
}

/** A running relay. Its TLS sessions are its own, so no client can resume one that began under another certificate. */
export class TlsRelay implements AsyncDisposable {
  readonly #relays: Relays<Deno.TlsConn>;
  readonly #targetPort: number;

  constructor({ port, targetPort, certificate }: TlsRelayOptions) {
    const { certificatePem: cert, keyPem: key } = certificate;
    const listener = Deno.listenTls({ hostname: "127.0.0.1", port, cert, key });
    this.#targetPort = targetPort;
    this.#relays = new Relays(listener, (client) => this.#relay(client));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#relays[Symbol.asyncDispose]();
  }

  async #relay(client: Deno.TlsConn): Promise<void> {
    await client.handshake();
    const target = await Deno.connect({ hostname: "127.0.0.1", port: this.#targetPort });
    using _ = this.#relays.own(target);
    await passBytes(client, target);
  }
}
