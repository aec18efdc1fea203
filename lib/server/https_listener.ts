// A TLS listener on node:https: with TLS, Deno.serve delays small answers by 44 ms and cannot change its certificate.
import { createServer } from "node:https";
import { getRequestListener } from "@hono/node-server";
import { ConnectionGuard, type ListenerGuard } from "./connection_guard.ts";
import { type HttpListener, listenGuarded } from "./http_listener.ts";

export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

export interface HttpsListener extends HttpListener {
  /** Sets the certificate of new connections. Throws when the pair does not match. */
  setCertificate(pair: KeyPair): void;
  /** From now on every answer closes its connection, so that clients move to other replicas in time. */
  beginDrain(): void;
}

export interface HttpsListenerOptions {
  readonly host: string;
  readonly port: number;
  readonly certificate: KeyPair;
  readonly handler: (request: Request) => Response | Promise<Response>;
  readonly guard?: ListenerGuard | undefined;
  /** PEM of the CAs of required client certificates; undefined requests none. */
  readonly clientCa?: string | undefined;
}

export async function openHttpsListener(options: HttpsListenerOptions): Promise<HttpsListener> {
  const { host, port, certificate, handler, clientCa } = options;
  let isDraining = false;
  const answer = getRequestListener(
    async (request) => {
      const response = await handler(request);
      if (isDraining) response.headers.set("connection", "close");
      return response;
    },
    { overrideGlobalObjects: false, autoCleanupIncoming: false },
  );
  const clientAuth = clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: true };
  const guard = new ConnectionGuard(options.guard);
  const server = createServer(
    {
      ...certificate,
      ...clientAuth,
      noDelay: true,
      keepAlive: true,
      minVersion: "TLSv1.2",
      ALPNProtocols: ["http/1.1"],
    },
    (request, response) => {
      if (guard.acceptRequest(request, response)) void answer(request, response);
    },
  );
  server.on("secureConnection", (socket) => guard.secured(socket));
  // The client does not use TLS, or has disconnected: close without a report.
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  return {
    ...await listenGuarded({ server, guard }, { host, port }),
    setCertificate: (pair) => server.setSecureContext({ ...pair, ...clientAuth, minVersion: "TLSv1.2" }),
    beginDrain: () => void (isDraining = true),
  };
}
