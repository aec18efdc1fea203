import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import { TLSSocket } from "node:tls";
import type { ClientCertificate } from "../../../lib/oci/endpoint.ts";
import { issueLoopbackCertificates } from "../../../playground/listen.ts";
import { issueAuthority, issueServing } from "../../../lib/tls/issue.ts";
import { makeMultiArch } from "../../support/documents.ts";
import { failureIn, makeCredential, makeEndpoint, openTestInspector, PLAIN, planAt } from "../../support/inspectors.ts";
import { openFakeRegistry } from "../../support/registry.ts";

const VALIDITY = { nowMs: Date.now(), lifetimeMs: 3_600_000 };
const { authority, serving } = await issueLoopbackCertificates(VALIDITY.nowMs);
const { index } = makeMultiArch(["arm64"]);
const ANYBODY = { kind: "token", users: {}, anonymous: true } as const;

async function makePair(): Promise<ClientCertificate> {
  const pair = await issueServing(await issueAuthority(VALIDITY), { ...VALIDITY, names: ["client"] });
  return { certificate: pair.cert, key: pair.key };
}

/** A registry that serves one index to whoever shows a certificate that it likes, and otherwise answers as nginx does. */
async function openStrictRegistry(likes: ClientCertificate): Promise<AsyncDisposable & { readonly host: string }> {
  const wanted = likes.certificate.replaceAll(/-----[^-]*-----|\s/g, "");
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const shown = request.socket instanceof TLSSocket ? request.socket.getPeerCertificate().raw : undefined;
    if (shown !== undefined && new Uint8Array(shown).toBase64() === wanted) {
      response.writeHead(200, { "content-type": index.mediaType });
    } else response.writeHead(400);
    response.end(response.statusCode === 200 ? index.text : "The SSL certificate error");
  };
  const server = createServer({ ...serving, requestCert: true, rejectUnauthorized: false }, answer);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  return {
    host: `127.0.0.1:${address.port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

for (const verifiesTls of [true, false]) {
  Deno.test(`inspect() tries every client certificate of a host, and the right one first from then on (verified: ${verifiesTls})`, async () => {
    const pairs = [await makePair(), await makePair(), await makePair()];
    await using registry = await openStrictRegistry(pairs[1] ?? assert.fail());
    const connection = {
      scheme: "https",
      verifiesTls,
      caCertificates: [authority],
      clientCertificates: pairs,
    } as const;
    using inspector = openTestInspector({ connection });
    const first = await inspector.inspect(`${registry.host}/org/app:v1`);
    assert.deepEqual([first.inspection.kind, first.requests.manifestGet], ["platforms", 2]);
    const second = await inspector.inspect(`${registry.host}/org/app:v2`);
    assert.deepEqual([second.inspection.kind, second.requests.manifestGet], ["platforms", 1]);
  });
}

Deno.test("inspect() fails as the last certificate fails when a host takes none of them", async () => {
  const pairs = [await makePair(), await makePair()];
  await using registry = await openStrictRegistry(await makePair());
  const connection = { scheme: "https", caCertificates: [authority], clientCertificates: pairs } as const;
  using inspector = openTestInspector({ connection });
  const report = await inspector.inspect(`${registry.host}/org/app:v1`);
  assert.deepEqual([report.inspection.kind, report.requests.manifestGet], ["failed", 2]);
});

Deno.test("inspect() names to a mirror the registry that it asks for, and sends its headers to it alone", async () => {
  await using store = await openFakeRegistry();
  await using tokens = await openFakeRegistry({ login: ANYBODY });
  await using mirror = await openFakeRegistry({ login: { ...ANYBODY, realm: `${tokens.origin}/token` } });
  mirror.intercept = ({ path, headers }) =>
    path.includes("/manifests/") && headers.get("authorization") !== null
      ? new Response(null, { status: 307, headers: { location: `${store.origin}/blob` } })
      : undefined;
  store.intercept = () => new Response(index.text, { headers: { "content-type": index.mediaType } });
  const headers = { "x-tenant": "c4nary", "User-Agent": "not mine to say" };
  const named = { repository: "org/app", identifier: "v1" };
  const endpoint = makeEndpoint(mirror.host, { ...named, isMirror: true, mirrorOf: "quay.io", headers });
  using inspector = openTestInspector({ plan: planAt(endpoint) });
  const report = await inspector.inspect("quay.io/org/app:v1");
  assert.equal(report.inspection.kind, "platforms");
  assert.deepEqual([...new Set(mirror.requests.map(({ path }) => path))], ["/v2/org/app/manifests/v1?ns=quay.io"]);
  assert.deepEqual([...new Set(mirror.requests.map(({ headers }) => headers.get("x-tenant")))], ["c4nary"]);
  assert.equal(mirror.requests[0]?.headers.get("user-agent"), "archway/test");
  for (const { headers } of [...store.requests, ...tokens.requests]) assert.equal(headers.get("x-tenant"), null);
  assert.deepEqual([store.requests.length, tokens.requests.length], [1, 1]);
  assert.doesNotMatch(JSON.stringify(report), /c4nary|ns=/);
});

Deno.test("inspect() lets the login of a pod win over an Authorization header of hosts.toml", async () => {
  await using mirror = await openFakeRegistry({ login: { kind: "basic", users: { user: "password" } } });
  mirror.put("org/app", index, "v1");
  const headers = { Authorization: "Basic bm90Om1pbmU=" };
  const endpoint = makeEndpoint(mirror.host, { repository: "org/app", identifier: "v1", headers });
  using inspector = openTestInspector({ plan: planAt(endpoint) });
  const report = await inspector.inspect("quay.io/org/app:v1", { credentials: [makeCredential(mirror.host)] });
  assert.equal(report.inspection.kind, "platforms");
  assert.equal(mirror.requests[0]?.headers.get("authorization"), headers.Authorization);
});

for (const addresses of [["203.0.113.7"], []]) {
  Deno.test(`inspect() connects nowhere but to the checked addresses [${addresses}] where TLS is not verified`, async () => {
    await using registry = await openFakeRegistry({ certificate: serving });
    registry.put("org/app", index, "v1");
    using inspector = openTestInspector({
      connection: { scheme: "https", verifiesTls: false, isDeclared: false },
      resolve: () => Promise.resolve(addresses),
      timeouts: { headersMs: 200, totalMs: 7_000 },
    });
    // The system resolves the name to loopback, as a rebinding name server would the second time.
    const report = await inspector.inspect(`localhost:${registry.host.split(":")[1]}/org/app:v1`);
    assert.equal(failureIn(report).kind, "transient");
    assert.deepEqual(registry.requests, []);
  });
}

Deno.test("inspect() asks no token server without TLS for a host that nobody declared, not even anonymously", async () => {
  await using thief = await openFakeRegistry();
  const realm = `http://${thief.host.replace("127.0.0.1", "localhost")}/x`;
  await using registry = await openFakeRegistry({ login: { ...ANYBODY, realm }, certificate: serving });
  using inspector = openTestInspector({
    connection: { ...PLAIN, scheme: "https", caCertificates: [authority], isDeclared: false },
    resolve: () => Promise.resolve(["93.184.216.34"]),
  });
  const report = await inspector.inspect(`localhost:${registry.host.split(":")[1]}/org/app:v1`);
  assert.match(failureIn(report).message, /not reached over https/);
  assert.deepEqual(thief.requests, []);
});
