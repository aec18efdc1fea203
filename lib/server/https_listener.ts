// A TLS listener on node:https: Deno.serve delays answers of our size by 44 ms under TLS and cannot change its certificate.
import { createServer } from "node:https";
import { getRequestListener } from "@hono/node-server";
import { ConnectionGuard, type ListenerGuard } from "./connection_guard.ts";
import { type HttpListener, listenGuarded } from "./http_listener.ts";

export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

export interface HttpsListener extends HttpListener {
  /** New connections get this certificate; open ones go on. Throws when the pair does not fit together. */
  setCertificate(pair: KeyPair): void;
  /** From now on every answer requests its client to close the connection, so that clients connect to other replicas before the end. */
  beginDrain(): void;
}

export interface HttpsListenerOptions {
  readonly host: string;
  readonly port: number;
  readonly certificate: KeyPair;
  readonly handler: (request: Request) => Response | Promise<Response>;
  readonly guard?: ListenerGuard | undefined;
  /** PEM of the CAs whose client certificates are required and verified; without it none is requested. */
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
      if (guard.begins(request, response)) void answer(request, response);
    },
  );
  server.on("secureConnection", (socket) => guard.secured(socket));
  // The client does not use TLS, or has disconnected: its socket is closed without a report.
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  return {
    ...await listenGuarded({ server, guard }, { host, port }),
    setCertificate: (pair) => server.setSecureContext({ ...pair, ...clientAuth, minVersion: "TLSv1.2" }),
    beginDrain: () => void (isDraining = true),
  };
}
