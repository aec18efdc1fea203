// The way to a server, which can be closed: connections are cut, and new ones end at once, until it is opened again.
import { passBytes, Relays } from "../../support/relays.ts";

/** A gate. Dispose it to end it with all that goes through. */
export interface OutageGate extends AsyncDisposable {
  readonly port: number;
  readonly isClosed: boolean;
  readonly refusals: number;
  close(): void;
  open(): void;
}

export function openOutageGate(targetPort: number): OutageGate {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const clients = new Set<Deno.Conn>();
  let refusals = 0;
  let isClosed = false;
  const relays = new Relays(listener, async (client) => {
    if (isClosed) return void refusals++;
    clients.add(client);
    try {
      const target = await Deno.connect({ hostname: "127.0.0.1", port: targetPort });
      using _ = relays.own(target);
      await passBytes(client, target);
    } finally {
      clients.delete(client);
    }
  });
  return {
    port: listener.addr.port,
    get isClosed() {
      return isClosed;
    },
    get refusals() {
      return refusals;
    },
    close: () => {
      [isClosed, refusals] = [true, 0];
      for (const client of [...clients]) relays.close(client);
    },
    open: () => {
      isClosed = false;
    },
    [Symbol.asyncDispose]: () => relays[Symbol.asyncDispose](),
  };
}
