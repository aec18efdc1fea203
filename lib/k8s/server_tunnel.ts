// A CONNECT proxy on loopback to one server, so that `fetch` can verify it by a kubeconfig's tls-server-name.

export interface ServerTunnel extends AsyncDisposable {
  readonly origin: string;
}

const MAX_HEAD_BYTES = 4_096;

/** Listens on loopback. TLS is end to end, so other local processes gain nothing. */
export function openServerTunnel(target: { readonly hostname: string; readonly port: number }): ServerTunnel {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open = new Set<Deno.Conn>();
  const relays = new Set<Promise<void>>();
  const accepting = (async (): Promise<void> => {
    for await (const client of listener) {
      const relay = connect(client, { target, open }).finally(() => relays.delete(relay));
      relays.add(relay);
    }
  })();
  return {
    origin: `http://127.0.0.1:${listener.addr.port}`,
    [Symbol.asyncDispose]: async () => {
      listener.close();
      await accepting;
      for (const connection of open) close(connection);
      await Promise.all(relays);
    },
  };
}

async function connect(
  client: Deno.Conn,
  { target, open }: {
    readonly target: { readonly hostname: string; readonly port: number };
    readonly open: Set<Deno.Conn>;
  },
): Promise<void> {
  const own = (connection: Deno.Conn): Deno.Conn => {
    open.add(connection);
    return connection;
  };
  own(client);
  let server: Deno.Conn | undefined;
  try {
    if (!await readConnect(client)) return;
    server = own(await Deno.connect(target));
    await client.write(new TextEncoder().encode("HTTP/1.1 200 OK\r\n\r\n"));
    await Promise.allSettled([
      client.readable.pipeTo(server.writable),
      server.readable.pipeTo(client.writable),
    ]);
  } catch {
    // The client sees a closed connection, as if the server had closed it.
  } finally {
    for (const connection of [client, server]) {
      if (connection !== undefined && open.delete(connection)) close(connection);
    }
  }
}

/** Whether a CONNECT request came. Ignores its target: there is only one. */
async function readConnect(client: Deno.Conn): Promise<boolean> {
  const buffer = new Uint8Array(MAX_HEAD_BYTES);
  let head = "";
  for (let length = 0; !head.endsWith("\r\n\r\n");) {
    const read = await client.read(buffer.subarray(length));
    if (read === null || read === 0) return false;
    length += read;
    head = new TextDecoder().decode(buffer.subarray(0, length));
  }
  return head.startsWith("CONNECT ");
}

/** Closes a connection, unless a finished pipe has closed it already. */
function close(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error;
  }
}
