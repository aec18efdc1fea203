// Applies the connection table and the path check to the sockets and requests of a listener.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import {
  type Connection,
  CONNECTION_LIMITS,
  type ConnectionLimits,
  ConnectionTable,
  type DropReason,
} from "./connection_table.ts";
import type { PathVerdict } from "./path_check.ts";

export interface ListenerGuard {
  readonly limits: ConnectionLimits;
  /** Judges the target of a request, once its head is complete. */
  readonly check: (url: string) => PathVerdict;
  /** Whether a request by the manifests' path of the proving route counts as well. */
  readonly plainProves: () => boolean;
  readonly dropped: (reason: DropReason) => void;
  /** A request head with an accepted path arrived; `taken` is false when the limits left no place for its body. */
  readonly began: (
    request: { readonly verdict: Exclude<PathVerdict, { kind: "refused" }>; readonly taken: boolean },
  ) => void;
}

/** A rate that never runs out. */
export const UNLIMITED = { burst: Infinity, perSecond: 0 } as const;

/** For listeners of our own tests and playground: accepts everything. */
const OPEN: ListenerGuard = {
  limits: {
    ...CONNECTION_LIMITS,
    maxConnections: Infinity,
    maxUnproven: Infinity,
    maxUnprovenPerAddress: Infinity,
    handshakes: { address: UNLIMITED, strangers: UNLIMITED, reserve: UNLIMITED },
    maxArrivingBytes: Infinity,
    maxUnprovenArrivingBytes: Infinity,
  },
  check: (url) => ({ kind: "secret", url, proves: true }),
  plainProves: () => true,
  dropped: () => {},
  began: () => {},
};

const SWEEP_MS = 1_000;
/** How often handshakes are begun that had to wait: tokens for them come every 50 ms. */
const BEGIN_MS = 20;
/** What a client sends first, its hello, is a few hundred bytes; one with keys for later computers nearly 2 KiB. */
const MAX_HELLO_BYTES = 16 * 1024;
/** A body without a declared size may be as large as the largest that is read. */
const UNDECLARED_BYTES = 7 * 1024 * 1024;

export class ConnectionGuard {
  readonly #guard: ListenerGuard;
  readonly #table: ConnectionTable;
  /** By the client's address and port, which the TCP and the TLS socket of a connection share. */
  readonly #bySocket = new Map<string, Connection>();
  readonly #sweep: ReturnType<typeof setInterval>;
  #begin: ReturnType<typeof setTimeout> | undefined;
  /** When closeIdle() was called last (monotonic ms). */
  #lookedMs = -Infinity;
  #accepted = 0;

  constructor(guard: ListenerGuard = OPEN) {
    this.#guard = guard;
    this.#table = new ConnectionTable({
      limits: guard.limits,
      nowMs: () => performance.now(),
      dropped: guard.dropped,
    });
    this.#sweep = setInterval(() => {
      if (!guard.plainProves()) this.#table.revokePlain();
      this.#table.sweep();
    }, SWEEP_MS);
  }

  /** How long a connection may be idle between requests (ms). */
  get idleTimeoutMs(): number {
    return this.#guard.limits.timeoutsMs.idle;
  }

  /** Takes an accepted socket; `begin` is called when its handshake may go on. Otherwise it is closed. */
  accept(socket: Socket, begin: () => void): void {
    const key = keyOf(socket);
    // A socket that is reset fails; what matters is that it closes.
    socket.on("error", () => {});
    const connection = this.#table.admit(socket.remoteAddress ?? "", {
      bytesRead: () => socket.bytesRead,
      begin: () => {
        // Its client may have gone a moment ago.
        if (!socket.destroyed) begin();
      },
      close: () => isOpening(connection) ? void socket.resetAndDestroy() : void socket.destroy(),
    });
    if (connection === undefined) return void socket.resetAndDestroy();
    this.#accepted++;
    this.#bySocket.set(key, connection);
    // A connection costs next to nothing until then: most of those that only occupy places never send a byte.
    socket.once("readable", () => {
      const { readableLength } = socket;
      if (readableLength === 0 || readableLength > MAX_HELLO_BYTES) return void socket.resetAndDestroy();
      this.#table.becomesReady(connection);
      if (connection.phase === "waiting") this.#beginSoon();
    });
    socket.once("close", () => {
      this.#table.closed(connection);
      // The client's port may have been used again already.
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
    this.#table.becomesIdle(connection);
  }

  /**
   * Whether a request is to be answered. From one that came by no accepted path nothing more is read than its head; it
   * gets a 404 without a body, and the connection ends.
   */
  begins(request: IncomingMessage, response: ServerResponse): boolean {
    const connection = this.#bySocket.get(keyOf(request.socket));
    const verdict = this.#guard.check(request.url ?? "");
    if (connection === undefined) {
      request.socket.destroy();
      return false;
    }
    if (verdict.kind === "refused") {
      this.#guard.dropped("path");
      this.#refuse(connection, { response, status: 404 });
      return false;
    }
    const declared = Number(request.headers["content-length"] ?? UNDECLARED_BYTES);
    const { kind } = verdict;
    const proves = verdict.proves && (kind === "secret" || this.#guard.plainProves());
    // What proves nothing ends with its answer: it may not hold a place.
    if (!proves) response.setHeader("connection", "close");
    const taken = this.#table.bodyBegins(connection, { kind, proves, bytes: declared });
    this.#guard.began({ verdict, taken });
    if (!taken && !proves) {
      this.#refuse(connection, { response, status: 503 });
      return false;
    }
    if (!taken) {
      // Its body is read and dropped: closed before its end, the connection would be reset, and the answer lost with it.
      request.once("end", () => this.#table.becomesIdle(connection)).resume();
      response.writeHead(503, { "content-length": "0" }).end();
      return false;
    }
    request.url = verdict.url;
    request.once("end", () => this.#table.bodyEnds(connection));
    response.once("close", () => {
      // What is left of a body would be read as the next request.
      if (request.complete) this.#table.becomesIdle(connection);
      else connection.socket.close();
    });
    return true;
  }

  /**
   * Closes the connections whose last answer has left and that have been idle since the call before: what had arrived by then
   * has been read. Those without an answered request stay: clients connect when they have one to send.
   */
  closeIdle(): void {
    for (const { phase, proof, sinceMs, socket } of this.#table.connections) {
      if (phase === "idle" && proof !== "none" && sinceMs < this.#lookedMs) socket.close();
    }
    this.#lookedMs = performance.now();
  }

  get accepted(): number {
    return this.#accepted;
  }

  closeAll(): void {
    for (const { socket } of this.#table.connections) socket.close();
  }

  stop(): void {
    clearInterval(this.#sweep);
    clearTimeout(this.#begin);
  }

  #beginSoon(): void {
    this.#begin ??= setTimeout(() => {
      this.#begin = undefined;
      this.#table.beginHandshakes();
      if (this.#table.hasWaiting) this.#beginSoon();
    }, BEGIN_MS);
  }

  #refuse(
    connection: Connection,
    { response, status }: { readonly response: ServerResponse; readonly status: number },
  ): void {
    response.writeHead(status, { connection: "close", "content-length": "0" });
    response.once("finish", () => connection.socket.close());
    response.end();
  }
}

/** Nothing has been sent yet that must arrive: a reset leaves nothing behind in the kernel. */
function isOpening(connection: Connection | undefined): boolean {
  return connection?.phase === "waiting" || connection?.phase === "handshake";
}

function keyOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
