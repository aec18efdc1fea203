// Who gets which secret, and when a new one counts: token servers on other hosts, refresh tokens, rotation and revocation,
// over real sockets and with everything that is remembered in between.
import assert from "node:assert/strict";
import { makeMultiArch } from "../../../support/documents.ts";
import { failureIn, makeCredential, openTestInspector } from "../../../support/inspectors.ts";
import { type FakeRegistry, openFakeRegistry } from "../../../support/registry.ts";
import type { Credential } from "../../../../lib/oci/credential.ts";
import type { InspectionReport } from "../../../../lib/oci/inspection_request.ts";
import { issueLoopbackCertificates } from "../../../../playground/listen.ts";

const { index } = makeMultiArch(["amd64", "arm64"]);
const { authority, serving } = await issueLoopbackCertificates(Date.now());
const HTTPS = { scheme: "https", caCertificates: [authority] } as const;

function outcomeOf({ inspection, credentialSource }: InspectionReport): string {
  if (inspection.kind === "failed") return inspection.failure.reason;
  return credentialSource ?? "stranger";
}

function loginsAt({ requests }: FakeRegistry): readonly string[] {
  return [...new Set(requests.map(({ headers }) => headers.get("authorization") ?? "none"))];
}

Deno.test("inspect() gives the password to the token server on another host over TLS, and the registry only the token", async () => {
  const login = { kind: "token", users: { user: "password" }, anonymous: false } as const;
  await using tokens = await openFakeRegistry({ login, certificate: serving });
  const realm = `${tokens.origin.replace("127.0.0.1", "localhost")}/token`;
  await using registry = await openFakeRegistry({ login: { ...login, realm }, certificate: serving });
  registry.put("org/app", index, "v1");
  using inspector = openTestInspector({ connection: HTTPS, resolve: () => Promise.resolve(["93.184.216.34"]) });
  const credentials = [makeCredential(registry.host)];
  const report = await inspector.inspect(`${registry.host}/org/app:v1`, { credentials });
  assert.equal(outcomeOf(report), "secret team-a/pull");
  assert.deepEqual(loginsAt(tokens), [`Basic ${btoa("user:password")}`]);
  assert.deepEqual(loginsAt(registry), ["none", `Bearer ${btoa("repository:org/app:pull")}`]);
});

Deno.test("inspect() gives a refresh token to the token server alone, which may answer with access_token", async () => {
  const refreshed = { identityTokens: ["refresh"], member: "access_token" } as const;
  const login = { kind: "token", users: {}, anonymous: false, ...refreshed } as const;
  await using tokens = await openFakeRegistry({ login, certificate: serving });
  const realm = `${tokens.origin}/token`;
  await using registry = await openFakeRegistry({ login: { ...login, realm }, certificate: serving });
  registry.put("org/app", index, "v1");
  using inspector = openTestInspector({ connection: HTTPS });
  const credential: Credential = { ...makeCredential(registry.host), secret: { kind: "identity", token: "refresh" } };
  const report = await inspector.inspect(`${registry.host}/org/app:v1`, { credentials: [credential] });
  assert.equal(outcomeOf(report), "secret team-a/pull");
  const [asked] = tokens.requests;
  const form = new URLSearchParams(asked?.body);
  assert.deepEqual([asked?.method, asked?.path, form.get("refresh_token")], ["POST", "/token", "refresh"]);
  const sent = registry.requests.map(({ headers, path }) => JSON.stringify([...headers, path]));
  assert.doesNotMatch(sent.join(), /refresh/);
});

const ROTATIONS = [
  { kind: "basic", users: { user: "old" } },
  { kind: "token", users: { user: "old" }, anonymous: false },
] as const;

for (const login of ROTATIONS) {
  Deno.test(`inspect() takes a rotated password at once, and the old one no longer where it is looked up (${login.kind})`, async () => {
    const users: Record<string, string> = { user: "old" };
    await using registry = await openFakeRegistry({ login: { ...login, users } });
    registry.put("org/app", index, "v1");
    registry.put("org/more", index, "v1");
    using inspector = openTestInspector();
    const old = [makeCredential(registry.host, { password: "old", source: "old secret" })];
    const fresh = [makeCredential(registry.host, { password: "new", source: "new secret" })];
    const [app, more] = [`${registry.host}/org/app:v1`, `${registry.host}/org/more:v1`];
    assert.equal(outcomeOf(await inspector.inspect(app, { credentials: old })), "old secret");
    users.user = "new";
    assert.equal(outcomeOf(await inspector.inspect(more, { credentials: old })), "Unauthorized");
    // What the old secret has read is not for the new one to see before it has shown itself.
    assert.equal(outcomeOf(await inspector.inspect(app, { credentials: fresh })), "new secret");
    assert.equal(outcomeOf(await inspector.inspect(more, { credentials: fresh })), "new secret");
    assert.equal(outcomeOf(await inspector.inspect(more, { credentials: [...old, ...fresh] })), "new secret");
  });

  Deno.test(`inspect() tries five credentials of one host in order, none of them twice (${login.kind})`, async () => {
    await using registry = await openFakeRegistry({ login: { ...login, users: { user4: "password" } } });
    registry.put("org/app", index, "v1");
    using inspector = openTestInspector();
    const credentials = [1, 2, 3, 4, 5].map((at) =>
      makeCredential(registry.host, { username: `user${at}`, source: "one secret" })
    );
    const report = await inspector.inspect(`${registry.host}/org/app:v1`, { credentials });
    assert.equal(outcomeOf(report), "one secret");
    const sent = registry.requests.map(({ headers }) => headers.get("authorization") ?? "");
    const basics = sent.filter((text) => text.startsWith("Basic ")).map((text) => atob(text.slice(6)).split(":")[0]);
    assert.deepEqual(basics, ["user1", "user2", "user3", "user4"]);
  });
}

Deno.test("inspect() takes a rotated refresh token at once, and says whose was refused", async () => {
  const identityTokens = ["old"];
  const login = { kind: "token", users: {}, anonymous: false, identityTokens } as const;
  await using registry = await openFakeRegistry({ login });
  registry.put("org/app", index, "v1");
  registry.put("org/more", index, "v1");
  using inspector = openTestInspector();
  const inspectBy = (name: string, token: string): Promise<InspectionReport> => {
    const credential = makeCredential(registry.host, { source: `${token} secret` });
    const credentials = [{ ...credential, secret: { kind: "identity", token } }] as const;
    return inspector.inspect(`${registry.host}/org/${name}:v1`, { credentials });
  };
  assert.equal(outcomeOf(await inspectBy("app", "old")), "old secret");
  identityTokens.splice(0, 1, "new");
  assert.match(failureIn(await inspectBy("more", "old")).message, /refused: old secret/);
  assert.equal(outcomeOf(await inspectBy("more", "new")), "new secret");
});
