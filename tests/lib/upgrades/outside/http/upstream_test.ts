import assert from "node:assert/strict";
import { systemClock } from "../../../../../lib/clock.ts";
import { listenPlain, listenTls } from "../../../../../playground/listen.ts";
import {
  type EndpointSource,
  fixedEndpoint,
  type Upstream,
} from "../../../../../lib/upgrades/outside/http/upstream.ts";
import { UpstreamError } from "../../../../../lib/upgrades/outside/http/upstream_error.ts";
import { createAuthority } from "../../../../cluster/support/pki.ts";
import { openTunnelProxy } from "../../../../support/tunnel_proxy.ts";
import { FAULTS, hastyClock, LIMITS, openFaulty, openUpstream, SIGNAL } from "../support.ts";

const GET = { method: "GET", path: "/api" } as const;
const WORDS: Readonly<Record<string, readonly [RegExp, boolean]>> = {
  "answers 500": [/status 500/, true],
  "answers 503": [/status 503/, true],
  "answers 429": [/status 429/, true],
  "cuts the connection": [/cannot be reached/, true],
  "talks garbage": [/cannot be reached|status/, true],
  "breaks off its body": [/cannot be reached/, true],
  "never answers": [/did not answer in time/, true],
  "answers with a huge body": [/more than 65536 bytes/, false],
  "redirects elsewhere": [/status 302/, false],
};

for (const [fault, [words, isTransient]] of Object.entries(WORDS)) {
  Deno.test(`Upstream.send() rejects within its bounds when the server ${fault}, without a secret`, async () => {
    await using server = openFaulty(FAULTS[fault] ?? null);
    using upstream = openUpstream(server.origin, {
      limits: { ...LIMITS, timeoutMs: fault === "never answers" ? 300 : 30_000 },
    });
    await assert.rejects(upstream.send({ ...GET, query: { token: "s3cret-token" } }, SIGNAL), (error) => {
      assert.ok(error instanceof UpstreamError);
      assert.match(error.message, words);
      assert.ok(error.message.startsWith(`Cannot read from Prometheus "${server.host}/api": `), error.message);
      assert.doesNotMatch(error.message, /s3cret-token/);
      assert.equal(error.isTransient, isTransient);
      return true;
    });
  });
}

Deno.test("Upstream.send() tries a read again after transient failures, with pauses that double and vary, no more often than it may", async () => {
  let asked = 0;
  await using server = listenPlain(() => new Response("[]", { status: ++asked < 4 ? 503 : 200 }));
  const pauses: number[] = [];
  const limits = { ...LIMITS, maxAttempts: 5 };
  using upstream = openUpstream(server.origin, { limits, clock: hastyClock(pauses) });
  assert.equal((await upstream.send(GET, SIGNAL)).text, "[]");
  assert.equal(asked, 4);
  assert.equal(pauses.length, 3);
  const shares = pauses.map((pause, at) => pause / (2_000 * 2 ** at));
  assert.ok(shares.every((share) => share >= 0.7 && share <= 1.3), String(pauses));
  asked = -100;
  await assert.rejects(upstream.send(GET, SIGNAL), /status 503/);
  assert.equal(asked, -95);
});

Deno.test("Upstream.send() sends a write again only when that does no harm, and nothing that is refused", async () => {
  const seen: string[] = [];
  let status = 503;
  await using server = listenPlain(({ method }) => {
    seen.push(method);
    return new Response(null, { status });
  });
  using upstream = openUpstream(server.origin, { limits: { ...LIMITS, maxAttempts: 3 }, clock: hastyClock() });
  await assert.rejects(upstream.send({ method: "POST", path: "/", body: {} }, SIGNAL));
  assert.deepEqual(seen.splice(0), ["POST"]);
  await assert.rejects(upstream.send({ method: "PATCH", path: "/", body: {} }, SIGNAL));
  assert.deepEqual(seen.splice(0), ["PATCH", "PATCH", "PATCH"]);
  status = 400;
  await assert.rejects(upstream.send(GET, SIGNAL));
  assert.deepEqual(seen.splice(0), ["GET"]);
});

Deno.test("Upstream.send() gives the reason of a refusal only where it may be shown", async () => {
  let [body, status] = ['"bad matcher\\n name=\\"\\""', 400];
  await using server = listenPlain(() => new Response(body, { status }));
  using alertmanager = openUpstream(server.origin, { showsReason: true });
  const messageOf = async (upstream: Upstream): Promise<string> =>
    await upstream.send(GET, SIGNAL).then(() => "", (error: unknown) => String(error));
  assert.match(await messageOf(alertmanager), /status 400: bad matcher\\n name=\\"\\"\.$/);
  body = `x${"y".repeat(1_000)}`;
  assert.match(await messageOf(alertmanager), /status 400: xy{159}\.$/);
  body = "z".repeat(10_000);
  assert.match(await messageOf(alertmanager), /status 400\.$/);
  [body, status] = ["s3cret", 500];
  assert.match(await messageOf(alertmanager), /status 500\.$/);
  status = 400;
  using other = openUpstream(server.origin);
  assert.match(await messageOf(other), /status 400\.$/);
});

Deno.test("Upstream.send() asks once more with a fresh login after a 401, and once only", async () => {
  const seen: (string | null)[] = [];
  await using server = listenPlain(({ headers }) => {
    seen.push(headers.get("authorization"));
    return new Response("[]", { status: headers.get("authorization") === "Bearer new" ? 200 : 401 });
  });
  let tokens = ["old", "new"];
  const source: EndpointSource = {
    endpoint: () => Promise.resolve({ baseUrl: server.origin, caCerts: [], authorization: `Bearer ${tokens[0]}` }),
    discard: () => void (tokens = tokens.slice(1)),
  };
  using upstream = openUpstream(server.origin, { source });
  await upstream.send(GET, SIGNAL);
  assert.deepEqual(seen.splice(0), ["Bearer old", "Bearer new"]);
  tokens = ["old", "older", "oldest"];
  await assert.rejects(upstream.send(GET, SIGNAL), /status 401/);
  assert.deepEqual(seen, ["Bearer old", "Bearer older"]);
});

Deno.test("Upstream.send() sends no token that a header cannot hold, and does not repeat it", async () => {
  await using server = listenPlain(() => new Response("[]"));
  const endpoint = { baseUrl: server.origin, caCerts: [], authorization: "Bearer s3cret\ntoken\u0000" };
  using upstream = openUpstream(server.origin, {
    source: fixedEndpoint(endpoint),
  });
  await assert.rejects(upstream.send(GET, SIGNAL), (error) => {
    assert.ok(error instanceof UpstreamError && error.fault === "misconfigured");
    assert.doesNotMatch(error.message, /s3cret/);
    return true;
  });
});

Deno.test("Upstream.send() ends with the signal's own reason", async () => {
  await using server = openFaulty(null);
  using upstream = openUpstream(server.origin, { limits: { ...LIMITS, maxAttempts: 5 } });
  const stop = new AbortController();
  const sending = upstream.send(GET, stop.signal);
  stop.abort(new Error("the replica ends"));
  await assert.rejects(sending, /the replica ends/);
});

Deno.test("M-098 Upstream.send() goes through the proxy to a server of https, and trusts its CA alone", async () => {
  const authority = await createAuthority("archway test");
  const { certificatePem: cert, keyPem: key } = await authority.issue({ commonName: "ocm", usage: "server" });
  await using server = await listenTls(() => new Response("[]"), { certificate: { cert, key } });
  await using proxy = openTunnelProxy(server.host);
  const endpoint = { baseUrl: "https://localhost:4443", caCerts: [authority.certificatePem], proxyUrl: proxy.origin };
  const source = fixedEndpoint(endpoint);
  using upstream = openUpstream("", { source, clock: systemClock });
  assert.equal((await upstream.send(GET, SIGNAL)).text, "[]");
  assert.match(proxy.heads[0] ?? "", /^CONNECT localhost:4443 /);
  const untrusting = fixedEndpoint({ ...endpoint, caCerts: [] });
  using stranger = openUpstream("", { source: untrusting });
  await assert.rejects(stranger.send(GET, SIGNAL), /the TLS hand-shake failed/);
});
