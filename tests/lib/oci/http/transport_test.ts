import assert from "node:assert/strict";
import type { FailureReason, RegistryError } from "../../../../lib/oci/errors.ts";
import type { RegistryRequest } from "../../../../lib/oci/http/exchange.ts";
import type { Transport, TransportDeps } from "../../../../lib/oci/http/transport.ts";
import { issueLoopbackCertificates } from "../../../../playground/listen.ts";
import { errorOf, makeContext, makeExchange as get, openTransport, PLAIN } from "../../../support/inspectors.ts";
import { type FakeRegistry, openFakeRegistry } from "../../../support/registry.ts";
import { callersOf } from "../../../../lib/oci/callers.ts";
import { WorkLimits } from "../../../../lib/oci/limits/work_limits.ts";
import { turn } from "../../../support/until.ts";

function failure(transport: Transport, request: RegistryRequest, context = makeContext()): Promise<RegistryError> {
  return errorOf(transport.send(request, context));
}

async function reasonOf(transport: Transport, request: RegistryRequest): Promise<FailureReason> {
  return (await failure(transport, request)).failure.reason;
}

const context = makeContext();
const gzip = async (text: string): Promise<Uint8Array<ArrayBuffer>> => {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
};

Deno.test("send() says who it is, counts and traces", async () => {
  await using registry = await openFakeRegistry();
  using transport = openTransport();
  registry.intercept = () => new Response("hello");
  const own = makeContext();
  const answer = await transport.send(get(`${registry.origin}/v2/a?secret=1`, { accept: "a/b" }), own);
  assert.equal(new TextDecoder().decode(answer.body), "hello");
  const [seen] = registry.requests;
  assert.equal(seen?.headers.get("user-agent"), "archway/test");
  assert.equal(seen?.headers.get("accept"), "a/b");
  assert.equal(own.requestLog.counts.manifestGet, 1);
  const [traced] = own.requestLog.trace;
  assert.deepEqual([traced?.method, traced?.url, traced?.status], ["GET", `${registry.origin}/v2/a`, 200]);
});

const certificates = await issueLoopbackCertificates(Date.now());

const TRUSTING = { ...PLAIN, scheme: "https", caCertificates: [certificates.authority] } as const;
const UNDECLARED = { ...PLAIN, isDeclared: false };

function openTls(): Promise<FakeRegistry> {
  return openFakeRegistry({ certificate: certificates.serving });
}

Deno.test("send() verifies TLS, trusts the CA it is given and nobody's else", async () => {
  await using registry = await openTls();
  using transport = openTransport();
  registry.intercept = () => new Response("tls");
  const https = { ...PLAIN, scheme: "https" } as const;
  assert.equal(await reasonOf(transport, get(registry.origin, { connection: https })), "TlsFailed");
  assert.equal((await transport.send(get(registry.origin, { connection: TRUSTING }), context)).status, 200);
  // The connection that was made with the CA must not serve a request without it.
  assert.equal(await reasonOf(transport, get(registry.origin, { connection: https })), "TlsFailed");
});

const INSECURE = { ...PLAIN, scheme: "https-then-http", verifiesTls: false } as const;

Deno.test("send() skips verification only where declared, body and status intact", async () => {
  await using registry = await openTls();
  using transport = openTransport();
  registry.intercept = ({ method }) => new Response(method === "HEAD" ? null : "x".repeat(900), { status: 404 });
  for (const method of ["GET", "HEAD"] as const) {
    const answer = await transport.send(get(registry.origin, { connection: INSECURE, method }), context);
    assert.deepEqual([answer.status, answer.body.byteLength], [404, method === "GET" ? 900 : 0]);
  }
});

Deno.test("send() unpacks gzip and counts the unpacked bytes, with and without verification", async () => {
  await using plain = await openFakeRegistry();
  await using tls = await openTls();
  using transport = openTransport();
  for (const registry of [plain, tls]) {
    const headers = { "content-encoding": "gzip" };
    registry.intercept = async ({ path }) =>
      new Response(await gzip(path === "/small" ? "small" : "0".repeat(5_000)), { headers });
    const at = (path: string): RegistryRequest => get(registry.origin + path, { connection: INSECURE });
    assert.equal(new TextDecoder().decode((await transport.send(at("/small"), context)).body), "small");
    assert.equal(await reasonOf(transport, at("/bomb")), "TooLarge");
  }
});

Deno.test("send() keeps no more of a refusal than what needs no shared memory", async () => {
  await using registry = await openFakeRegistry();
  using transport = openTransport();
  registry.intercept = ({ path }) =>
    new Response("0".repeat(path === "/large" ? 300_000 : 60_000), { status: path === "/right" ? 200 : 401 });
  const lengthOf = async (path: string): Promise<readonly number[]> => {
    const { status, body } = await transport.send(get(registry.origin + path, { maxBytes: 1_000_000 }), context);
    return [status, body.byteLength];
  };
  assert.deepEqual(await lengthOf("/right"), [200, 60_000]);
  assert.deepEqual(await lengthOf("/small"), [401, 60_000]);
  assert.deepEqual(await lengthOf("/large"), [401, 0], "a refusal all the same");
});

Deno.test("send() rejects with the caller's reason when the caller leaves", async () => {
  await using registry = await openFakeRegistry();
  using transport = openTransport();
  const leaving = new AbortController();
  const reason = new Error("gone");
  const answering = Promise.withResolvers<Response>();
  registry.intercept = () => {
    leaving.abort(reason);
    return answering.promise;
  };
  await assert.rejects(transport.send(get(registry.origin), { ...context, signal: leaving.signal }), reason);
  answering.resolve(new Response(""));
});

Deno.test("send() is Unreachable, and shows no query, when nothing listens", async () => {
  using transport = openTransport();
  const error = await failure(transport, get("http://127.0.0.1:1/v2/a?token=hunter2"));
  assert.equal(error.failure.reason, "Unreachable");
  assert.doesNotMatch(error.message, /hunter2/);
});

Deno.test("send() says of an undeclared host that has never answered only that it could not be reached, whatever is wrong there", async () => {
  await using plain = await openFakeRegistry();
  await using untrusted = await openTls();
  using silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const undeclared = { ...UNDECLARED, scheme: "https" } as const;
  const messagesOf = async (
    addresses: readonly string[],
    audience: TransportDeps["audience"] = "tenants",
    limitMs = 200,
  ): Promise<readonly string[]> => {
    const limits = { timeouts: { headersMs: limitMs, totalMs: limitMs }, audience };
    using transport = openTransport({ ...limits, resolve: () => Promise.resolve(addresses) });
    const ports = [plain, untrusted].map(({ host }) => host.split(":")[1]).concat(String(silent.addr.port), "1");
    const errors = await Promise.all(
      ports.map((port) => failure(transport, get(`https://localhost:${port}/v2/`, { connection: undeclared }))),
    );
    return errors.map(({ failure: { reason, message } }) => `${reason} ${message.replaceAll(/:\d+/g, "")}`);
  };
  for (const address of ["10.0.0.1", "fd00::1", "100.64.0.1", "::ffff:192.168.0.1"]) {
    const [first = "", ...others] = await messagesOf([address]);
    assert.match(first, /^Unreachable .* could not be reached\. If it is meant to be used, declare it/);
    assert.deepEqual([...new Set(others)], [first], address);
  }
  // Handshakes take a while on a busy machine.
  const described = await messagesOf(["10.0.0.1"], "caller", 2_000);
  const distinct = new Set(described).size;
  assert.equal(distinct, described.length, "the person who asks from their own machine sees what is wrong");
  const [first, ...others] = await messagesOf(["93.184.216.34"]);
  assert.deepEqual([...new Set(others)], [first], "the name may have another address by the time that it is asked");
});

Deno.test("send() says of an undeclared public host that has answered before what is wrong", async () => {
  await using registry = await openTls();
  const url = registry.origin.replace("127.0.0.1", "localhost");
  using transport = openTransport({ resolve: () => Promise.resolve(["93.184.216.34"]) });
  const undeclared = { ...PLAIN, scheme: "https", isDeclared: false } as const;
  const trusting = { ...undeclared, caCertificates: [certificates.authority] };
  registry.intercept = () => new Response("", { status: 500 });
  await transport.send(get(url, { connection: trusting }), context);
  assert.equal(await reasonOf(transport, get(url, { connection: undeclared })), "Unreachable");
  registry.intercept = () => new Response("", { status: 401 });
  await transport.send(get(url, { connection: trusting }), context);
  assert.equal(await reasonOf(transport, get(url, { connection: undeclared })), "TlsFailed");
});

Deno.test("send() traces how it logged in, never with what", async () => {
  await using registry = await openFakeRegistry();
  using transport = openTransport();
  registry.intercept = () => new Response("hello");
  const { requestLog } = makeContext();
  const form = new URLSearchParams({ refresh_token: "c4nary" });
  const ways: readonly Partial<RegistryRequest>[] = [
    {},
    { authorization: "Basic c4nary" },
    { authorization: "Bearer c4nary" },
    { headers: { Authorization: "c4nary" } },
    { form, method: "POST" },
  ];
  for (const more of ways) await transport.send(get(registry.origin, more), { ...context, requestLog });
  const logins = requestLog.trace.map(({ authorization }) => authorization);
  assert.deepEqual(logins, [undefined, "Basic", "Bearer", "other", "form"]);
  assert.doesNotMatch(JSON.stringify(requestLog.trace), /c4nary/);
});

Deno.test("send() keeps the credential within the origin when it is redirected", async () => {
  await using storage = await openFakeRegistry();
  await using registry = await openFakeRegistry();
  using transport = openTransport();
  storage.intercept = () => new Response("blob");
  const authorization = "Basic hunter2";
  for (const [target, kept] of [[`${storage.origin}/blob`, null], ["/elsewhere", authorization]] as const) {
    registry.intercept = ({ path }) =>
      path === "/elsewhere" ? new Response("blob") : new Response(null, { status: 307, headers: { location: target } });
    const answer = await transport.send(get(`${registry.origin}/v2/a`, { authorization }), context);
    assert.equal(new TextDecoder().decode(answer.body), "blob");
    const last = target.startsWith("/") ? registry.requests.at(-1) : storage.requests.at(-1);
    assert.equal(last?.headers.get("authorization") ?? null, kept);
  }
});

Deno.test("send() shows no path that it was redirected to: it may be a signed one", async () => {
  await using registry = await openFakeRegistry();
  using transport = openTransport();
  for (const target of ["http://127.0.0.1:1/hunter2?sig=hunter2", "/hunter2/elsewhere"]) {
    registry.intercept = ({ path }) =>
      path === "/v2/a"
        ? new Response(null, { status: 307, headers: { location: target } })
        : new Response("x".repeat(2_000));
    const { requestLog } = makeContext();
    const error = await failure(transport, get(`${registry.origin}/v2/a`), { ...context, requestLog });
    assert.doesNotMatch(`${error.message} ${error.cause ?? ""} ${JSON.stringify(requestLog.trace)}`, /hunter2/);
    assert.match(error.message, /"127\.0\.0\.1:\d+\/…"/);
  }
});

Deno.test("send() refuses a credential that no header can hold without repeating it", async () => {
  await using registry = await openFakeRegistry();
  using transport = openTransport();
  const error = await failure(transport, get(registry.origin, { authorization: "Bearer hunter2\nX: 1" }));
  assert.equal(error.failure.reason, "Unauthorized");
  assert.doesNotMatch(`${error.message} ${error.stack} ${error.cause ?? ""}`, /hunter2/);
  assert.deepEqual(registry.requests, []);
});

/** A TLS server that sends these bytes to whoever asks. */
async function sendRaw(answer: string, request: (origin: string) => RegistryRequest): Promise<RegistryError> {
  const listener = Deno.listenTls({ hostname: "127.0.0.1", port: 0, ...certificates.serving });
  using transport = openTransport();
  const failing = failure(transport, request(`https://127.0.0.1:${listener.addr.port}`));
  const connection = await listener.accept();
  await connection.read(new Uint8Array(4_096));
  await connection.write(new TextEncoder().encode(answer));
  const error = await failing;
  connection.close();
  listener.close();
  return error;
}

for (const status of ["999", "099", "600"]) {
  Deno.test(`send() survives an insecure registry that answers with status ${status}`, async () => {
    const answer = `HTTP/1.1 ${status} Odd\r\ncontent-length: 2\r\n\r\nhi`;
    const error = await sendRaw(answer, (origin) => get(origin, { connection: INSECURE }));
    assert.equal(error.failure.kind, "transient");
  });
}

Deno.test("send() follows at most five redirects", async () => {
  await using registry = await openFakeRegistry();
  using transport = openTransport();
  registry.intercept = () => new Response(null, { status: 302, headers: { location: "/again" } });
  assert.equal(await reasonOf(transport, get(registry.origin)), "ServerError");
  assert.equal(registry.requests.length, 6);
});

Deno.test("send() never follows a redirect of a login", async () => {
  await using thief = await openFakeRegistry();
  await using registry = await openFakeRegistry();
  using transport = openTransport();
  registry.intercept = () => new Response(null, { status: 307, headers: { location: `${thief.origin}/token` } });
  const form = new URLSearchParams({ refresh_token: "hunter2" });
  assert.equal(await reasonOf(transport, get(registry.origin, { method: "POST", form })), "ServerError");
  assert.deepEqual(thief.requests, []);
});

Deno.test("P-114 send() follows no redirect from https to http, nor to another kind of address", async () => {
  await using registry = await openTls();
  using transport = openTransport();
  for (const location of ["http://127.0.0.1:1/", "file:///etc/passwd", "data:text/plain,x", "https://"]) {
    registry.intercept = () => new Response(null, { status: 307, headers: { location } });
    assert.equal(await reasonOf(transport, get(registry.origin, { connection: TRUSTING })), "ServerError", location);
  }
});

Deno.test("send() checks the address of an undeclared host, and of each redirect", async () => {
  await using registry = await openFakeRegistry();
  using transport = openTransport();
  assert.equal(await reasonOf(transport, get(registry.origin, { connection: UNDECLARED })), "AddressDenied");
  assert.deepEqual(registry.requests, []);
  for (const location of ["http://169.254.169.254/latest/meta-data", "http://[::ffff:169.254.169.254]/"]) {
    registry.intercept = () => new Response(null, { status: 307, headers: { location } });
    assert.equal(await reasonOf(transport, get(registry.origin)), "AddressDenied", location);
  }
});

Deno.test("send() does not take a host called tls for a TLS fault", async () => {
  using transport = openTransport();
  assert.equal(await reasonOf(transport, get("http://tls-handshake.invalid/v2/")), "Unreachable");
});

Deno.test("send() reports that certificates are unreadable instead of blaming the registry", async () => {
  using transport = openTransport();
  const clientCertificates = [{ certificate: "nonsense", key: "nonsense" }];
  const unreadable = { ...PLAIN, scheme: "https", clientCertificates } as const;
  assert.equal(await reasonOf(transport, get("https://127.0.0.1:1/", { connection: unreadable })), "Misconfigured");
});

Deno.test("send() does not wait for names longer than for answers", async () => {
  const resolve = (): Promise<readonly string[]> => new Promise(() => {});
  using transport = openTransport({ timeouts: { headersMs: 50, totalMs: 7_000 }, resolve });
  const request = get("https://slow.example/", { connection: { ...PLAIN, scheme: "https", isDeclared: false } });
  assert.equal(await reasonOf(transport, request), "Timeout");
});

Deno.test("send() has few resolutions of names open, also of requests that have left, and some for another namespace", async () => {
  const limits = new WorkLimits();
  const open: ((addresses: readonly string[]) => void)[] = [];
  using transport = openTransport({
    limits,
    resolve: (host) => {
      if (!host.startsWith("black")) return Promise.resolve(["127.0.0.1"]);
      const { promise, resolve } = Promise.withResolvers<readonly string[]>();
      open.push(resolve);
      return promise;
    },
  });
  const send = (namespace: string, host: string, signal: AbortSignal): Promise<unknown> => {
    const callers = callersOf({ namespace, priority: "gated" });
    return transport.send(get(`http://${host}/v2/`, { connection: UNDECLARED }), makeContext({ callers, signal }));
  };
  for (let at = 0; at < 64; at++) {
    const leaving = new AbortController();
    const left = send(`evil${at % 2}`, `black${at}.example`, leaving.signal);
    await turn();
    leaving.abort(new Error("left"));
    await assert.rejects(left, /left/);
  }
  assert.equal(limits.nameResolutions.taken, 11);
  await assert.rejects(send("good", "registry.example", context.signal), /loopback/, "its name was looked up");
  for (const end of open) end([]);
  await turn();
  assert.deepEqual([open.length, limits.nameResolutions.taken], [11, 0]);
});
