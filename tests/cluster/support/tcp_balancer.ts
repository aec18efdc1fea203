import { passBytes, Relays } from "../../support/relays.ts";

/** A TCP balancer in front of replicas, as a Service is: a new connection goes round to the next replica that takes it. */
export class TcpBalancer implements AsyncDisposable {
  readonly port: number;
  readonly #relays: Relays<Deno.TcpConn>;
  #targets: readonly number[] = [];
  #turn = 0;

  constructor() {
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    this.port = listener.addr.port;
    this.#relays = new Relays(listener, (client) => this.#relay(client));
  }

  setTargets(ports: readonly number[]): void {
    this.#targets = ports;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#relays[Symbol.asyncDispose]();
  }

  async #relay(client: Deno.Conn): Promise<void> {
    for (const _ of this.#targets) {
      const port = this.#targets[this.#turn++ % this.#targets.length] ?? 0;
      const target = await Deno.connect({ hostname: "127.0.0.1", port }).catch(() => undefined);
      if (target === undefined) continue;
      using _owned = this.#relays.own(target);
      return await passBytes(client, target);
    }
  }
}
