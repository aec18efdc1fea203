// Logging in to registries: Basic, tokens, identity tokens, several credentials, and where a credential must never go.
import assert from "node:assert/strict";
import { isPrivate } from "../../../support/reports.ts";
import type { Credential } from "../../../../lib/oci/credential.ts";
import { issueLoopbackCertificates } from "../../../../playground/listen.ts";
import { makeImage, makeMultiArch } from "../../../support/documents.ts";
import {
  failureIn,
  LOOK_UP_AGAIN,
  makeCredential,
  makeRequest,
  openRegistryBed,
  openTestInspector,
  type RegistryBed,
  seenIn as sees,
} from "../../../support/inspectors.ts";
import { type Login, openFakeRegistry } from "../../../support/registry.ts";
import { until } from "../../../support/until.ts";

const USERS = { user: "password" };
const BASIC: Login = { kind: "basic", users: USERS };
const TOKEN: Login = { kind: "token", users: USERS, anonymous: false };

async function openBed(login: Login): Promise<RegistryBed> {
  const bed = await openRegistryBed({ login, isLoggedIn: true });
  for (const repository of ["org/app", "org/other"]) {
    bed.registry.put(repository, makeMultiArch(["amd64", "arm64"]).index, "v1");
  }
  return bed;
}

const BOTH = ["amd64", "arm64"];

/** Answers requests for manifests without a login instead of the registry. */
function refuseStrangers(bed: RegistryBed, answer: () => Response): void {
  bed.registry.intercept = ({ path, headers }) =>
    path.includes("/manifests/") && headers.get("authorization") === null ? answer() : undefined;
}

function limited(): Response {
  return new Response("", { status: 429, headers: { "retry-after": "600" } });
}

Deno.test("DV-114 inspect() asks for a token of the repository's pull scope, with the user's name", async () => {
  await using bed = await openBed(TOKEN);
  const report = await bed.inspect("org/app:v1");
  assert.deepEqual(sees(report), BOTH);
  const token = bed.registry.requests.find(({ path }) => path.startsWith("/token"));
  const query = new URLSearchParams(token?.path.split("?")[1]);
  assert.deepEqual(Object.fromEntries(query), { service: "fake", scope: "repository:org/app:pull", account: "user" });
  assert.deepEqual([isPrivate(report), report.credentialSource], [true, "secret team-a/pull"]);
});

Deno.test("inspect() gets a new token when the registry no longer takes the old one", async () => {
  await using bed = await openBed(TOKEN);
  await bed.inspect("org/app:v1");
  bed.registry.put("org/app", makeMultiArch(["s390x"]).index, "v2");
  let revoked = 1;
  bed.registry.intercept = ({ path }) => {
    if (!path.includes("/manifests/") || revoked-- <= 0) return undefined;
    const challenge =
      `Bearer realm="${bed.registry.origin}/token",service="fake",scope="repository:org/app:pull",error="invalid_token"`;
    return new Response("", { status: 401, headers: { "www-authenticate": challenge } });
  };
  assert.deepEqual(sees(await bed.inspect("org/app:v2")), ["s390x"]);
});

Deno.test("P-106 inspect() trades an identity token for a token by POST, never in the address", async () => {
  const login: Login = { kind: "token", users: {}, anonymous: false, identityTokens: ["refresh-me"] };
  await using bed = await openBed(login);
  const credentials: readonly Credential[] = [
    { scope: bed.registry.host, source: "config.json", secret: { kind: "identity", token: "refresh-me" } },
  ];
  assert.deepEqual(sees(await bed.inspect("org/app:v1", { credentials })), BOTH);
  assert.ok(bed.registry.requests.every(({ path }) => !path.includes("refresh-me")));
});

for (const login of [TOKEN, BASIC]) {
  Deno.test(`inspect() reports which sources were refused, and none of their secrets (${login.kind})`, async () => {
    await using bed = await openBed(login);
    const revoked = { username: "revoked", password: "hunter2", source: "secret a/old" };
    const credentials = [makeCredential(bed.registry.host, revoked)];
    const { kind, reason, message } = failureIn(await bed.inspect("org/app:v1", { credentials }));
    assert.deepEqual([kind, reason], ["permanent", "Unauthorized"]);
    assert.match(message, /secret a\/old/);
    assert.doesNotMatch(message, /hunter2|revoked/);
  });
}

Deno.test("inspect() copes with repositories of one host that log in differently", async () => {
  await using bed = await openBed(TOKEN);
  await bed.inspect("org/app:v1");
  bed.registry.intercept = ({ path, headers }) => {
    if (path.startsWith("/token")) return new Response("", { status: 401 });
    return headers.get("authorization") === `Basic ${btoa("user:password")}`
      ? new Response(makeMultiArch(["s390x"]).index.text)
      : new Response("", { status: 401, headers: { "www-authenticate": 'Basic realm="x"' } });
  };
  assert.deepEqual(sees(await bed.inspect("org/other:v1")), ["s390x"]);
});

Deno.test("inspect() gives no credential to a host that it is not for", async () => {
  await using bed = await openBed(BASIC);
  const credentials = [makeCredential("quay.io"), makeCredential(`${bed.registry.host}/elsewhere`)];
  assert.equal(sees(await bed.inspect("org/app:v1", { credentials })), "Unauthorized");
  assert.ok(bed.registry.requests.every(({ headers }) => headers.get("authorization") === null));
});

Deno.test("DV-116 P-107 inspect() prefers the credential with the longest path", async () => {
  await using bed = await openBed({ kind: "basic", users: { team: "password" } });
  const credentials = [
    makeCredential(bed.registry.host),
    makeCredential(`${bed.registry.host}/org/app`, { username: "team" }),
    makeCredential(`${bed.registry.host}/org`),
  ];
  await bed.inspect("org/app:v1", { credentials });
  const sent = bed.registry.requests.flatMap(({ headers }) => headers.get("authorization") ?? []);
  assert.deepEqual(sent, [`Basic ${btoa("team:password")}`]);
});

Deno.test("DV-127 inspect() works as a stranger when nobody has a credential", async () => {
  await using bed = await openBed({ kind: "none" });
  assert.deepEqual(sees(await bed.inspect("org/app:v1", { credentials: [] })), BOTH);
});

Deno.test("inspect() does not send a password to a token server without TLS for a registry with it", async () => {
  await using thief = await openFakeRegistry({ login: TOKEN });
  const { authority, serving } = await issueLoopbackCertificates(Date.now());
  const login = { ...TOKEN, realm: `${thief.origin}/token` };
  await using registry = await openFakeRegistry({ login, certificate: serving });
  using inspector = openTestInspector({ connection: { scheme: "https", caCertificates: [authority] } });
  const credentials = [makeCredential(registry.host)];
  const report = await inspector.inspect(`${registry.host}/org/app:v1`, { credentials });
  assert.match(failureIn(report).message, /not reached over https/);
  assert.deepEqual(thief.requests, []);
});

Deno.test("inspect() contacts no token server on a forbidden address of an undeclared registry", async () => {
  await using thief = await openFakeRegistry({ login: TOKEN });
  const resolve = (): Promise<readonly string[]> => Promise.resolve(["93.184.216.34"]);
  using inspector = openTestInspector({ connection: { isDeclared: false }, resolve });
  await using registry = await openFakeRegistry({ login: { ...TOKEN, realm: `${thief.origin}/token` } });
  assert.equal(sees(await inspector.inspect(`${registry.host}/org/app:v1`)), "AddressDenied");
  assert.deepEqual([thief.requests, registry.requests], [[], []]);
});

const NO_TOKENS = { nonsense: "<html>", dense: `{"token":"t","more":[${"{},".repeat(100_000)}{}]}` };

for (const [what, body] of Object.entries(NO_TOKENS)) {
  Deno.test(`inspect() fails as malformed when the answer of the token server is ${what}`, async () => {
    await using bed = await openBed({ kind: "token", users: {}, anonymous: true });
    bed.registry.intercept = ({ path }) => path.startsWith("/token") ? new Response(body) : undefined;
    assert.equal(sees(await bed.inspect("org/app:v1", { credentials: [] })), "Malformed");
  });
}

const TOKEN_BODIES = [
  { token: "x", access_token: null },
  { token: null, access_token: "x" },
  { token: "", access_token: "x" },
  { token: "x", expires_in: "300" },
  { token: "x", expires_in: null, issued_at: 7 },
];

for (const body of TOKEN_BODIES) {
  Deno.test(`inspect() takes the token of ${JSON.stringify(body)}`, async () => {
    await using bed = await openBed(TOKEN);
    const { index } = makeMultiArch(["amd64", "arm64"]);
    bed.registry.intercept = ({ path, headers }) =>
      path.startsWith("/token")
        ? Response.json(body)
        : headers.get("authorization") === "Bearer x"
        ? new Response(index.text)
        : undefined;
    assert.deepEqual(sees(await bed.inspect("org/app:v1", { credentials: [] })), BOTH);
  });
}

Deno.test("inspect() repeats no token that a header cannot hold, be it the user's or the server's", async () => {
  await using bed = await openBed(TOKEN);
  const image = `${bed.registry.host}/org/app:v1`;
  for (const token of ["hunter2\nX-Evil: 1", "hunter2\0", "hunter2€"]) {
    bed.registry.intercept = () => undefined;
    const own = { scope: bed.registry.host, source: "secret team-a/bad", secret: { kind: "registry", token } } as const;
    const refused = await bed.inspector.inspect(image, { credentials: [own] });
    assert.equal(sees(refused), "Unauthorized");
    const used = await bed.inspector.inspect(image, { credentials: [own, makeCredential(bed.registry.host)] });
    assert.deepEqual(sees(used), BOTH);
    bed.registry.intercept = ({ path }) => path.startsWith("/token") ? Response.json({ token }) : undefined;
    const given = await bed.inspect("org/other:v1", { credentials: [] });
    assert.equal(sees(given), "Malformed");
    assert.doesNotMatch(JSON.stringify([refused, given]), /hunter2/);
  }
});

for (const status of [401, 403]) {
  Deno.test(`inspect() asks once, and the root once, when ${status} comes without a way to log in, however many credentials there are`, async () => {
    await using bed = await openBed({ kind: "none" });
    bed.registry.intercept = () => new Response("no", { status });
    const credentials = ["a", "b", "c"].map((username) => makeCredential(bed.registry.host, { username }));
    assert.equal(sees(await bed.inspect("org/app:v1", { credentials })), "Unauthorized");
    assert.deepEqual(bed.registry.requests.map(({ path }) => path), ["/v2/", "/v2/org/app/manifests/v1"]);
    await bed.inspect("org/public:v1", { credentials: [] });
    assert.equal(bed.registry.requests.length, 3);
  });
}

for (const status of [401, 403, 404]) {
  Deno.test(`inspect() reads at the root how to log in when anonymous requests get ${status} without a challenge`, async () => {
    await using bed = await openBed(TOKEN);
    refuseStrangers(bed, () => new Response("no", { status }));
    assert.deepEqual(sees(await bed.inspect("org/app:v1")), BOTH);
    assert.deepEqual(sees(await bed.inspect(`org/app@${makeMultiArch(BOTH).index.digest}`)), BOTH);
    assert.equal(bed.registry.requests.filter(({ path }) => path === "/v2/").length, 1);
  });
}

for (const isFirst of [true, false]) {
  const when = isFirst ? "when its first request" : "while anonymous requests to the host";
  Deno.test(`inspect() logs in, as the root says, ${when} is limited`, async () => {
    await using bed = await openBed(TOKEN);
    const credentials = [makeCredential(bed.registry.host)];
    refuseStrangers(bed, limited);
    if (!isFirst) assert.equal(sees(await bed.inspect("org/other:v1", { credentials: [] })), "RateLimited");
    const image = `${bed.registry.host}/org/app:v1`;
    const eve = [makeCredential(bed.registry.host, { username: "eve" })];
    assert.equal(sees(await bed.inspector.inspect(image, { credentials: eve })), "RateLimited");
    for (const freshness of ["cached", LOOK_UP_AGAIN, LOOK_UP_AGAIN] as const) {
      const report = await bed.inspector.inspect(image, { credentials, freshness });
      assert.deepEqual([sees(report), isPrivate(report)], [BOTH, true]);
    }
  });
}

Deno.test("inspect() logs in past a limit also while other repositories of the registry fail", async () => {
  await using bed = await openBed(TOKEN);
  let isLimited = false;
  bed.registry.intercept = ({ path, headers }) => {
    if (path.includes("/evil/")) return new Response("", { status: 503, headers: { "retry-after": "600" } });
    return isLimited && path.includes("/manifests/") && headers.get("authorization") === null ? limited() : undefined;
  };
  const of = async (name: string): Promise<unknown> => sees(await bed.inspect(`${name}:v1`));
  assert.equal(await of("evil/a"), "ServerError");
  assert.deepEqual(await of("org/app"), BOTH);
  assert.equal(await of("evil/b"), "CircuitOpen");
  isLimited = true;
  assert.deepEqual(await of("org/other"), BOTH);
});

Deno.test("inspect() passes over a refresh token where a password is wanted, and goes on to the password", async () => {
  await using bed = await openBed(BASIC);
  bed.registry.intercept = ({ headers }) =>
    headers.get("authorization") === null
      ? new Response("hidden", { status: 404, headers: { "www-authenticate": 'Basic realm="x"' } })
      : undefined;
  const identity: Credential = { ...makeCredential(bed.registry.host), secret: { kind: "identity", token: "refresh" } };
  const credentials = [identity, makeCredential(bed.registry.host)];
  assert.deepEqual(sees(await bed.inspect("org/app:v1", { credentials })), BOTH);
  const before = bed.registry.requests.length;
  assert.deepEqual(sees(await bed.inspect("org/app:v1", { credentials, freshness: LOOK_UP_AGAIN })), BOTH);
  const after = bed.registry.requests.slice(before).map(({ headers }) => headers.get("authorization"));
  assert.ok(after.every((authorization) => authorization === `Basic ${btoa("user:password")}`), String(after));
});

Deno.test("inspect() takes the first answer for what it is when the root is broken", async () => {
  await using bed = await openBed({ kind: "none" });
  bed.registry.intercept = ({ path }) => new Response("no", { status: path === "/v2/" ? 500 : 404 });
  assert.equal(sees(await bed.inspect("org/app:v1")), "ManifestUnknown");
});

Deno.test("inspect() reads the root for whoever still waits for it, and stops when nobody does", async () => {
  await using bed = await openBed({ kind: "none" });
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<Response>()];
  bed.registry.intercept = ({ path }) => {
    if (path !== "/v2/") return new Response("no", { status: 404 });
    asked.resolve();
    return answered.promise;
  };
  const read = (name: string, { signal }: AbortController): Promise<unknown> => {
    const credentials = [makeCredential(bed.registry.host)];
    return bed.inspector.registry.read(makeRequest(`${bed.registry.host}/${name}:v1`, { credentials }), signal);
  };
  const [one, other] = [new AbortController(), new AbortController()];
  const [first, second] = [read("org/app", one), read("org/other", other)];
  await asked.promise;
  one.abort(new Error("left"));
  await assert.rejects(first, /left/);
  const underWay = (): number[] => bed.inspector.hostStates().map(({ inFlight }) => inFlight);
  assert.deepEqual(underWay(), [1]);
  other.abort(new Error("left"));
  await assert.rejects(second, /left/);
  await until("the request has ended", () => underWay().includes(0));
  answered.resolve(new Response(""));
});

Deno.test("inspect() remembers how to log in when a caller leaves before the token is there", async () => {
  await using bed = await openBed(TOKEN);
  assert.deepEqual(sees(await bed.inspect("org/app:v1")), BOTH);
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<Response>()];
  bed.registry.intercept = ({ path }) => {
    if (!path.startsWith("/token")) return undefined;
    asked.resolve();
    return answered.promise;
  };
  const leaving = new AbortController();
  const request = makeRequest(`${bed.registry.host}/org/other:v1`, {
    credentials: [makeCredential(bed.registry.host)],
  });
  const inspecting = bed.inspector.registry.read(request, leaving.signal);
  await asked.promise;
  leaving.abort(new Error("left"));
  await assert.rejects(inspecting, /left/);
  answered.resolve(new Response(""));
  bed.registry.intercept = () => undefined;
  const before = bed.registry.requests.length;
  assert.deepEqual(sees(await bed.inspect("org/other:v1")), BOTH);
  assert.equal(bed.registry.requests.slice(before).some(({ path }) => path === "/v2/"), false);
});

Deno.test("inspect() keeps what it read private where the config alone wanted a login", async () => {
  await using bed = await openBed({ kind: "none" });
  const { config, manifest } = makeImage({ architecture: "arm64" });
  bed.registry.putBlob("org/app", config);
  bed.registry.put("org/app", manifest, "single");
  bed.registry.intercept = ({ path, headers }) =>
    path.includes("/blobs/") && headers.get("authorization") === null
      ? new Response("", { status: 401, headers: { "www-authenticate": 'Basic realm="blobs"' } })
      : undefined;
  assert.ok(isPrivate(await bed.inspect("org/app:single")));
  assert.equal(sees(await bed.inspect("org/app:single", { credentials: [] })), "Unauthorized");
});

Deno.test("inspect() is transient when the token server fails", async () => {
  await using bed = await openBed(TOKEN);
  bed.registry.intercept = ({ path }) => path.startsWith("/token") ? new Response("", { status: 503 }) : undefined;
  const { kind, reason } = failureIn(await bed.inspect("org/app:v1"));
  assert.deepEqual([kind, reason], ["transient", "ServerError"]);
});

Deno.test("inspect() reads the root once while the token server limits requests", async () => {
  await using bed = await openBed(TOKEN);
  bed.registry.intercept = ({ path }) => path.startsWith("/token") ? limited() : undefined;
  const reasons = [];
  for (const name of ["org/app:v1", "org/other:v1"]) reasons.push(failureIn(await bed.inspect(name)).reason);
  assert.deepEqual(reasons, ["RateLimited", "RateLimited"]);
  assert.equal(bed.registry.requests.filter(({ path }) => path === "/v2/").length, 1);
});

for (const [login, wanted] of [[BASIC, ["RDD", "DD", "DDD"]], [TOKEN, ["RTTD", "TTD", "TDD"]]] as const) {
  Deno.test(`inspect() reads the root once, and tries each credential in turn, after a wrong password (${login.kind})`, async () => {
    await using bed = await openBed(login);
    const { config, manifest } = makeImage({ architecture: "arm64" });
    bed.registry.putBlob("org/app", config);
    bed.registry.put("org/app", manifest, "single");
    const credentials = ["wrong", "password"].map((password) => makeCredential(bed.registry.host, { password }));
    for (const [at, name] of ["org/app:v1", "org/other:v1", "org/app:single"].entries()) {
      const before = bed.registry.requests.length;
      assert.deepEqual(sees(await bed.inspect(name, { credentials })), at === 2 ? ["arm64"] : BOTH);
      const sent = bed.registry.requests.slice(before).map(({ path }) =>
        path === "/v2/" ? "R" : /^.token/.test(path) ? "T" : "D"
      );
      assert.equal(sent.join(""), wanted[at]);
    }
  });
}

Deno.test("inspect() gets tokens of a server that has refused another registry's requests as too many", async () => {
  await using tokens = await openFakeRegistry({ login: { kind: "token", users: {}, anonymous: true } });
  const login: Login = { kind: "token", users: {}, anonymous: true, realm: `${tokens.origin}/token` };
  await using evil = await openFakeRegistry({ login });
  await using good = await openBed(login);
  tokens.intercept = limited;
  assert.equal(sees(await good.inspector.inspect(`${evil.host}/org/app:v1`)), "RateLimited");
  tokens.intercept = () => undefined;
  assert.deepEqual(sees(await good.inspect("org/app:v1", { credentials: [] })), BOTH);
});

Deno.test("inspect() gets tokens of a registry's own server that fails for other repositories", async () => {
  await using bed = await openBed({ kind: "token", users: {}, anonymous: true });
  bed.registry.intercept = ({ path }) =>
    path.startsWith("/token") && path.includes("evil") ? new Response("", { status: 500 }) : undefined;
  for (let at = 0; at < 20; at++) {
    assert.match(String(sees(await bed.inspect(`evil/app:v${at}`, { credentials: [] }))), /ServerError|CircuitOpen/);
  }
  assert.deepEqual(sees(await bed.inspect("org/app:v1", { credentials: [] })), BOTH);
});
