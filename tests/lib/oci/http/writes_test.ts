import assert from "node:assert/strict";
import type { RegistryResponse } from "../../../../lib/oci/http/exchange.ts";
import type { ConnectionSettings } from "../../../../lib/oci/endpoint.ts";
import { issueLoopbackCertificates } from "../../../../playground/listen.ts";
import { errorOf, makeContext, makeExchange as write, openTransport, PLAIN } from "../../../support/inspectors.ts";
import { type FakeRegistry, openFakeRegistry } from "../../../support/registry.ts";

const context = makeContext();
const PART = "0123456789abcdef".repeat(4_096);
const PARTS = 5;

/** A stream of several parts; `fault` ends it early. */
function partsOf(fault?: Error): () => ReadableStream<Uint8Array<ArrayBuffer>> {
  const parts = function* (): Generator<Uint8Array<ArrayBuffer>> {
    for (let sent = 0; sent < PARTS; sent++) {
      if (sent === 2 && fault !== undefined) throw fault;
      yield new TextEncoder().encode(PART);
    }
  };
  return () => ReadableStream.from(parts());
}

const certificates = await issueLoopbackCertificates(Date.now());

/** The ways to a registry: the last two do not go through the runtime's fetch. */
const WAYS: readonly (readonly [name: string, way: ConnectionSettings])[] = [
  ["plain HTTP", PLAIN],
  ["verified TLS", { ...PLAIN, scheme: "https", caCertificates: [certificates.authority] }],
  ["unverified TLS", { ...PLAIN, scheme: "https", verifiesTls: false }],
  ["a pinned certificate", { ...PLAIN, scheme: "https", caCertificates: [certificates.serving.cert] }],
];

for (const [name, reach] of WAYS) {
  const open = (): Promise<FakeRegistry> =>
    openFakeRegistry(reach === PLAIN ? {} : { certificate: certificates.serving });

  Deno.test(`send() writes bytes with their length and their range over ${name}`, async () => {
    await using registry = await open();
    using transport = openTransport();
    registry.intercept = () => new Response(null, { status: 201 });
    const content = new TextEncoder().encode("content");
    const body = { contentType: "a/b", content, range: "7-13" };
    const sent = write(`${registry.origin}/v2/a`, { method: "PATCH", body, connection: reach });
    assert.equal((await transport.send(sent, context)).status, 201);
    const [seen] = registry.requests;
    assert.deepEqual([seen?.method, seen?.body], ["PATCH", "content"]);
    const names = ["content-type", "content-length", "content-range"];
    assert.deepEqual(names.map((header) => seen?.headers.get(header)), ["a/b", "7", "7-13"]);
  });

  Deno.test(`send() writes a stream as it comes over ${name}`, async () => {
    await using registry = await open();
    using transport = openTransport();
    registry.intercept = () => new Response(null, { status: 202 });
    // One that is pinned is known to be so by its first answer, before a stream is sent.
    await transport.send(write(`${registry.origin}/v2/`, { method: "POST", connection: reach }), context);
    const body = { contentType: "a/b", content: partsOf() };
    const sent = write(`${registry.origin}/v2/a`, { method: "PATCH", body, connection: reach });
    assert.equal((await transport.send(sent, context)).status, 202);
    assert.ok(registry.requests[1]?.body === PART.repeat(PARTS), "the whole stream arrives");
  });

  Deno.test(`send() ends a write whose stream breaks off over ${name}, and the registry does not take it for whole`, async () => {
    await using registry = await open();
    using transport = openTransport();
    registry.intercept = () => new Response(null, { status: 201 });
    await transport.send(write(`${registry.origin}/v2/`, { method: "POST", connection: reach }), context);
    const body = { contentType: "a/b", content: partsOf(new Error("source is gone")) };
    const sent = write(`${registry.origin}/v2/a`, { method: "PUT", body, connection: reach });
    await assert.rejects(transport.send(sent, context));
    assert.equal(registry.requests.filter(({ path }) => path === "/v2/a").length, 0);
  });

  Deno.test(`send() gives the body of an answer as it comes over ${name}`, async () => {
    await using registry = await open();
    using transport = openTransport();
    registry.intercept = () => new Response(PART.repeat(PARTS));
    const get = { isStreamed: true, connection: reach };
    const answer: RegistryResponse = await transport.send(write(`${registry.origin}/v2/a`, get), context);
    assert.equal(answer.body.byteLength, 0);
    assert.ok(await new Response(answer.stream).text() === PART.repeat(PARTS), "more than maxBytes, and whole");
  });
}

Deno.test("send() takes no stream of an answer that is an error", async () => {
  await using registry = await openFakeRegistry();
  using transport = openTransport();
  registry.intercept = () => new Response("gone", { status: 404 });
  const answer = await transport.send(write(`${registry.origin}/v2/a`, { isStreamed: true }), context);
  assert.deepEqual([new TextDecoder().decode(answer.body), answer.stream], ["gone", undefined]);
});

Deno.test("send() names a stream that breaks off on its way as any other answer", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  using transport = openTransport();
  const served = (async () => {
    using connection = await listener.accept();
    await connection.read(new Uint8Array(4_096));
    await connection.write(new TextEncoder().encode("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nbegin"));
  })();
  const url = `http://127.0.0.1:${listener.addr.port}/v2/a`;
  const answer = await transport.send(write(url, { isStreamed: true }), context);
  assert.equal((await errorOf(new Response(answer.stream).text())).failure.reason, "Unreachable");
  await served;
});

Deno.test("send() never follows a write to where it is redirected, and reports it", async () => {
  await using registry = await openFakeRegistry();
  using transport = openTransport();
  registry.intercept = () => new Response(null, { status: 307, headers: { location: "/v2/elsewhere" } });
  for (const method of ["POST", "PUT", "PATCH", "DELETE"] as const) {
    const sent = transport.send(write(`${registry.origin}/v2/a`, { method }), context);
    await assert.rejects(sent, /Cannot write to "127\.0\.0\.1:\d+\/v2\/a": the registry redirected a write/);
  }
  assert.deepEqual(registry.requests.map(({ path }) => path), ["/v2/a", "/v2/a", "/v2/a", "/v2/a"]);
});

Deno.test("send() lets an exchange bring its own limits of time", async () => {
  await using registry = await openFakeRegistry();
  using transport = openTransport();
  const held = Promise.withResolvers<Response>();
  registry.intercept = () => held.promise;
  const timeouts = { headersMs: 50, totalMs: 50 };
  const sent = transport.send(write(`${registry.origin}/v2/a`, { method: "PUT", timeouts }), context);
  assert.equal((await errorOf(sent)).failure.reason, "Timeout");
  held.resolve(new Response());
});
