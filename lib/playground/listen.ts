// A listener on loopback for a fetch-style handler: plain by Deno.serve, TLS by node:https. Used by API server and registry.
import { getRequestListener } from "@hono/node-server";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";

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

/**
 * Listens with TLS. node:https rather than Deno.serve, which delays each TLS answer of 0.4 to 2 KB by 44 ms
 * (denoland/deno leaves TCP_NODELAY off there).
 */
export function listenTls(
  handler: Handler,
  options: { readonly certificate: string; readonly key: string; readonly port?: number },
): Promise<Listener> {
  const answer = getRequestListener(handler, { overrideGlobalObjects: false });
  const server = createServer({ cert: options.certificate, key: options.key, noDelay: true }, (request, response) => {
    void answer(request, response);
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, "127.0.0.1", () => {
      const host = `127.0.0.1:${portOf(server.address())}`;
      const close = (): Promise<void> =>
        new Promise((done) => {
          server.close(() => done());
          server.closeAllConnections();
        });
      resolve({ host, origin: `https://${host}`, [Symbol.asyncDispose]: close });
    });
  });
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === "string") throw new Error("Cannot listen: the server has no port.");
  return address.port;
}
