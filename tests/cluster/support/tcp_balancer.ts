// A TCP balancer in front of replicas, as a Service is: a new connection goes round to the next replica that takes it.

/** A running balancer. */
export interface TcpBalancer extends AsyncDisposable {
  readonly port: number;
  /** Connections that each target port got. */
  counts(): ReadonlyMap<number, number>;
  /** Replaces the targets; open connections stay. */
  setTargets(ports: readonly number[]): void;
}

/** Starts it on a loopback port; targets may be set later, when their ports are known. */
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
  readonly #listener: Deno.Listener;
  readonly #open = new Set<Deno.Conn>();
  readonly #accepting: Promise<void>;
  #targets: readonly number[] = [];
  #turn = 0;

  constructor(listener: Deno.Listener) {
    this.#listener = listener;
    this.#accepting = this.#accept();
  }

  setTargets(ports: readonly number[]): void {
    this.#targets = ports;
  }

  async close(): Promise<void> {
    this.#listener.close();
    for (const connection of [...this.#open]) this.#close(connection);
    await this.#accepting;
  }

  async #accept(): Promise<void> {
    const relays: Promise<void>[] = [];
    try {
      for (;;) relays.push(this.#relay(await this.#listener.accept()).catch(() => {}));
    } catch {
      // Closed.
    }
    await Promise.all(relays);
  }

  async #relay(client: Deno.Conn): Promise<void> {
    this.#open.add(client);
    const target = await this.#connect();
    if (target !== undefined) {
      this.#open.add(target);
      await Promise.race([client.readable.pipeTo(target.writable), target.readable.pipeTo(client.writable)])
        .catch(() => {});
      this.#close(target);
    }
    this.#close(client);
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

  #close(connection: Deno.Conn): void {
    if (!this.#open.delete(connection)) return;
    try {
      connection.close();
    } catch {
      // The streams have closed it.
    }
  }
}
