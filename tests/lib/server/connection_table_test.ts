import assert from "node:assert/strict";
import fc from "fast-check";
import { LARGE_BYTES } from "../../../lib/server/load_limit.ts";
import { keyOfAddress } from "../../../lib/server/handshake_budget.ts";
import {
  type Connection,
  CONNECTION_LIMITS,
  type ConnectionLimits,
  ConnectionTable,
  type DropReason,
  NO_LIMIT,
} from "../../../lib/server/connection_table.ts";

const API_SERVER = "10.0.0.1";

function reviewOf(bytes: number): Parameters<ConnectionTable["bodyBegins"]>[1] {
  return { kind: "secret", proves: true, bytes };
}

class Bench {
  readonly drops: DropReason[] = [];
  readonly closed = new Set<string>();
  readonly begun: string[] = [];
  readonly table: ConnectionTable;
  nowMs = 0;

  constructor(limits: Partial<ConnectionLimits> = {}) {
    const drop = (why: DropReason): void => void this.drops.push(why);
    this.table = new ConnectionTable({ ...CONNECTION_LIMITS, ...limits }, () => this.nowMs, drop);
  }

  /** Opens a connection and gives it its name; undefined when it is refused. */
  open(name: string, address: string): Connection | undefined {
    const connection = this.table.admit(address, {
      bytesRead: () => 0,
      begin: () => void this.begun.push(name),
      close: () => void this.closed.add(name),
    });
    if (connection !== undefined) this.table.becomesReady(connection);
    return connection;
  }

  /** Lets time pass as the listener does: handshakes are begun every 20 ms, limits are looked at every second. */
  pass(ms: number): void {
    for (const endMs = this.nowMs + ms; this.nowMs < endMs;) {
      this.nowMs += 20;
      this.table.beginHandshakes();
      if (this.nowMs % 1_000 === 0) this.table.sweep();
    }
  }

  /** Opens one and sends a request over it; the handshake must not have to wait. */
  prove(name: string, address: string): Connection {
    const connection = this.open(name, address);
    assert.equal(connection?.phase, "handshake", "its handshake has to wait");
    assert.ok(connection !== undefined);
    this.table.bodyBegins(connection, reviewOf(2));
    this.table.enter(connection, "answer");
    this.table.enter(connection, "idle");
    return connection;
  }
}

Deno.test("ConnectionTable without limits keeps a watch, an answer that goes on for hours", () => {
  const bench = new Bench(NO_LIMIT);
  const watch = bench.prove("watch", "10.0.0.1");
  bench.table.bodyBegins(watch, { kind: "secret", proves: true, bytes: 0 });
  bench.pass(600_000);
  bench.table.enter(watch, "answer");
  bench.pass(600_000);
  assert.deepEqual([...bench.closed], []);
});

Deno.test("ConnectionTable takes from the most crowded stranger, the oldest first", () => {
  const bench = new Bench({ maxUnproven: 4 });
  bench.open("few", "10.0.0.2");
  for (const name of ["a", "b", "c"]) bench.open(name, "10.0.0.3");
  bench.open("new", "10.0.0.4");
  assert.deepEqual([...bench.closed, ...bench.drops], ["a", "unproven"]);
});

Deno.test("ConnectionTable spares an address that has proven itself while other clients have connections", () => {
  const bench = new Bench({ maxUnproven: 10 });
  bench.prove("api", API_SERVER);
  for (let count = 0; count < 9; count++) bench.open(`api-${count}`, API_SERVER);
  bench.open("stranger", "10.0.0.2");
  bench.open("another", "10.0.0.3");
  assert.deepEqual([...bench.closed], ["stranger"]);
});

Deno.test("ConnectionTable never closes a proven connection for a stranger's, whatever comes", () => {
  const step = fc.record({
    address: fc.constantFrom(API_SERVER, "10.0.0.2", "10.0.0.3", "10.0.0.4"),
    proves: fc.boolean(),
    waitMs: fc.nat({ max: 500 }),
  });
  fc.assert(fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
    const bench = new Bench({ maxConnections: 12, maxUnproven: 6, maxUnprovenPerAddress: 4 });
    const proven = new Set<string>();
    for (const [index, { address, proves, waitMs }] of steps.entries()) {
      bench.nowMs += waitMs;
      const name = String(index);
      const connection = bench.open(name, address);
      if (connection !== undefined && proves) {
        bench.table.bodyBegins(connection, reviewOf(0));
        bench.table.enter(connection, "idle");
        proven.add(name);
      }
      assert.ok(bench.table.connections.size <= 12);
      assert.ok(([...bench.table.connections].filter(({ proof }) => proof === "none")).length <= 6);
      assert.deepEqual([...bench.closed].filter((each) => proven.has(each)), []);
    }
  }));
});

function countOf(names: readonly string[], prefix: string): number {
  return names.filter((name) => name.startsWith(prefix)).length;
}

Deno.test("ConnectionTable begins 64 handshakes of strangers at once, then 20 a second, and gives up those that wait too long", () => {
  const bench = new Bench();
  for (let count = 0; count < 500; count++) bench.open(`s-${count}`, "10.0.0.2");
  assert.deepEqual([bench.begun.length, bench.drops.length], [64, 0], "the others wait, and nothing is read from them");
  bench.pass(1_000);
  assert.ok(Math.abs(bench.begun.length - 84) <= 1, String(bench.begun.length));
  assert.equal(bench.begun[64], "s-499", "the newest first");
  bench.pass(3_000);
  const { rate } = Object.groupBy(bench.drops, (reason) => reason);
  assert.ok((rate?.length ?? 0) >= 350, "the others were closed after 3 s");
  assert.equal(bench.table.hasWaiting, false);
});

Deno.test("ConnectionTable lets an API server open any number of connections, each as soon as others have proven themselves", () => {
  const bench = new Bench();
  const open = Array.from({ length: 600 }, (_, at) => bench.open(`api-${at}`, API_SERVER));
  assert.equal(bench.begun.length, 64);
  for (let round = 0; round < 600; round++) {
    const connection = open.find((one) => one?.phase === "handshake");
    if (connection === undefined) break;
    bench.table.bodyBegins(connection, reviewOf(2));
  }
  assert.deepEqual([bench.begun.length, bench.drops.length, bench.nowMs], [600, 0, 0], "none of it took time");
});

Deno.test("ConnectionTable limits what comes from the API server's address without proof, and keeps its proven connections", () => {
  const bench = new Bench();
  const api = bench.prove("api", API_SERVER);
  for (let second = 0; second < 60; second++) {
    for (let count = 0; count < 500; count++) bench.open("flood", API_SERVER);
    bench.pass(1_000);
    assert.ok(bench.table.bodyBegins(api, reviewOf(2)));
    bench.table.enter(api, "idle");
  }
  assert.ok(countOf(bench.begun, "flood") <= 64 + 60 * 20, String(bench.begun.length));
  assert.equal(bench.closed.has("api"), false);
});

Deno.test("ConnectionTable lets an API server in that is not proven yet, whatever a crowd of other clients uses up", () => {
  const bench = new Bench();
  const crowd = Array.from({ length: 50 }, (_, at) => `10.0.1.${at}`);
  const flood = (): void => {
    for (const address of crowd) for (let count = 0; count < 10; count++) bench.open("crowd", address);
  };
  const hasBegun = (name: string): boolean => bench.begun.includes(name);
  for (let second = 0; second < 20; second++) {
    flood();
    bench.pass(1_000);
  }
  const spent = bench.open("crowd", "10.0.1.0");
  assert.equal(spent?.phase, "waiting", "the crowd has used up what all have together");
  for (const name of ["a", "b", "c"]) bench.open(name, API_SERVER);
  assert.deepEqual(["a", "b", "c"].map(hasBegun), [true, true, false]);
  bench.pass(10_000);
  flood();
  bench.prove("api", API_SERVER);
  flood();
  const many = Array.from({ length: 60 }, (_, at) => bench.open(`api-${at}`, API_SERVER));
  assert.ok(many.every((connection) => connection?.phase === "handshake"));
});

Deno.test("ConnectionTable shares what other clients may begin among their addresses, however many connections each opens", () => {
  const bench = new Bench();
  for (let count = 0; count < 64; count++) bench.open("first", "10.0.0.9");
  for (let second = 0; second < 20; second++) {
    for (let count = 0; count < 300; count++) bench.open("loud", "10.0.0.2");
    for (let count = 0; count < 30; count++) bench.open("quiet", "10.0.0.3");
    bench.pass(1_000);
  }
  const [loud, quiet] = [countOf(bench.begun, "loud"), countOf(bench.begun, "quiet")];
  assert.ok(Math.abs(loud - quiet) <= 4, `${loud} ${quiet}`);
});

Deno.test("ConnectionTable gives nothing for the path of another webhook, but at an API server's address its handshake", () => {
  const bench = new Bench();
  bench.prove("api", API_SERVER);
  const askOther = (name: string, address: string): void => {
    const connection = bench.open(name, address);
    if (connection?.phase === "handshake") {
      bench.table.bodyBegins(connection, { kind: "secret", proves: false, bytes: 2 });
    }
  };
  for (let count = 0; count < 300; count++) askOther("tenant", "10.0.0.2");
  assert.equal(countOf(bench.begun, "tenant"), 64, "as many as a client that has no path");
  for (let count = 0; count < 300; count++) askOther("config", API_SERVER);
  assert.equal(countOf(bench.begun, "config"), 300);
  bench.prove("next", API_SERVER);
  const unproven = [...bench.table.connections].filter(({ proof }) => proof === "none");
  assert.equal(unproven.length, bench.table.connections.size - 2);
});

Deno.test("ConnectionTable counts what plain paths proved for nothing once they are refused", () => {
  const bench = new Bench({ maxUnproven: 1 });
  const connection = bench.open("plain", "10.0.0.2");
  assert.ok(connection !== undefined);
  bench.table.bodyBegins(connection, { kind: "plain", proves: true, bytes: 0 });
  bench.table.enter(connection, "idle");
  bench.open("second", "10.0.0.3");
  assert.deepEqual([...bench.closed], []);
  bench.table.revokePlain();
  bench.open("third", "10.0.0.3");
  assert.equal(bench.closed.size, 1);
});

Deno.test("ConnectionTable ends with nothing counted when all connections are closed", () => {
  const bench = new Bench({ maxArrivingBytes: 100_000 });
  const connections = [1, 2, 3].map((number) => bench.prove(`p-${number}`, API_SERVER));
  const [first = assert.fail(), second = assert.fail()] = connections;
  assert.equal(bench.table.bodyBegins(first, reviewOf(80_000)), true);
  assert.equal(bench.table.bodyBegins(second, reviewOf(80_000)), false);
  assert.equal(bench.table.bodyBegins(second, reviewOf(LARGE_BYTES)), true, "a small one");
  bench.table.enter(second, "idle");
  bench.table.closed(first);
  bench.table.closed(first);
  assert.equal(bench.table.bodyBegins(second, reviewOf(80_000)), true);
  for (const connection of connections) bench.table.closed(connection);
  assert.equal(bench.table.connections.size, 0);
});

Deno.test("keyOfAddress() is one for the forms of an IPv4 address and for a /64 of IPv6", () => {
  assert.equal(keyOfAddress("::ffff:10.0.0.1"), keyOfAddress("10.0.0.1"));
  assert.equal(keyOfAddress("2001:db8::1"), keyOfAddress("2001:db8::ffff:2"));
  assert.notEqual(keyOfAddress("2001:db8:0:1::1"), keyOfAddress("2001:db8::1"));
});
