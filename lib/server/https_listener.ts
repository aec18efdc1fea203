// The TLS front door: node:https under a fetch-style handler. Not Deno.serve, which stalls answers of our size by 44 ms
// under TLS and cannot change its certificate.
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";

/** A serving certificate, PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** A listener that answers until it is closed. */
export interface HttpsListener {
  /** The port in use; differs from the wanted one when that was 0. */
  readonly port: number;
  /** New connections get this certificate; open ones go on. Throws when the pair does not fit together. */
  setCertificate(pair: KeyPair): void;
  /** From now on every answer asks its client to leave the connection: who is busy moves on before the listener closes. */
  beginDrain(): void;
  /** Stops accepting, lets running requests finish for at most `graceMs`, then closes every connection. */
  close(graceMs: number): Promise<void>;
}

/** Longest a client may take for the TLS handshake, its headers, and its whole request (ms): the API server needs less. */
const HANDSHAKE_TIMEOUT_MS = 10_000;
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 20_000;
/**
 * Longest a connection may be idle (ms): more than the 90 s after which a Go client closes it. If we closed first, a
 * request could be under way already, and a POST is not sent again: its pod would pass without a gate.
 */
const IDLE_TIMEOUT_MS = 120_000;

/** Starts listening; rejects when the address is taken or the certificate is unusable. */
export async function openHttpsListener(options: {
  readonly host: string;
  readonly port: number;
  readonly certificate: KeyPair;
  readonly handler: (request: Request) => Response | Promise<Response>;
}): Promise<HttpsListener> {
  const { host, port, certificate, handler } = options;
  let isDraining = false;
  const answer = async (request: Request): Promise<Response> => {
    const response = await handler(request);
    response.headers.set("connection", "close");
    return response;
  };
  const server = createServer(
    {
      ...certificate,
      noDelay: true,
      keepAlive: true,
      minVersion: "TLSv1.2",
      ALPNProtocols: ["http/1.1"],
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      connectionsCheckingInterval: 1_000,
    },
    getRequestListener((request) => isDraining ? answer(request) : handler(request), { overrideGlobalObjects: false }),
  );
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.keepAliveTimeout = IDLE_TIMEOUT_MS;
  await listening(server, { host, port });
  return {
    port: portOf(server, port),
    setCertificate: (pair) => server.setSecureContext({ ...pair, minVersion: "TLSv1.2" }),
    beginDrain: () => {
      isDraining = true;
    },
    close: (graceMs) => closeWithin(server, graceMs),
  };
}

function listening(server: Server, address: { readonly host: string; readonly port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(address.port, address.host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function portOf(server: Server, wanted: number): number {
  const address: AddressInfo | string | null = server.address();
  return typeof address === "object" && address !== null ? address.port : wanted;
}

async function closeWithin(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), graceMs);
  // Keep-alive connections become idle one by one as their last answer leaves.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  await closed;
  clearTimeout(timer);
  clearInterval(sweep);
}
