// A listener on node's server that guards connections and drains. On plain HTTP a connection serves one request.
import { createServer, type Server as HttpServer } from "node:http";
import type { Server as HttpsServer } from "node:https";
import { once } from "node:events";
import { Socket } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { ConnectionGuard, type ListenerGuard, UNGUARDED } from "./connection_guard.ts";
import { CONNECTION_LIMITS, NO_LIMIT } from "./connection_table.ts";

export interface HttpListener {
  /** The port in use; differs from a wanted port of 0. */
  readonly port: number;
  /** Stops accepting. Running requests and connected clients have `graceMs` until all is closed. */
  close(graceMs: number): Promise<void>;
}

interface GuardedServer {
  readonly server: HttpServer | HttpsServer;
  readonly guard: ConnectionGuard;
}

interface HttpListenerOptions {
  readonly host: string;
  readonly port: number;
  readonly handler: (
    request: Request,
    client: { readonly remoteAddr: { readonly hostname: string } },
  ) => Response | Promise<Response>;
}

const MAX_HEAD_BYTES = 8 * 1024;

/** A new connection displaces the oldest one of the address that has most: 64 addresses cannot block a probe. */
const PLAIN_GUARD: ListenerGuard = {
  ...UNGUARDED,
  limits: {
    ...NO_LIMIT,
    maxConnections: 64,
    maxUnproven: 64,
    maxUnprovenPerAddress: 16,
    timeoutsMs: { ...CONNECTION_LIMITS.timeoutsMs, unprovenIdle: 5_000, body: 5_000 },
  },
  check: (url) => ({ kind: "plain", url, proves: false }),
  manifestPathProves: () => false,
};

export function openHttpListener({ handler, host, port }: HttpListenerOptions): Promise<HttpListener> {
  const guard = new ConnectionGuard(PLAIN_GUARD);
  const answer = getRequestListener(
    (request, { incoming }) => handler(request, { remoteAddr: { hostname: incoming.socket.remoteAddress ?? "" } }),
    { overrideGlobalObjects: false, autoCleanupIncoming: false },
  );
  const server = createServer({ maxHeaderSize: MAX_HEAD_BYTES, noDelay: true }, (request, response) => {
    if (guard.acceptRequest(request, response)) void answer(request, response);
  });
  server.on("connection", (socket: Socket) => guard.secured(socket));
  return listenGuarded({ server, guard }, { host, port });
}

/** Starts listening. The guard decides when a connection reaches the server's own listeners. */
export async function listenGuarded(
  { server, guard }: GuardedServer,
  { host, port }: Pick<HttpListenerOptions, "host" | "port">,
): Promise<HttpListener> {
  // The guard has its own time limits, which depend on proofs.
  Object.assign(server, { headersTimeout: 0, requestTimeout: 0, keepAliveTimeout: NO_LIMIT.timeoutsMs.idle });
  const begin = server.listeners("connection");
  server.removeAllListeners("connection");
  server.on("connection", (socket: unknown) => {
    if (!(socket instanceof Socket)) return;
    guard.acceptSocket(socket, () => begin.forEach((listener) => void listener.call(server, socket)));
  });
  server.on("clientError", (_error, socket) => socket.destroy());
  server.listen(port, host);
  await once(server, "listening");
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : port,
    close: (graceMs) => closeWithin({ server, guard }, graceMs),
  };
}

const SWEEP_MS = 50;
/** Share of the grace for accepting new connections; running requests need the rest. */
const BACKLOG_SHARE = 1 / 4;

async function closeWithin({ server, guard }: GuardedServer, graceMs: number): Promise<void> {
  const startedMs = performance.now();
  // Wait until no more connections arrive: the kernel resets connections that it has accepted but we have not.
  for (let before = -1; before !== guard.accepted && performance.now() - startedMs < graceMs * BACKLOG_SHARE;) {
    before = guard.accepted;
    await new Promise((resolve) => setTimeout(resolve, SWEEP_MS));
  }
  // The runtime's own function would close idle connections even with an unread next request.
  server.closeIdleConnections = () => {};
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const timer = setTimeout(() => guard.close("all"), Math.max(0, startedMs + graceMs - performance.now()));
  // Keep-alive connections become idle one by one, after their last answer.
  const sweep = setInterval(() => guard.close("idle"), SWEEP_MS);
  await closed;
  clearTimeout(timer);
  clearInterval(sweep);
  guard.stop();
}
