// Applies connection table and path check to a listener's sockets and requests.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import {
  type Connection,
  type ConnectionLimits,
  ConnectionTable,
  type DropReason,
  NO_LIMIT,
} from "./connection_table.ts";
import type { AcceptedPath, CheckedPath } from "./path_check.ts";

export interface ListenerGuard {
  readonly limits: ConnectionLimits;
  /** Judges a request's target once its head is complete. */
  readonly check: (url: string) => CheckedPath;
  /** Whether the manifests' path of the proving route proves a client, too. */
  readonly manifestPathProves: () => boolean;
  readonly dropped: (reason: DropReason) => void;
  /** A request head with an accepted path arrived. `taken`: false when the limits leave no room for its body. */
  readonly began: (path: AcceptedPath, taken: boolean) => void;
}

/** Accepts everything, without limits. */
export const UNGUARDED: ListenerGuard = {
  limits: NO_LIMIT,
  check: (url) => ({ kind: "secret", url, proves: true }),
  manifestPathProves: () => true,
  dropped: () => {},
  began: () => {},
};

const REFUSAL = { connection: "close", "content-length": "0" } as const;
const SWEEP_MS = 1_000;
/** Interval for starting waiting handshakes (ms): tokens arrive every 50 ms. */
const BEGIN_MS = 20;
/** Most bytes before the handshake: a ClientHello has less than 2 KiB. */
const MAX_HELLO_BYTES = 16 * 1024;
/** Assumed size of a body without a declared one: the largest that is read. */
const UNDECLARED_BYTES = 7 * 1024 * 1024;

export class ConnectionGuard {
  readonly #guard: ListenerGuard;
  readonly #table: ConnectionTable;
  /** By the client's address and port, which a connection's TCP and TLS sockets share. */
  readonly #bySocket = new Map<string, Connection>();
  /**
   * The secret path that each connection sent since the last sweep. Its client knows that path, so comparing by `===`
   * reveals nothing new. The check in constant time is a tenth of an answer: without this, benchmark B1 was slower each time that it was tried.
   */
  readonly #acceptedPaths = new Map<Connection, { readonly target: string; readonly path: AcceptedPath }>();
  readonly #sweep: ReturnType<typeof setInterval>;
  #begin: ReturnType<typeof setTimeout> | undefined;
  #lastCloseMs = -Infinity;
  accepted = 0;

  constructor(guard: ListenerGuard = UNGUARDED) {
    this.#guard = guard;
    this.#table = new ConnectionTable(guard.limits, () => performance.now(), guard.dropped);
    this.#sweep = setInterval(() => {
      this.#acceptedPaths.clear();
      if (!guard.manifestPathProves()) this.#table.revokePlain();
      this.#table.sweep();
    }, SWEEP_MS);
  }

  /** Admits or closes a new socket. Calls `begin` when its handshake may start. */
  acceptSocket(socket: Socket, begin: () => void): void {
    const key = keyOf(socket);
    // Reset sockets emit errors; only their close matters.
    socket.on("error", () => {});
    const connection = this.#table.admit(socket.remoteAddress ?? "", {
      bytesRead: () => socket.bytesRead,
      // The client may have just left.
      begin: () => socket.destroyed || begin(),
      // Before the first head nothing was sent that must arrive, and a reset leaves nothing in the kernel.
      close: () => void (isOpening() ? socket.resetAndDestroy() : socket.destroy()),
    });
    const isOpening = (): boolean => connection?.phase === "waiting" || connection?.phase === "handshake";
    if (connection === undefined) return void socket.resetAndDestroy();
    this.accepted++;
    this.#bySocket.set(key, connection);
    // Before its first byte a connection costs almost nothing, and most useless connections never send a byte.
    socket.once("readable", () => {
      const { readableLength } = socket;
      if (readableLength === 0 || readableLength > MAX_HELLO_BYTES) return void socket.resetAndDestroy();
      this.#table.becomesReady(connection);
      this.#beginSoon();
    });
    socket.once("close", () => {
      this.#table.closed(connection);
      // The client's port may have been reused already.
      if (this.#bySocket.get(key) === connection) this.#bySocket.delete(key);
    });
  }

  secured(socket: Socket): void {
    const connection = this.#bySocket.get(keyOf(socket));
    if (connection === undefined) return void socket.destroy();
    const closeTcp = connection.socket.close;
    connection.socket.close = () => {
      socket.destroy();
      closeTcp();
    };
    this.#table.enter(connection, "idle");
  }

  /** Whether to handle a request. Without an accepted path it gets a 404, and the connection closes. */
  acceptRequest(request: IncomingMessage, response: ServerResponse): boolean {
    const connection = this.#bySocket.get(keyOf(request.socket));
    if (connection === undefined) return !request.socket.destroy();
    // One answer at a time for unproven clients: pipelined requests would all be answered, even after a close.
    if (connection.proof === "none" && connection.phase !== "idle") {
      connection.socket.close();
      return false;
    }
    const path = this.#checkedPath(connection, request.url ?? "");
    const close = (): void => connection.socket.close();
    if (path.kind === "refused") {
      this.#guard.dropped("path");
      response.once("finish", close).writeHead(404, REFUSAL).end();
      return false;
    }
    const bytes = Number(request.headers["content-length"] ?? UNDECLARED_BYTES);
    const proves = path.proves && (path.kind === "secret" || this.#guard.manifestPathProves());
    const taken = this.#table.bodyBegins(connection, { kind: path.kind, proves, bytes });
    this.#guard.began(path, taken);
    if (taken) {
      // An unproven connection ends with its answer, to free its slot.
      if (!proves) response.setHeader("connection", "close");
      request.url = path.url;
      request.once("end", () => this.#table.enter(connection, "answer"));
      // The unread rest of an incomplete body would be read as the next request.
      response.once("close", () => request.complete ? this.#table.enter(connection, "idle") : close());
      return true;
    }
    // On a proven connection, read and drop the body: to close before its end would reset it and lose the answer.
    if (proves) request.once("end", () => this.#table.enter(connection, "idle")).resume();
    else response.once("finish", close);
    response.writeHead(503, proves ? { "content-length": "0" } : REFUSAL).end();
    return false;
  }

  /** `idle`: proven connections that have been idle since the previous call. Others may be about to send a request. */
  close(which: "idle" | "all"): void {
    for (const { phase, proof, sinceMs, socket } of this.#table.connections) {
      const isIdle = phase === "idle" && proof !== "none" && sinceMs < this.#lastCloseMs;
      if (isIdle || which === "all") socket.close();
    }
    this.#lastCloseMs = performance.now();
  }

  stop(): void {
    clearInterval(this.#sweep);
    clearTimeout(this.#begin);
  }

  #checkedPath(connection: Connection, target: string): CheckedPath {
    const before = this.#acceptedPaths.get(connection);
    if (before?.target === target) return before.path;
    const path = this.#guard.check(target);
    if (path.kind === "secret") this.#acceptedPaths.set(connection, { target, path });
    return path;
  }

  #beginSoon(): void {
    if (!this.#table.hasWaiting) return;
    this.#begin ??= setTimeout(() => {
      this.#begin = undefined;
      this.#table.beginHandshakes();
      this.#beginSoon();
    }, BEGIN_MS);
  }
}

function keyOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
