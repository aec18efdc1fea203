// An HTTP proxy on loopback that opens every tunnel to one server, whatever name is asked for; it keeps what was asked.
import { Relays } from "./relays.ts";

export interface TunnelProxy extends AsyncDisposable {
  /** `http://127.0.0.1:port`. */
  readonly origin: string;
  /** The head of each request, as text. */
  readonly heads: readonly string[];
}

/** Starts one. `target`: `127.0.0.1:port`; undefined: every tunnel is refused. */
export function openTunnelProxy(target: string | undefined): TunnelProxy {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const heads: string[] = [];
  const relays = new Relays(listener, async (client): Promise<void> => {
    const buffer = new Uint8Array(4_096);
    heads.push(new TextDecoder().decode(buffer.subarray(0, await client.read(buffer) ?? 0)));
    if (target === undefined) {
      await client.write(new TextEncoder().encode("HTTP/1.1 502 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"));
      return;
    }
    const server = await Deno.connect({ hostname: "127.0.0.1", port: Number(target.split(":")[1]) });
    using _ = relays.own(server);
    await client.write(new TextEncoder().encode("HTTP/1.1 200 OK\r\n\r\n"));
    await Promise.allSettled([client.readable.pipeTo(server.writable), server.readable.pipeTo(client.writable)]);
  });
  return {
    origin: `http://127.0.0.1:${listener.addr.port}`,
    heads,
    [Symbol.asyncDispose]: () => relays[Symbol.asyncDispose](),
  };
}
