// A TLS listener under a fetch-style handler: node:https, because Deno.serve delays answers of our size by 44 ms under TLS
// and cannot change its certificate. A guard sees each TCP connection before its handshake: one that is closed there costs
// 0.06 ms of CPU time, a handshake ten times that.
import { createServer, type Server } from "node:https";
import { type AddressInfo, Socket } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { ConnectionGuard, type ListenerGuard } from "./connection_guard.ts";

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
  /** From now on every answer requests its client to close the connection, so that clients connect to other replicas before the end. */
  beginDrain(): void;
  /**
   * Stops accepting, lets running requests, and those of clients that have connected already, finish for at most `graceMs`, then
   * closes every connection.
   */
  close(graceMs: number): Promise<void>;
}

export interface HttpsListenerOptions {
  readonly host: string;
  readonly port: number;
  readonly certificate: KeyPair;
  readonly handler: (request: Request) => Response | Promise<Response>;
  /** Limits connections and request lines; absent: accepts all. */
  readonly guard?: ListenerGuard | undefined;
  /** PEM of the CAs whose client certificates are required and verified; without it none is requested. */
  readonly clientCa?: string | undefined;
}

/** Starts listening; rejects when the address is taken or the certificate is unusable. */
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
  const clients = clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: true };
  const guard = new ConnectionGuard(options.guard);
  const server = createServer(
    {
      ...certificate,
      ...clients,
      noDelay: true,
      keepAlive: true,
      minVersion: "TLSv1.2",
      ALPNProtocols: ["http/1.1"],
    },
    (request, response) => {
      if (guard.begins(request, response)) void answer(request, response);
    },
  );
  // The guard has time limits of its own, by what a connection has proven.
  Object.assign(server, { headersTimeout: 0, requestTimeout: 0, keepAliveTimeout: guard.idleTimeoutMs });
  guardConnections(server, guard);
  await listening(server, { host, port });
  return {
    port: portOf(server, port),
    setCertificate: (pair) => server.setSecureContext({ ...pair, ...clients, minVersion: "TLSv1.2" }),
    beginDrain: () => {
      isDraining = true;
    },
    close: (graceMs) => closeWithin({ server, guard }, graceMs),
  };
}

/** Puts the guard before the server's own listener, which begins the handshake. */
function guardConnections(server: Server, guard: ConnectionGuard): void {
  const [beginHandshake] = server.listeners("connection");
  if (beginHandshake === undefined) throw new Error("Cannot guard the TLS listener: it takes no connections.");
  server.removeAllListeners("connection");
  server.on("connection", (socket) => {
    if (socket instanceof Socket) guard.accept(socket, () => void beginHandshake.call(server, socket));
  });
  server.on("secureConnection", (socket) => guard.secured(socket));
  // The client does not use TLS, or has disconnected: its socket is closed without a report.
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  server.on("clientError", (_error, socket) => socket.destroy());
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

/** Between two looks at what is left (ms). */
const SWEEP_MS = 50;

async function closeWithin(
  { server, guard }: { readonly server: Server; readonly guard: ConnectionGuard },
  graceMs: number,
): Promise<void> {
  const endMs = performance.now() + graceMs;
  await backlogTaken(guard, graceMs * BACKLOG_SHARE);
  // The runtime would close idle connections here, also those whose next request has arrived unread.
  server.closeIdleConnections = () => {};
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const timer = setTimeout(() => guard.closeAll(), Math.max(0, endMs - performance.now()));
  // Keep-alive connections become idle one by one as their last answer leaves.
  const sweep = setInterval(() => guard.closeIdle(), SWEEP_MS);
  await closed;
  clearTimeout(timer);
  clearInterval(sweep);
  guard.stop();
}

/** Of the grace, while new connections come all the time: who has a request under way needs the rest. */
const BACKLOG_SHARE = 1 / 4;

/** Resolves when no connection has come for a moment, or the time is over: the kernel resets those that it has taken and that we have not. */
async function backlogTaken(guard: ConnectionGuard, limitMs: number): Promise<void> {
  const endMs = performance.now() + limitMs;
  for (let before = -1; before !== guard.accepted && performance.now() < endMs;) {
    before = guard.accepted;
    await new Promise((resolve) => setTimeout(resolve, SWEEP_MS));
  }
}
