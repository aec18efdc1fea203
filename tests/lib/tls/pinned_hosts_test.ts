import assert from "node:assert/strict";
import { errorText } from "../../../lib/log.ts";
import { PinnedHosts } from "../../../lib/tls/pinned_hosts.ts";
import { fetchUnverified } from "../../../lib/tls/unverified_fetch.ts";
import { openTunnelProxy } from "../../support/tunnel_proxy.ts";
import { issueSelfSigned, type SelfSigned } from "./self_signed.ts";

const serve = ({ pem: cert, key }: SelfSigned, port = 0) => {
  const bodies: string[] = [];
  const onRequest = async (request: Request): Promise<Response> => {
    bodies.push(await request.text());
    return new Response("hello");
  };
  const server = Deno.serve({ hostname: "127.0.0.1", port, cert, key, onListen: () => {} }, onRequest);
  return {
    url: new URL(`https://localhost:${server.addr.port}/`),
    bodies,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
};

const ask = async (
  hosts: PinnedHosts,
  { url, trusted, proxyUrl }: { readonly url: URL; readonly trusted: readonly string[]; readonly proxyUrl?: string },
) => {
  const ways: string[] = [];
  using client = Deno.createHttpClient({ caCerts: [...trusted] });
  const { signal } = new AbortController();
  const response = await hosts.fetch(url, {
    trusted,
    nowMs: Date.now(),
    verified: () => {
      ways.push("verified");
      return fetch(url, { method: "POST", body: "hi", client });
    },
    pinned: (judge) => {
      ways.push("pinned");
      return fetchUnverified(url, { method: "POST", body: "hi", headers: new Headers(), signal, judge, proxyUrl });
    },
  });
  return { text: await response.text(), ways };
};

const own = await issueSelfSigned();

Deno.test("PinnedHosts asks a server that is its own CA pinned, and keeps that in memory", async () => {
  await using server = serve(own);
  const hosts = new PinnedHosts();
  const trusted = [own.pem];
  assert.deepEqual((await ask(hosts, { url: server.url, trusted })).ways, ["verified", "pinned"]);
  assert.deepEqual((await ask(hosts, { url: server.url, trusted })).ways, ["pinned"]);
  assert.deepEqual(server.bodies, ["hi", "hi"]);
});

Deno.test("PinnedHosts drops a host that shows another certificate, and one whose trust has changed", async () => {
  const hosts = new PinnedHosts();
  const renewed = await issueSelfSigned();
  const port = await (async (): Promise<number> => {
    await using server = serve(own);
    await ask(hosts, { url: server.url, trusted: [own.pem] });
    return Number(server.url.port);
  })();
  await using server = serve(renewed, port);
  const isOfTheChain = (error: unknown): boolean => /CaUsedAsEndEntity/.test(errorText(error));
  await assert.rejects(ask(hosts, { url: server.url, trusted: [own.pem] }), isOfTheChain);
  assert.deepEqual(server.bodies, []);
  const both = [own.pem, renewed.pem];
  assert.deepEqual((await ask(hosts, { url: server.url, trusted: both })).ways, ["verified", "pinned"]);
});

Deno.test("PinnedHosts sends nothing to a server whose trusted certificate is for another name, and reports it", async () => {
  const elsewhere = await issueSelfSigned({ names: [{ type: "dns", value: "other.test" }] });
  await using server = serve(elsewhere);
  const asked = ask(new PinnedHosts(), { url: server.url, trusted: [elsewhere.pem] });
  await assert.rejects(asked, /not valid for this name: its subjectAltName has others/);
  assert.deepEqual(server.bodies, []);
});

Deno.test("PinnedHosts pins through a proxy as well", async () => {
  await using server = serve(own);
  await using proxy = openTunnelProxy(server.url.host);
  const asked = await ask(new PinnedHosts(), { url: server.url, trusted: [own.pem], proxyUrl: proxy.origin });
  assert.equal(asked.text, "hello");
  assert.match(proxy.heads[0] ?? "", /^CONNECT localhost:/);
});

Deno.test("fetchUnverified() sends a stream whole that frees each chunk when the next one is requested", async () => {
  await using server = serve(own);
  const body = ReadableStream.from((function* (): Generator<Uint8Array<ArrayBuffer>> {
    for (let count = 0; count < 100; count++) {
      const chunk = new Uint8Array(65_536).fill(97 + count % 26);
      yield chunk;
      chunk.buffer.transfer(0);
    }
  })());
  const { signal } = new AbortController();
  const response = await fetchUnverified(server.url, { method: "POST", body, headers: new Headers(), signal });
  assert.equal(await response.text(), "hello");
  const wanted = Array.from({ length: 100 }, (_, at) => String.fromCharCode(97 + at % 26).repeat(65_536)).join("");
  assert.ok(server.bodies.join() === wanted, "what was sent arrived");
});
