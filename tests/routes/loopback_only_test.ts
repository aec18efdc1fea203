import assert from "node:assert/strict";
import { Hono } from "hono";
import { Registry } from "prom-client";
import { adminApp } from "../../routes/mod.ts";
import { loopbackOnly } from "../../routes/loopback_only.ts";

/** What Deno.serve passes on of a client. */
function clientAt(hostname: string): { readonly remoteAddr: Deno.NetAddr } {
  return { remoteAddr: { transport: "tcp", hostname, port: 40_000 } };
}

const NEARBY = ["127.0.0.1", "127.4.5.6", "::1", "::ffff:127.0.0.1"];
const FAR = ["10.0.0.7", "192.168.1.1", "::ffff:10.0.0.7", "fd00::1", "fe80::1", "0.0.0.0", "::", "", "localhost.evil"];

Deno.test("adminApp() shows pages that name pods to loopback clients alone, and its health to all", async () => {
  const answerPage = (): Response => new Response("team-a/pod");
  const pages = { "/": answerPage, "/registries": answerPage };
  const app = adminApp({ registry: new Registry(), beforeScrape: () => {}, ready: [], pages });
  for (const page of Object.keys(pages)) {
    for (const address of NEARBY) {
      const answer = await app.request(page, {}, clientAt(address));
      assert.deepEqual([answer.status, await answer.text()], [200, "team-a/pod"], `${page} ${address}`);
    }
    for (const env of [...FAR.map(clientAt), {}, undefined]) {
      const answer = await app.request(page, {}, env);
      assert.equal(answer.status, 403, `${page} ${JSON.stringify(env)}`);
      assert.match(await answer.text(), /use kubectl port-forward/);
    }
  }
  for (const address of [...NEARBY, ...FAR]) {
    for (const path of ["/healthz", "/readyz"]) {
      assert.equal((await app.request(path, {}, clientAt(address))).status, 200);
    }
  }
});

Deno.test("loopbackOnly() lets a client on loopback through a listener on all addresses", async () => {
  const app = new Hono().get("/", loopbackOnly(), (context) => context.text("page"));
  await using server = Deno.serve({ hostname: "0.0.0.0", port: 0, onListen: () => {} }, app.fetch);
  const answer = await fetch(`http://127.0.0.1:${server.addr.port}/`);
  assert.deepEqual([answer.status, await answer.text()], [200, "page"]);
});
