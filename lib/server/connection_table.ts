// Which connections of the webhook port are kept. A request by the route of pods proves its connection. An unproven
// connection is worth no more than any client's, whatever other paths that client knows. Under pressure, the oldest
// unproven connection of the address with most is closed first, and unproven addresses lose theirs before proven ones.
//
//   waiting ─▶ handshake ─▶ idle ─▶ body ─▶ answer ─▶ idle …      each phase has its time limit
import type { TokenBucket } from "./token_bucket.ts";
import { type Address, HandshakeBudget, type HandshakeRates, type Proof } from "./handshake_budget.ts";
import { LARGE_BYTES } from "./load_limit.ts";

/** `waiting`: until the client begins its handshake and we continue it; `idle`: between requests. */
type Phase = "waiting" | "handshake" | "idle" | "body" | "answer";

/** Why we closed a connection: a metric's label. */
export const DROP_REASONS = ["rate", "address", "unproven", "total", "timeout", "path"] as const;
export type DropReason = typeof DROP_REASONS[number];

export interface Connection {
  readonly address: Address<Connection>;
  readonly socket: ConnectionSocket;
  phase: Phase;
  sinceMs: number;
  /** Bytes received by the last check, and when they last grew (monotonic ms). */
  bytesSeen: number;
  grewMs: number;
  proof: Proof | "none";
  /** The buckets its handshake took a token from, until it is proven. */
  paid: readonly TokenBucket[];
  /** Declared size of the arriving large body; 0 for a small one and in other phases. */
  bodyBytes: number;
}

interface ConnectionSocket {
  readonly bytesRead: () => number;
  readonly begin: () => void;
  close: () => void;
}

export interface ConnectionLimits {
  readonly maxConnections: number;
  readonly maxUnproven: number;
  readonly maxUnprovenPerAddress: number;
  readonly handshakes: HandshakeRates;
  /** Bytes of large bodies arriving at a time, on proven connections and on all others. */
  readonly maxArrivingBytes: number;
  readonly maxUnprovenArrivingBytes: number;
  /** Time limit of each phase (ms); `unprovenIdle`: until the first complete head. */
  readonly timeoutsMs: Readonly<Record<Phase | "unprovenIdle", number>>;
}

/**
 * Room for three API servers with 600 requests in flight each (the default). Webhooks use HTTP/1.1, so each request has
 * its own connection. New connections are briefly unproven, and one address may have all those of an API server. A
 * connection costs about 43 KB once its handshake begins. Go clients close idle connections after 90 s. We wait longer:
 * if we closed first, a request could be under way already, and a POST is not resent.
 */
export const CONNECTION_LIMITS: ConnectionLimits = {
  maxConnections: 3_000,
  maxUnproven: 1_024,
  maxUnprovenPerAddress: 768,
  handshakes: {
    address: { burst: 64, perSecond: 20 },
    unproven: { burst: 64, perSecond: 20 },
    reserve: { burst: 2, perSecond: 0.2 },
  },
  maxArrivingBytes: 32 * 1024 * 1024,
  // A review has two versions of a config, each up to 100 KiB, and its annotations.
  maxUnprovenArrivingBytes: 2 * 1024 * 1024,
  timeoutsMs: { waiting: 3_000, handshake: 5_000, unprovenIdle: 10_000, idle: 120_000, body: 10_000, answer: 40_000 },
};

const ANY_RATE = { burst: Infinity, perSecond: 0 } as const;

export const NO_LIMIT: ConnectionLimits = {
  maxConnections: Infinity,
  maxUnproven: Infinity,
  maxUnprovenPerAddress: Infinity,
  maxArrivingBytes: Infinity,
  maxUnprovenArrivingBytes: Infinity,
  handshakes: { address: ANY_RATE, unproven: ANY_RATE, reserve: ANY_RATE },
  // A watch is an endless answer.
  timeoutsMs: { ...CONNECTION_LIMITS.timeoutsMs, body: Infinity, answer: Infinity },
};

/** A body that has not grown for this long (ms) may be dropped for others. */
const STALLED_MS = 1_000;

export class ConnectionTable {
  readonly connections = new Set<Connection>();
  readonly #limits: ConnectionLimits;
  readonly #nowMs: () => number;
  readonly #dropped: (reason: DropReason) => void;
  readonly #addresses: HandshakeBudget<Connection>;

  constructor(limits: ConnectionLimits, nowMs: () => number, dropped: (reason: DropReason) => void) {
    [this.#limits, this.#nowMs, this.#dropped] = [limits, nowMs, dropped];
    this.#addresses = new HandshakeBudget(limits.handshakes, nowMs);
  }

  get hasWaiting(): boolean {
    return this.#addresses.hasWaiting;
  }

  admit(remoteAddress: string, socket: ConnectionSocket): Connection | undefined {
    const address = this.#addresses.addressOf(remoteAddress);
    const { maxUnprovenPerAddress, maxUnproven, maxConnections } = this.#limits;
    if (address.unproven.size >= maxUnprovenPerAddress) this.#drop(oldestOf(address), "address");
    if (this.#addresses.unproven >= maxUnproven) this.#drop(oldestOf(this.#addresses.withMostUnproven()), "unproven");
    if (this.connections.size >= maxConnections && !this.#makeRoom()) return void this.#dropped("total");
    const sinceMs = this.#nowMs();
    const counts = { sinceMs, grewMs: sinceMs, bytesSeen: 0, bodyBytes: 0 };
    const connection: Connection = { address, socket, phase: "waiting", proof: "none", paid: [], ...counts };
    this.connections.add(connection);
    this.#addresses.add(connection, address);
    return connection;
  }

  /** The client has begun its handshake, which continues when the limits allow it. */
  becomesReady(connection: Connection): void {
    if (!this.connections.has(connection)) return;
    connection.address.waiting.add(connection);
    if (this.#addresses.bucketsToPay(connection.address) !== undefined) this.beginHandshakes();
  }

  /** Begins all allowed handshakes. Call it every few milliseconds while connections are waiting. */
  beginHandshakes(): void {
    for (let next = this.#addresses.beginNext(); next !== undefined; next = this.#addresses.beginNext()) {
      next.member.paid = next.paid;
      this.enter(next.member, "handshake");
      next.member.socket.begin();
    }
  }

  enter(connection: Connection, phase: Phase): void {
    const sinceMs = this.#nowMs();
    Object.assign(connection, { phase, sinceMs, grewMs: sinceMs, bodyBytes: 0 });
  }

  /** False when there is no room for the body, even after dropping stalled bodies. */
  bodyBegins(connection: Connection, head: { readonly kind: Proof; readonly proves: boolean; bytes: number }): boolean {
    const { kind, proves, bytes } = head;
    if (proves) this.#prove(connection, kind);
    // API servers also call other routes: these connections must not use up their address's handshakes.
    else if (kind === "secret" && this.#addresses.isProven(connection.address)) this.#giveBack(connection);
    this.enter(connection, "body");
    // Only the number of connections limits small bodies, so that large ones cannot block them.
    if (bytes <= LARGE_BYTES) return true;
    const { maxArrivingBytes, maxUnprovenArrivingBytes } = this.#limits;
    const isProven = connection.proof !== "none";
    const arriving = [...this.connections]
      .filter(({ bodyBytes, proof }) => bodyBytes > 0 && isProven === (proof !== "none"))
      .toSorted((a, b) => a.grewMs - b.grewMs);
    const max = isProven ? maxArrivingBytes : maxUnprovenArrivingBytes;
    let sum = arriving.reduce((total, { bodyBytes }) => total + bodyBytes, bytes);
    for (const other of arriving) {
      if (sum <= max || !this.#isStalled(other)) continue;
      sum -= other.bodyBytes;
      this.#drop(other, "timeout");
    }
    if (sum <= max) connection.bodyBytes = bytes;
    return sum <= max;
  }

  closed(connection: Connection): void {
    if (this.connections.delete(connection)) this.#addresses.remove(connection, connection.address);
  }

  /** Closes overdue connections and updates the progress of bodies. Call it about every second. */
  sweep(): void {
    const [{ timeoutsMs }, nowMs] = [this.#limits, this.#nowMs()];
    for (const connection of this.connections) {
      const { address, phase, proof, sinceMs } = connection;
      if (phase === "body") this.#isStalled(connection);
      const limitMs = timeoutsMs[phase === "idle" && proof === "none" ? "unprovenIdle" : phase];
      // Connections in `waiting` wait for us, all others for their client.
      if (nowMs - sinceMs >= limitMs) this.#drop(connection, address.waiting.has(connection) ? "rate" : "timeout");
    }
    this.#addresses.sweep();
  }

  /** Invalidates proofs by the manifests' path. */
  revokePlain(): void {
    this.#addresses.revokePlain();
    for (const connection of this.connections) {
      if (connection.proof !== "plain") continue;
      connection.proof = "none";
      this.#addresses.add(connection, connection.address);
    }
  }

  #prove(connection: Connection, proof: Proof): void {
    connection.proof = proof;
    this.#addresses.remove(connection, connection.address);
    this.#addresses.prove(connection.address, proof);
    this.#giveBack(connection);
  }

  #giveBack(connection: Connection): void {
    if (connection.paid.length === 0) return;
    for (const bucket of connection.paid) bucket.add(1);
    connection.paid = [];
    this.beginHandshakes();
  }

  #isStalled(connection: Connection): boolean {
    const [bytes, nowMs] = [connection.socket.bytesRead(), this.#nowMs()];
    if (bytes !== connection.bytesSeen) Object.assign(connection, { bytesSeen: bytes, grewMs: nowMs });
    return nowMs - connection.grewMs >= STALLED_MS;
  }

  /** Closes a connection with lower priority than a new one; false if there is none. */
  #makeRoom(): boolean {
    const victim = oldestOf(this.#addresses.withMostUnproven()) ??
      [...this.connections].find(({ proof, phase }) => proof === "plain" && phase === "idle");
    this.#drop(victim, "total");
    return victim !== undefined;
  }

  #drop(connection: Connection | undefined, reason: DropReason): void {
    if (connection === undefined) return;
    this.closed(connection);
    this.#dropped(reason);
    connection.socket.close();
  }
}

function oldestOf(address: Address<Connection> | undefined): Connection | undefined {
  return address?.unproven.values().next().value;
}
