// Whose word counts for where a password goes: challenges of other repositories, of redirect targets and of forgotten hosts
// must never lead a credential to a realm that the registry itself did not name for it.
import { RequestLog } from "../../../../lib/oci/request_log.ts";
import { callersOf } from "../../../../lib/oci/callers.ts";
import assert from "node:assert/strict";
import { isPrivate } from "../../../support/reports.ts";
import type { Challenge } from "../../../../lib/oci/auth/challenge.ts";
import { LearnedChallenges } from "../../../../lib/oci/auth/learned_challenges.ts";
import type { Credential } from "../../../../lib/oci/credential.ts";
import { registryError } from "../../../../lib/oci/errors.ts";
import { makeMultiArch } from "../../../support/documents.ts";
import type { Endpoint } from "../../../../lib/oci/endpoint.ts";
import { makeCredential, makeEndpoint, openTestInspector, outcomeOf } from "../../../support/inspectors.ts";
import { FakeClock } from "../../../support/fake_clock.ts";
import { type FakeRegistry, type Login, openFakeRegistry, type SeenRequest } from "../../../support/registry.ts";

const LOGIN: Login = { kind: "token", users: { victim: "s3cret" }, anonymous: false };
const VICTIM = { username: "victim", password: "s3cret" };
const { index } = makeMultiArch(["arm64"]);

/** A registry that many share; `good/app` and `good/more` are the victim's. */
async function openShared(): Promise<FakeRegistry> {
  const registry = await openFakeRegistry({ login: LOGIN });
  for (const repository of ["good/app", "good/more"]) registry.put(repository, index, "v1");
  return registry;
}

/** A host that takes whatever it is sent, and asks for more. */
async function openThief(): Promise<FakeRegistry> {
  const thief = await openFakeRegistry();
  thief.intercept = ({ path }) => path.startsWith("/token") ? Response.json({ token: "t" }) : refuse(thief);
  return thief;
}

function refuse(realm: FakeRegistry): Response {
  const challenge = `Bearer realm="${realm.origin}/token",service="b"`;
  return new Response("no", { status: 401, headers: { "www-authenticate": challenge } });
}

function redirectTo({ origin }: FakeRegistry, { path }: SeenRequest): Response {
  return new Response(null, { status: 307, headers: { location: `${origin}${path}` } });
}

/** Nothing but the token that the attacker itself gave to an anonymous client. */
function assertGotNothing({ requests }: FakeRegistry): void {
  for (const { headers, path, body } of requests) {
    assert.ok([null, "Bearer t"].includes(headers.get("authorization")), path);
    assert.doesNotMatch(`${path} ${body}`, /victim|s3cret/);
  }
}

const CONTEXT = {
  callers: callersOf({ priority: "gated" }),
  signal: new AbortController().signal,
  requestLog: new RequestLog(),
};

const POISONS: Readonly<Record<string, (thief: FakeRegistry, request: SeenRequest) => Response>> = {
  "is redirected to a host that asks for a login": redirectTo,
  "asks itself for a login elsewhere": refuse,
};

for (const [how, poison] of Object.entries(POISONS)) {
  Deno.test(`inspect() sends no credential to the realm of another repository of the host that ${how}`, async () => {
    await using thief = await openThief();
    await using registry = await openShared();
    registry.intercept = (request) => request.path.startsWith("/v2/evil/") ? poison(thief, request) : undefined;
    using inspector = openTestInspector();
    await inspector.inspect(`${registry.host}/evil/x:v1`);
    const seen = thief.requests.length;
    const credentials = [makeCredential(registry.host, VICTIM)];
    const report = await inspector.inspect(`${registry.host}/good/app:v1`, { credentials });
    assert.equal(outcomeOf(report), "platforms");
    assert.equal(thief.requests.length, seen, "the thief is not even asked for an anonymous token");
    assertGotNothing(thief);
  });
}

/** What the victim gets for an image of this registry. */
async function outcomeFor(registry: FakeRegistry, name: string): Promise<string> {
  using inspector = openTestInspector();
  const credentials = [makeCredential(registry.host, VICTIM)];
  return outcomeOf(await inspector.inspect(`${registry.host}/${name}`, { credentials }));
}

Deno.test("inspect() sends no credential to the realm that a redirect target names", async () => {
  await using thief = await openThief();
  await using registry = await openFakeRegistry();
  registry.intercept = (request) => redirectTo(thief, request);
  assert.equal(await outcomeFor(registry, "team/app:v1"), "Unauthorized");
  assertGotNothing(thief);
});

Deno.test("inspect() sends no credential to the realm of a redirect target that leads back to the registry", async () => {
  await using thief = await openThief();
  await using registry = await openFakeRegistry();
  thief.intercept = ({ path }) =>
    path.startsWith("/token")
      ? Response.json({ token: "t" })
      : new Response(null, { status: 307, headers: { location: `${registry.origin}/v2/evil/y/manifests/v1` } });
  registry.intercept = (request) =>
    request.path.startsWith("/v2/evil/")
      ? refuse(thief)
      : request.path === "/v2/"
      ? undefined
      : redirectTo(thief, request);
  assert.equal(await outcomeFor(registry, "team/app:v1"), "Unauthorized");
  assertGotNothing(thief);
});

Deno.test("inspect() sends no credential to the realm of a root that is redirected", async () => {
  await using thief = await openThief();
  await using registry = await openFakeRegistry();
  registry.intercept = (request) =>
    request.path === "/v2/" ? redirectTo(thief, request) : new Response("", { status: 404 });
  assert.equal(await outcomeFor(registry, "team/app:v1"), "ManifestUnknown");
  assert.ok(registry.requests.some(({ path }) => path === "/v2/"));
  assertGotNothing(thief);
});

Deno.test("LearnedChallenges gives no challenge of one repository to another, whatever it has dropped", async () => {
  const at = (host: string, repository: string): Endpoint => makeEndpoint(host, { repository, identifier: "v1" });
  const of = (realm: string): Challenge => ({ kind: "bearer", realm, service: "s", scope: "" });
  const credential = makeCredential("a.example");
  const challenges = new LearnedChallenges({
    clock: new FakeClock(),
    probe: () => Promise.resolve(of("https://a.example/token")),
  });
  const evil = { credential: undefined, challenge: of("https://evil.example/token") };
  challenges.learn(at("a.example", "evil/x"), evil);
  challenges.learn(at("a.example", "good/app"), { credential, challenge: of("https://a.example/token") });
  const learnt = async (asked: Credential | undefined): Promise<string | undefined> => {
    const endpoint = at("a.example", "good/more");
    const challenge = challenges.ofRepository(endpoint, asked) ?? await challenges.readRoot(endpoint, CONTEXT);
    return challenge?.kind === "bearer" ? challenge.realm : undefined;
  };
  assert.deepEqual([await learnt(credential), await learnt(undefined)], Array(2).fill("https://a.example/token"));
  for (let count = 0; count < 20_000; count++) challenges.learn(at(`h${count}.evil.example`, "evil/x"), evil);
  challenges.learn(at("a.example", "evil/x"), evil);
  assert.deepEqual([await learnt(credential), await learnt(undefined)], Array(2).fill("https://a.example/token"));
});

Deno.test("LearnedChallenges gives what one credential received to no other one", () => {
  const challenges = new LearnedChallenges({ clock: new FakeClock(), probe: () => Promise.resolve(undefined) });
  const endpoint = makeEndpoint("a.example", { repository: "shared/app", identifier: "v1" });
  challenges.learn(endpoint, { credential: makeCredential("a.example"), challenge: { kind: "basic" } });
  assert.equal(challenges.ofRepository(endpoint, makeCredential("a.example", { password: "other" })), undefined);
  assert.equal(challenges.ofRepository(endpoint, undefined), undefined);
});

Deno.test("LearnedChallenges reads a root again after ten minutes, and one that failed after thirty seconds", async () => {
  const clock = new FakeClock();
  let probes = 0;
  const probe = (): Promise<Challenge> => {
    probes++;
    return probes < 3 ? Promise.resolve({ kind: "basic" }) : Promise.reject(registryError("Timeout", "no answer"));
  };
  const challenges = new LearnedChallenges({ clock, probe });
  const probesAfter = async (seconds: number, host: string): Promise<number> => {
    await clock.advance(1_000 * seconds);
    await challenges.readRoot(makeEndpoint(host, { repository: "a", identifier: "v1" }), CONTEXT);
    return probes;
  };
  assert.deepEqual([await probesAfter(1, "a.example"), await probesAfter(599, "a.example")], [1, 1]);
  assert.equal(await probesAfter(2, "a.example"), 2);
  assert.deepEqual([await probesAfter(0, "b.example"), await probesAfter(29, "b.example")], [3, 3]);
  assert.equal(await probesAfter(2, "b.example"), 4);
});

Deno.test("inspect() requests the root of a host once for how to log in, and each repository directly where that shows nothing", async () => {
  await using registry = await openShared();
  for (const name of ["a", "b", "c"]) registry.put(`good/${name}`, index, "v1");
  using inspector = openTestInspector();
  const credentials = [makeCredential(registry.host, VICTIM)];
  const costs: number[][] = [];
  for (const name of ["app", "a", "b", "c"]) {
    const { requests } = await inspector.inspect(`${registry.host}/good/${name}:v1`, { credentials });
    costs.push([requests.manifestGet, requests.manifestHead + requests.blobGet, requests.token, requests.other]);
  }
  assert.deepEqual(costs, [[1, 0, 1, 1], [1, 0, 1, 0], [1, 0, 1, 0], [1, 0, 1, 0]]);
});

const ANONYMOUS = [
  ["vanity registry redirects to another host", true],
  ["vanity registry answers itself", false],
] as const;

for (const [what, isRedirected] of ANONYMOUS) {
  Deno.test(`inspect() reads a public image whose ${what} that wants a token of the name there`, async () => {
    await using upstream = await openFakeRegistry({ login: { kind: "token", users: {}, anonymous: true } });
    upstream.put("org/app", index, "v1");
    await using vanity = await openFakeRegistry();
    vanity.intercept = async ({ path, headers }) => {
      const location = `${upstream.origin}${path.replace("/team/", "/org/")}`;
      if (isRedirected) return new Response(null, { status: 307, headers: { location } });
      const answer = await fetch(location, { headers: { authorization: headers.get("authorization") ?? "" } });
      return new Response(await answer.arrayBuffer(), answer);
    };
    // Like a server that reads the first of several scopes alone.
    upstream.intercept = ({ path }) =>
      path.startsWith("/token")
        ? Response.json({ token: btoa(new URLSearchParams(path.split("?")[1]).get("scope") ?? "") })
        : undefined;
    using inspector = openTestInspector();
    const report = await inspector.inspect(`${vanity.host}/team/app:v1`);
    assert.deepEqual([outcomeOf(report), isPrivate(report)], ["platforms", false]);
    assert.equal(await outcomeFor(vanity, "team/app:v1"), "platforms");
    const isSent = ({ headers }: SeenRequest): boolean => headers.get("authorization")?.startsWith("Basic ") === true;
    assert.equal(upstream.requests.some(isSent), !isRedirected, "only a realm that the registry names itself gets it");
  });
}

Deno.test("inspect() requests the scope that a rewriting registry names, alone where both are refused", async () => {
  await using registry = await openFakeRegistry();
  const wanted = "repository:upstream/app:pull";
  const asked: string[][] = [];
  registry.intercept = ({ path, headers }) => {
    if (path.startsWith("/token")) {
      const scopes = new URLSearchParams(path.split("?")[1]).getAll("scope");
      asked.push(scopes);
      return scopes.length > 1 ? new Response("", { status: 403 }) : Response.json({ token: scopes[0] });
    }
    if (headers.get("authorization") === `Bearer ${wanted}`) return new Response(index.text);
    const challenge = `Bearer realm="${registry.origin}/token",service="s",scope="${wanted}"`;
    return new Response("", { status: 401, headers: { "www-authenticate": challenge } });
  };
  using inspector = openTestInspector();
  const credentials = [makeCredential(registry.host)];
  assert.equal(outcomeOf(await inspector.inspect(`${registry.host}/vanity/app:v1`, { credentials })), "platforms");
  const own = "repository:vanity/app:pull";
  assert.deepEqual(asked, [[own], [wanted, own], [wanted]]);
});
