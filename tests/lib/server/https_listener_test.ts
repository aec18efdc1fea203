import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { type CertificateAuthority, createAuthority } from "../../cluster/support/pki.ts";
import { issueLoopbackCertificates } from "../../../playground/listen.ts";
import { CONNECTION_LIMITS, type ConnectionLimits, type DropReason } from "../../../lib/server/connection_table.ts";
import { openHttpsListener } from "../../../lib/server/https_listener.ts";
import { makePathCheck } from "../../../lib/server/path_check.ts";
import { until } from "../../support/until.ts";

const { serving, authority } = await issueLoopbackCertificates(Date.now());
const SECRET_PATH = `/${"s".repeat(43)}/convert`;
const [OK, NOT_FOUND, BUSY] = ["HTTP/1.1 200 OK", "HTTP/1.1 404 Not Found", "HTTP/1.1 503 Service Unavailable"];

const openBench = async (limits: Partial<ConnectionLimits> = {}) => {
  const drops: DropReason[] = [];
  const answered: string[] = [];
  const sockets: TLSSocket[] = [];
  /** The paths that are accepted, and whether it is the configuration of pods that has the plain one. */
  const bench = { plain: false, secret: true, manifestPathProves: true };
  const listener = await openHttpsListener({
    host: "127.0.0.1",
    port: 0,
    certificate: serving,
    handler: async (request) => {
      answered.push(`${new URL(request.url).pathname} ${(await request.text()).length}`);
      return new Response("ok");
    },
    guard: {
      limits: { ...CONNECTION_LIMITS, ...limits },
      check: makePathCheck({
        routes: ["/convert"],
        proving: "/convert",
        pathsOf: (route) => [...bench.secret ? [SECRET_PATH] : [], ...bench.plain ? [route] : []],
      }),
      manifestPathProves: () => bench.plain && bench.manifestPathProves,
      dropped: (reason) => void drops.push(reason),
      began: () => {},
    },
  });
  return Object.assign(bench, {
    listener,
    drops,
    answered,
    connect: async (localAddress = "127.0.0.1") => {
      const tcp = connectTcp({ port: listener.port, host: "127.0.0.1", localAddress });
      const socket = connectTls({ socket: tcp, host: "127.0.0.1", ca: authority });
      sockets.push(socket);
      socket.on("error", () => {});
      await once(socket, "secureConnect");
      return socket;
    },
    send: async (socket: TLSSocket, text: string) => {
      const closed = once(socket, "close").then(() => [""]);
      socket.write(text);
      const [chunk] = await Promise.race([once(socket, "data"), closed]);
      return String(chunk).split("\r\n")[0] ?? "";
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) {
        if (socket.closed) continue;
        const closed = once(socket, "close");
        socket.destroy();
        await closed;
      }
      await listener.close(0);
    },
  });
};

function closeOf(socket: Socket): Promise<void> {
  socket.on("error", () => {});
  return new Promise((resolve) => socket.once("close", () => resolve()));
}

function post(path: string, body = "{}", length = body.length): string {
  return `POST ${path} HTTP/1.1\r\nhost: archway\r\ncontent-length: ${length}\r\n\r\n${body}`;
}

Deno.test("openHttpsListener() hands on the route of a secret path, and refuses one that was replaced: at once by a new connection, a moment later by an old one", async () => {
  await using bench = await openBench();
  const [old, other] = [await bench.connect(), await bench.connect()];
  assert.equal(await bench.send(old, post(SECRET_PATH)), OK);
  assert.equal(await bench.send(old, post(`${SECRET_PATH}?timeout=5s`)), OK);
  assert.deepEqual(bench.answered, ["/convert 2", "/convert 2"]);
  bench.secret = false;
  assert.equal(await bench.send(other, post(SECRET_PATH)), NOT_FOUND);
  await until("the old one to be refused", async () => await bench.send(old, post(SECRET_PATH)) === NOT_FOUND);
});

Deno.test("openHttpsListener() answers any other path with 404, without its body, and closes", async () => {
  await using bench = await openBench();
  const wrong = `/${"t".repeat(43)}/convert`;
  for (const path of ["/convert", wrong, "/", "/x".repeat(5_000), `${SECRET_PATH}/..`, `/a${SECRET_PATH}`]) {
    const socket = await bench.connect();
    assert.equal(await bench.send(socket, post(path, "", 7 * 1024 * 1024)), NOT_FOUND, path.slice(0, 60));
    await once(socket, "close");
  }
  assert.deepEqual(bench.answered, []);
  assert.deepEqual(new Set(bench.drops), new Set(["path"]));
});

Deno.test("openHttpsListener() answers by plain paths while those are accepted", async () => {
  await using bench = await openBench();
  bench.plain = true;
  const socket = await bench.connect();
  assert.equal(await bench.send(socket, post("/convert")), OK);
  bench.plain = false;
  assert.equal(await bench.send(socket, post("/convert")), NOT_FOUND);
});

Deno.test("openHttpsListener() closes after an answer by a plain path that the configuration of pods does not carry", async () => {
  await using bench = await openBench();
  Object.assign(bench, { plain: true, manifestPathProves: false });
  const socket = await bench.connect();
  const closed = once(socket, "close");
  assert.equal(await bench.send(socket, post("/convert")), OK);
  await closed;
});

Deno.test("openHttpsListener() closes the oldest unproven connections beyond its limits, never a proven one", async () => {
  await using bench = await openBench({ maxUnprovenPerAddress: 3, maxUnproven: 5 });
  const proven = await bench.connect();
  assert.equal(await bench.send(proven, post(SECRET_PATH)), OK);
  const firstClosed = once(await bench.connect("127.0.0.2"), "close");
  for (let count = 0; count < 4; count++) await bench.connect("127.0.0.2");
  await firstClosed;
  assert.deepEqual(bench.drops, ["address", "address"]);
  // The address of a proven connection is not made to give way to other clients.
  const late = await bench.connect();
  for (let count = 0; count < 6; count++) await bench.connect(`127.0.0.${10 + count}`);
  assert.ok(bench.drops.includes("unproven"), bench.drops.join());
  assert.equal(await bench.send(late, post(SECRET_PATH)), OK);
  assert.equal(await bench.send(proven, post(SECRET_PATH)), OK);
});

Deno.test("openHttpsListener() closes who does not finish handshake, head or body in time", async () => {
  const timeoutsMs = { ...CONNECTION_LIMITS.timeoutsMs, waiting: 200, handshake: 200, unprovenIdle: 200, body: 200 };
  await using bench = await openBench({ timeoutsMs });
  const muteClosed = closeOf(connectTcp(bench.listener.port, "127.0.0.1"));
  const [idle, head, body] = [await bench.connect(), await bench.connect(), await bench.connect()];
  const closed = [idle, head, body].map((socket) => once(socket, "close"));
  head.write("POST /convert HTTP/1.1\r\nx: ");
  body.write(post(SECRET_PATH, "{", 100));
  await Promise.all([...closed, muteClosed]);
  assert.deepEqual([bench.drops, bench.answered], [["timeout", "timeout", "timeout", "timeout"], []]);
});

Deno.test("openHttpsListener() lets handshakes wait for others, and drops what is no beginning of one", async () => {
  const never = { burst: 0, perSecond: 0 };
  const handshakes = { address: { burst: 2, perSecond: 10 }, unproven: { burst: 2, perSecond: 10 }, reserve: never };
  await using bench = await openBench({ handshakes });
  const startedMs = performance.now();
  const sockets = await Promise.all([1, 2, 3, 4].map(() => bench.connect()));
  assert.ok(performance.now() - startedMs >= 190, "two of them waited");
  for (const socket of sockets) assert.equal(await bench.send(socket, post(SECRET_PATH)), OK);
  assert.deepEqual(bench.drops, []);
  const babbling = connectTcp(bench.listener.port, "127.0.0.1");
  babbling.write("x".repeat(60_000));
  await closeOf(babbling);
});

Deno.test("openHttpsListener() refuses a body beyond those that arrive, and drops one that has stalled for it", async () => {
  await using bench = await openBench({ maxArrivingBytes: 100_000 });
  const stalled = await bench.connect();
  stalled.write(post(SECRET_PATH, "{", 90_000));
  const refused = await bench.connect();
  assert.equal(await bench.send(refused, post(SECRET_PATH, "x".repeat(80_000))), BUSY);
  const stalledClosed = once(stalled, "close");
  // It counts as stalled once a second has brought no byte of it; until then others are refused.
  const isTaken = async (): Promise<boolean> =>
    (await bench.send(await bench.connect(), post(SECRET_PATH, "x".repeat(80_000)))) === OK;
  await until("a body in the place of the stalled one", isTaken);
  await stalledClosed;
});

Deno.test("openHttpsListener() reads the rest of a body that it refused, and goes on with the connection", async () => {
  await using bench = await openBench({ maxArrivingBytes: 100_000 });
  const arriving = await bench.connect();
  arriving.write(post(SECRET_PATH, "{", 90_000));
  const refused = await bench.connect();
  assert.equal(await bench.send(refused, post(SECRET_PATH, "{", 8_000_000)), BUSY);
  await new Promise<void>((resolve, reject) =>
    refused.write("x".repeat(7_999_999), (error) => error ? reject(error) : resolve())
  );
  assert.equal(await bench.send(refused, post(SECRET_PATH)), OK);
  assert.deepEqual(bench.answered, ["/convert 2"]);
});

async function rest(socket: Socket): Promise<string> {
  let text = "";
  socket.on("data", (chunk) => text += chunk);
  await closeOf(socket);
  return text;
}

const LAST_ANSWER = /^HTTP\/1\.1 200 OK\r\n[^]*connection: close\r\n/i;

Deno.test("openHttpsListener().close() answers who has connected, and ends idle connections and those that never ask", async () => {
  const bench = await openBench();
  const [idle, asking, late] = await Promise.all([bench.connect(), bench.connect(), bench.connect()]);
  for (const socket of [idle, asking]) assert.equal(await bench.send(socket, post(SECRET_PATH)), OK);
  const dial = (): Socket => connectTcp({ port: bench.listener.port, host: "127.0.0.1" });
  const [silent, dialling] = [dial(), dial()];
  const ends = [idle, silent].map(closeOf);
  bench.listener.beginDrain();
  const closed = bench.listener.close(1_000);
  const handshake = connectTls({ socket: dialling, host: "127.0.0.1", ca: authority });
  const answers = [late, asking, handshake].map(rest);
  handshake.once("secureConnect", () => handshake.write(post(SECRET_PATH)));
  await refusal(bench.listener.port);
  for (const socket of [asking, late]) socket.write(post(SECRET_PATH));
  for (const answer of answers) assert.match(await answer, LAST_ANSWER);
  await Promise.all([...ends, closed]);
});

async function refusal(port: number): Promise<void> {
  for (;;) {
    const socket = connectTcp({ port, host: "127.0.0.1" });
    const outcome = await Promise.race([
      once(socket, "connect").then(() => "taken"),
      new Promise<string>((resolve) => socket.once("error", () => resolve("refused"))),
    ]);
    socket.destroy();
    if (outcome === "refused") return;
  }
}

Deno.test("openHttpsListener() asks for client certificates of one CA where it is given one", async () => {
  const [ours, other] = await Promise.all([createAuthority("ours"), createAuthority("other")]);
  const listener = await openHttpsListener({
    ...{ host: "127.0.0.1", port: 0, certificate: serving, clientCa: ours.certificatePem },
    handler: () => new Response("ok"),
  });
  await using _ = { [Symbol.asyncDispose]: () => listener.close(0) };
  const ask = async (ca?: CertificateAuthority, usage: "client" | "server" = "client"): Promise<string> => {
    const issued = await ca?.issue({ commonName: "kube-apiserver", usage });
    const client = issued && { cert: issued.certificatePem, key: issued.keyPem };
    const socket = connectTls({ port: listener.port, host: "127.0.0.1", ca: authority, ...client });
    socket.once("secureConnect", () => socket.write(`GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`));
    return (await rest(socket)).split("\r\n")[0] ?? "";
  };
  assert.deepEqual([await ask(), await ask(other), await ask(ours, "server"), await ask(ours)], ["", "", "", OK]);
});
