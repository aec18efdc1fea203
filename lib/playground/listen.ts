// A listener on loopback for a fetch-style handler: plain by Deno.serve, TLS by the service's own TLS listener.
import { type KeyPair, openHttpsListener } from "../server/https_listener.ts";

/** Request in, response out. */
export type Handler = (request: Request) => Response | Promise<Response>;

/** A running listener. Disposing it ends it together with its open connections. */
export interface Listener extends AsyncDisposable {
  /** `127.0.0.1:port`. */
  readonly host: string;
  /** `http://127.0.0.1:port` or `https://…`. */
  readonly origin: string;
}

/** Listens on a free port, or on the given one, without TLS. */
export function listenPlain(handler: Handler, options: { readonly port?: number } = {}): Listener {
  const server = Deno.serve({ hostname: "127.0.0.1", port: options.port ?? 0, onListen: () => {} }, handler);
  const host = `127.0.0.1:${server.addr.port}`;
  return { host, origin: `http://${host}`, [Symbol.asyncDispose]: () => server.shutdown() };
}

/** Listens with TLS on a free port, or on the given one. */
export async function listenTls(
  handler: Handler,
  options: { readonly certificate: KeyPair; readonly port?: number },
): Promise<Listener> {
  const { certificate, port = 0 } = options;
  const server = await openHttpsListener({ host: "127.0.0.1", port, certificate, handler });
  const host = `127.0.0.1:${server.port}`;
  return { host, origin: `https://${host}`, [Symbol.asyncDispose]: () => server.close(0) };
}
