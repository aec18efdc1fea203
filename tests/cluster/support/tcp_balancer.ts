// A TCP balancer in front of replicas, as a Service is: a new connection goes round to the next replica that takes it.
import { passBytes, Relays } from "../../support/relays.ts";

export interface TcpBalancer extends AsyncDisposable {
  readonly port: number;
  counts(): ReadonlyMap<number, number>;
  setTargets(ports: readonly number[]): void;
}

export function startTcpBalancer(port: number): TcpBalancer {
  const listener = Deno.listen({ hostname: "127.0.0.1", port });
  const balancing = new Balancing(listener);
  return {
    port,
    counts: () => balancing.counts,
    setTargets: (ports) => balancing.setTargets(ports),
    [Symbol.asyncDispose]: () => balancing.close(),
  };
}

class Balancing {
  readonly counts = new Map<number, number>();
  readonly #relays: Relays<Deno.TcpConn>;
  #targets: readonly number[] = [];
  #turn = 0;

  constructor(listener: Deno.TcpListener) {
    this.#relays = new Relays(listener, (client) => this.#relay(client));
  }

  setTargets(ports: readonly number[]): void {
    this.#targets = ports;
  }

  async close(): Promise<void> {
    await this.#relays[Symbol.asyncDispose]();
  }

  async #relay(client: Deno.Conn): Promise<void> {
    const target = await this.#connect();
    if (target === undefined) return;
    using _ = this.#relays.own(target);
    await passBytes(client, target);
  }

  async #connect(): Promise<Deno.Conn | undefined> {
    for (const _ of this.#targets) {
      const port = this.#targets[this.#turn++ % this.#targets.length];
      if (port === undefined) continue;
      const connection = await Deno.connect({ hostname: "127.0.0.1", port }).catch(() => undefined);
      if (connection === undefined) continue;
      this.counts.set(port, (this.counts.get(port) ?? 0) + 1);
      return connection;
    }
    return undefined;
  }
}
