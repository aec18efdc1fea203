// What the proxies and balancers of the tests share: each connection to a port is taken and relayed until it or all end.

/** Takes connections and relays each. Disposed of, it takes no more, closes those that are open and waits for the relays. */
export class Relays<Client extends Deno.Conn> implements AsyncDisposable {
  readonly #listener: Deno.Listener<Client>;
  readonly #relay: (client: Client) => Promise<void>;
  readonly #open = new Set<Deno.Conn>();
  readonly #accepting: Promise<void>;

  /** `relay` serves one connection, which is closed after it; a fault of it concerns no other connection. */
  constructor(listener: Deno.Listener<Client>, relay: (client: Client) => Promise<void>) {
    this.#listener = listener;
    this.#relay = relay;
    this.#accepting = this.#accept();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    for (const connection of [...this.#open]) this.close(connection);
    await this.#accepting;
  }

  /** Takes in a connection that a relay opened: it is closed with all others, if it is not before. */
  own(connection: Deno.Conn): Disposable {
    this.#open.add(connection);
    return { [Symbol.dispose]: () => this.close(connection) };
  }

  /** Closes a connection that was taken or is owned; a second time does nothing. */
  close(connection: Deno.Conn): void {
    if (!this.#open.delete(connection)) return;
    try {
      connection.close();
    } catch {
      // Its streams have closed it.
    }
  }

  async #accept(): Promise<void> {
    const relays: Promise<void>[] = [];
    try {
      for (;;) relays.push(this.#serve(await this.#listener.accept()).catch(() => {}));
    } catch {
      // Closed: no more will come.
    }
    await Promise.all(relays);
  }

  async #serve(client: Client): Promise<void> {
    using _ = this.own(client);
    await this.#relay(client);
  }
}

/** Passes bytes both ways until one side has ended. */
export async function passBytes(one: Deno.Conn, other: Deno.Conn): Promise<void> {
  await Promise.race([one.readable.pipeTo(other.writable), other.readable.pipeTo(one.writable)]);
}
