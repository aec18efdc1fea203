// Answers as servers may cut and frame them, and what becomes of the connection that brought them.
import assert from "node:assert/strict";
import { ConnectionPool, type HttpRequest } from "../../../lib/k8s/connection_pool.ts";

const TLS = { caCerts: [] };
const never = new AbortController().signal;

/** Answers the requests of all connections with these texts in turn, in pieces of so many bytes; `end` closes the connection. */
const serve = (answers: readonly (string | "end")[], pieceBytes = 65_536) => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  /** Requests by connection, as text. */
  const connections: string[][] = [];
  const left = [...answers];
  const talk = async (connection: Deno.Conn, requests: string[]): Promise<void> => {
    const buffer = new Uint8Array(65_536);
    for (let read = await connection.read(buffer); read !== null; read = await connection.read(buffer)) {
      requests.push(new TextDecoder().decode(buffer.subarray(0, read)));
      const answer = left.shift() ?? "";
      const bytes = new TextEncoder().encode(answer.replace(/end$/, ""));
      for (let at = 0; at < bytes.length; at += pieceBytes) await connection.write(bytes.subarray(at, at + pieceBytes));
      if (answer.endsWith("end")) return connection.close();
    }
    connection.close();
  };
  const accepting = (async (): Promise<void> => {
    const talks: Promise<void>[] = [];
    for await (const connection of listener) {
      const requests: string[] = [];
      connections.push(requests);
      talks.push(talk(connection, requests));
    }
    await Promise.allSettled(talks);
  })();
  return {
    url: new URL(`http://127.0.0.1:${listener.addr.port}/pods?fieldManager=archway`),
    connections,
    [Symbol.asyncDispose]: async () => {
      listener.close();
      await accepting;
    },
  };
};

const PATCH: HttpRequest = { method: "PATCH", headers: { authorization: "Bearer t" }, body: "{}", signal: never };
const LENGTH = 'HTTP/1.1 200 OK\r\nDate: now\r\nContent-Length: 11\r\n\r\n["dé😀"]';
const CHUNKS =
  'HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n["dx\r\n3;a=b\r\n"]\n\r\n0\r\nT: x\r\n\r\n';

Deno.test("send() reads an answer with a length or in chunks, however it is cut, and uses the connection again", async () => {
  for (const pieceBytes of [1, 3, 7, 65_536]) {
    const [late, none] = [`HTTP/1.1 100 Continue\r\n\r\n${LENGTH}`, "HTTP/1.1 204 No Content\r\n\r\n"];
    await using server = serve([LENGTH, CHUNKS, late, none], pieceBytes);
    using pool = new ConnectionPool(2);
    const seen: unknown[] = [];
    for (let count = 0; count < 4; count++) {
      const answer = await pool.send(server.url, PATCH, TLS);
      seen.push([answer.status, answer.ok, answer.headers.get("date"), await answer.text()]);
    }
    assert.deepEqual(seen, [
      [200, true, "now", '["dé😀"]'],
      [201, true, null, '["dx"]\n'],
      [200, true, "now", '["dé😀"]'],
      [204, true, null, ""],
    ]);
    assert.equal(server.connections.length, 1);
    assert.equal(
      server.connections[0]?.[0],
      `PATCH /pods?fieldManager=archway HTTP/1.1\r\nhost: ${server.url.host}\r\nauthorization: Bearer t\r\ncontent-length: 2\r\n\r\n{}`,
    );
  }
});

Deno.test("send() closes a connection after an answer that ends with it", async () => {
  const last = LENGTH.replace("\r\n", "\r\nConnection: close\r\n");
  await using server = serve([last, "HTTP/1.1 200 OK\r\n\r\nwhole end", LENGTH]);
  using pool = new ConnectionPool(2);
  for (const text of ['["dé😀"]', "whole ", '["dé😀"]']) {
    assert.equal(await (await pool.send(server.url, PATCH, TLS)).text(), text);
  }
  assert.equal(server.connections.length, 3);
});

Deno.test("send() sends once more what a kept connection did not answer, and nothing that was answered in part", async () => {
  await using server = serve([LENGTH, "end", LENGTH, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalfend", "end"]);
  using pool = new ConnectionPool(2);
  await pool.send(server.url, PATCH, TLS);
  assert.equal((await pool.send(server.url, PATCH, TLS)).status, 200);
  assert.deepEqual(server.connections.map((requests) => requests.length), [2, 1]);
  await assert.rejects(pool.send(server.url, PATCH, TLS), /closed before the end/);
  await assert.rejects(pool.send(server.url, PATCH, TLS), /closed before the end/);
  assert.deepEqual(server.connections.map((requests) => requests.length), [2, 2, 1]);
});

Deno.test("send() refuses what is not HTTP, and a header that would become two", async () => {
  const odd = ["SSH-2.0-x\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", CHUNKS.replace("4\r\n", "z\r\n")];
  await using server = serve(odd);
  using pool = new ConnectionPool(2);
  for (const why of [/not HTTP/, /no valid length/, /no valid chunks/]) {
    await assert.rejects(pool.send(server.url, PATCH, TLS), why);
  }
  const request = { ...PATCH, headers: { "impersonate-user": "a\r\nx: y" } };
  await assert.rejects(pool.send(server.url, request, TLS), /line break/);
});

Deno.test("send() ends with its signal, and drops the connections to a server that did not answer", async () => {
  await using server = serve([LENGTH, "", LENGTH]);
  using pool = new ConnectionPool(2);
  await pool.send(server.url, PATCH, TLS);
  const stop = new AbortController();
  const waiting = pool.send(server.url, { ...PATCH, signal: stop.signal }, TLS);
  stop.abort(new Error("enough"));
  await assert.rejects(waiting, /enough/);
  await pool.send(server.url, PATCH, TLS);
  assert.equal(server.connections.length, 2);
});

Deno.test("send() connects anew when the trusted certificates change", async () => {
  await using server = serve([LENGTH, LENGTH]);
  using pool = new ConnectionPool(2);
  await pool.send(server.url, PATCH, TLS);
  await pool.send(server.url, PATCH, { caCerts: [] });
  assert.equal(server.connections.length, 2);
});

Deno.test("send() closes the connection that it was about to use when its signal has aborted", async () => {
  await using server = serve([LENGTH]);
  using pool = new ConnectionPool(4);
  await pool.send(server.url, PATCH, TLS);
  await assert.rejects(pool.send(server.url, { ...PATCH, signal: AbortSignal.abort(new Error("over")) }, TLS), /over/);
  assert.equal(server.connections.length, 1);
});
