// Which connections give way, by time that the test owns.
import assert from "node:assert/strict";
import fc from "fast-check";
import { LARGE_BYTES } from "../../../lib/server/load_limit.ts";
import { keyOfAddress } from "../../../lib/server/address_book.ts";
import {
  type Connection,
  CONNECTION_LIMITS,
  type ConnectionLimits,
  ConnectionTable,
  type DropReason,
} from "../../../lib/server/connection_table.ts";

const API_SERVER = "10.0.0.1";

interface Bench {
  readonly table: ConnectionTable;
  readonly drops: DropReason[];
  readonly closed: Set<string>;
  readonly time: { nowMs: number };
  /** Opens a connection and gives it its name; undefined when it is refused. */
  open(name: string, address: string): Connection | undefined;
  /** Opens one and sends a request over it. */
  prove(name: string, address: string): Connection;
}

function openBench(limits: Partial<ConnectionLimits> = {}): Bench {
  const drops: DropReason[] = [];
  const closed = new Set<string>();
  const time = { nowMs: 0 };
  const bench: Bench = {
    drops,
    closed,
    time,
    table: new ConnectionTable({
      limits: { ...CONNECTION_LIMITS, ...limits },
      nowMs: () => time.nowMs,
      dropped: (reason) => void drops.push(reason),
    }),
    open: (name, address) => bench.table.admit(address, { bytesRead: () => 0, close: () => void closed.add(name) }),
    prove: (name, address) => {
      const connection = bench.open(name, address);
      assert.ok(connection !== undefined, "refused");
      bench.table.bodyBegins(connection, { proof: "secret", bytes: 2 });
      bench.table.bodyEnds(connection);
      bench.table.becomesIdle(connection);
      return connection;
    },
  };
  return bench;
}

Deno.test("ConnectionTable takes from the most crowded stranger, the oldest first", () => {
  const bench = openBench({ maxUnproven: 4 });
  bench.open("few", "10.0.0.2");
  for (const name of ["a", "b", "c"]) bench.open(name, "10.0.0.3");
  bench.open("new", "10.0.0.4");
  assert.deepEqual([...bench.closed], ["a"]);
  assert.deepEqual(bench.drops, ["unproven"]);
});

Deno.test("ConnectionTable spares an address that has proven itself while strangers have connections", () => {
  const bench = openBench({ maxUnproven: 10 });
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
    const bench = openBench({ maxConnections: 12, maxUnproven: 6, maxUnprovenPerAddress: 4 });
    const proven = new Set<string>();
    for (const [index, { address, proves, waitMs }] of steps.entries()) {
      bench.time.nowMs += waitMs;
      const name = String(index);
      const connection = bench.open(name, address);
      if (connection !== undefined && proves) {
        bench.table.bodyBegins(connection, { proof: "secret", bytes: 0 });
        bench.table.becomesIdle(connection);
        proven.add(name);
      }
      assert.ok(bench.table.connections.size <= 12);
      const unproven = [...bench.table.connections].filter(({ proof }) => proof === "none");
      assert.ok(unproven.length <= 6);
      assert.deepEqual([...bench.closed].filter((each) => proven.has(each)), []);
    }
  }));
});

Deno.test("ConnectionTable limits the handshakes of strangers, not those of the API server", () => {
  const bench = openBench();
  bench.prove("api", API_SERVER);
  for (let count = 0; count < 2_000; count++) bench.open(`s-${count}`, "10.0.0.2");
  assert.equal(bench.drops.filter((reason) => reason === "rate").length, 2_000 - 768);
  for (let count = 0; count < 600; count++) assert.ok(bench.open(`api-${count}`, API_SERVER) !== undefined);
  bench.time.nowMs += 1_000;
  const before = bench.drops.length;
  for (let count = 0; count < 51; count++) bench.open(`t-${count}`, "10.0.0.2");
  assert.equal(bench.drops.slice(before).filter((reason) => reason === "rate").length, 1);
});

Deno.test("ConnectionTable lets an API server in that is not proven yet, whatever a crowd of strangers uses up", () => {
  const bench = openBench();
  const crowd = Array.from({ length: 50 }, (_, at) => `10.0.1.${at}`);
  const flood = (): void => {
    for (const address of crowd) for (let count = 0; count < 60; count++) bench.open("crowd", address);
  };
  flood();
  const opened = (name: string, address: string): boolean => bench.open(name, address) !== undefined;
  assert.equal(opened("crowd", "10.0.1.0"), false, "the crowd has used up what all have together");
  assert.deepEqual(["a", "b", "c"].map((name) => opened(name, API_SERVER)), [true, true, false]);
  for (let second = 0; second < 9; second++) {
    bench.time.nowMs += 1_000;
    bench.table.sweep();
    flood();
  }
  assert.deepEqual(["d", "e"].map((name) => opened(name, API_SERVER)), [true, false], "one in five seconds");
  bench.time.nowMs += 5_000;
  flood();
  bench.prove("api", API_SERVER);
  flood();
  for (let count = 0; count < 100; count++) assert.ok(opened(`api-${count}`, API_SERVER));
});

Deno.test("ConnectionTable counts what plain paths proved for nothing once they are refused", () => {
  const bench = openBench({ maxUnproven: 1 });
  const connection = bench.open("plain", "10.0.0.2");
  assert.ok(connection !== undefined);
  bench.table.bodyBegins(connection, { proof: "plain", bytes: 0 });
  bench.table.becomesIdle(connection);
  bench.open("second", "10.0.0.3");
  assert.deepEqual([...bench.closed], []);
  bench.table.revokePlain();
  bench.open("third", "10.0.0.3");
  assert.equal(bench.closed.size, 1);
});

Deno.test("ConnectionTable ends with nothing counted when all connections are closed", () => {
  const bench = openBench({ maxArrivingBytes: 100_000 });
  const connections = [1, 2, 3].map((number) => bench.prove(`p-${number}`, API_SERVER));
  const [first, second] = connections;
  assert.ok(first !== undefined && second !== undefined);
  assert.equal(bench.table.bodyBegins(first, { proof: "secret", bytes: 80_000 }), true);
  assert.equal(bench.table.bodyBegins(second, { proof: "secret", bytes: 80_000 }), false);
  assert.equal(bench.table.bodyBegins(second, { proof: "secret", bytes: LARGE_BYTES }), true, "a small one");
  bench.table.becomesIdle(second);
  bench.table.closed(first);
  bench.table.closed(first);
  assert.equal(bench.table.bodyBegins(second, { proof: "secret", bytes: 80_000 }), true);
  for (const connection of connections) bench.table.closed(connection);
  assert.equal(bench.table.connections.size, 0);
});

Deno.test("keyOfAddress() is one for the forms of an IPv4 address and for a /64 of IPv6", () => {
  assert.equal(keyOfAddress("::ffff:10.0.0.1"), keyOfAddress("10.0.0.1"));
  assert.equal(keyOfAddress("2001:db8::1"), keyOfAddress("2001:db8::ffff:2"));
  assert.notEqual(keyOfAddress("2001:db8:0:1::1"), keyOfAddress("2001:db8::1"));
});
