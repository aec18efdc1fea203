// No secret leaves for anywhere but its host: canaries are planted in every kind of credential, and then everything that the
// inspector says, logs, traces or stores is searched for them, in every encoding they could have taken.
import assert from "node:assert/strict";
import { isPrivate } from "../../support/reports.ts";
import fc from "fast-check";
import type { Credential } from "../../../lib/oci/credential.ts";
import { fingerprintOf, fingerprintOfAll } from "../../../lib/oci/fingerprint.ts";
import { assertSilent, contentOf, openListeningLogger } from "../../support/canaries.ts";
import { openMemoryStore } from "../../support/memory_store.ts";
import { makeMultiArch } from "../../support/documents.ts";
import { LOOK_UP_AGAIN, openTestInspector } from "../../support/inspectors.ts";
import { type FakeRegistry, type Login, openFakeRegistry } from "../../support/registry.ts";

type Fault = "none" | "refuse" | "break" | "redirect" | "echo" | "cut";

/** Registries that misbehave, some of which repeat what they were sent. */
function misbehave(registry: FakeRegistry, fault: Fault): void {
  registry.intercept = ({ path, headers, body }) => {
    const repeated = `${headers.get("authorization")} ${path} ${body}`;
    if (fault === "refuse") return new Response(repeated, { status: 403 });
    if (fault === "break") return new Response(repeated, { status: 500 });
    if (fault === "redirect") {
      return new Response(null, { status: 307, headers: { location: `ftp://x/${encodeURIComponent(repeated)}` } });
    }
    if (fault === "echo" && !path.startsWith("/token")) {
      return headers.get("authorization") === null
        ? undefined
        : new Response(repeated, { headers: { "content-type": repeated.replaceAll(/[^\x20-\x7e]/g, "") } });
    }
    return fault === "cut" ? new Response("x", { headers: { "content-length": "5" } }) : undefined;
  };
}

/** Of a credential of the same registry that does not match the image. */
const OTHER_SECRET = { kind: "basic", username: "another-user", password: "battery-horse-correct" } as const;

const runOnce = async ({ login, kind, fault, canaries: [username = "", password = ""] }: {
  readonly login: Login;
  readonly kind: Credential["secret"]["kind"];
  readonly fault: Fault;
  readonly canaries: readonly string[];
}) => {
  await using registry = await openFakeRegistry({ login });
  const lines: string[] = [];
  const kv = openMemoryStore();
  using inspector = openTestInspector({ kv, log: openListeningLogger(lines) });
  registry.put("org/app", makeMultiArch(["amd64"]).index, "v1");
  misbehave(registry, fault);
  const secret = kind === "basic" ? { kind, username, password } : { kind, token: password };
  const credential: Credential = { scope: registry.host, source: "secret team-a/pull", secret };
  const other: Credential = { ...credential, scope: `${registry.host}/elsewhere`, secret: OTHER_SECRET };
  const credentials = [credential, other];
  const report = await inspector.inspect(`${registry.host}/org/app:v1`, { credentials });
  const again = await inspector.inspect(`${registry.host}/org/app:v1`, { credentials, freshness: LOOK_UP_AGAIN });
  const stored = await contentOf(kv);
  const said = [JSON.stringify([report, again, inspector.hostStates()]), ...lines, stored].join("\n");
  return { said, stored, report, credentials };
};

const canary = fc.stringMatching(/^[A-Za-z0-9!"#$%&'()*+,./;<=>?@\\^_{|}~-]{12,30}$/);

Deno.test("invariant 6: inspect() keeps every secret out of what it says, logs, traces and stores", async () => {
  const plans = fc.record({
    tokenLogin: fc.boolean(),
    isKnown: fc.boolean(),
    kind: fc.constantFrom("basic", "identity", "registry"),
    fault: fc.constantFrom("none", "refuse", "break", "redirect", "echo", "cut"),
    canaries: fc.tuple(canary, canary),
  });
  await fc.assert(
    fc.asyncProperty(plans, async ({ tokenLogin, isKnown, kind, fault, canaries }) => {
      const [username, password] = canaries;
      const users = isKnown ? { [username]: password } : {};
      const login: Login = tokenLogin
        ? { kind: "token", users, anonymous: false, identityTokens: isKnown ? [password] : [] }
        : { kind: "basic", users };
      const { said } = await runOnce({ login, kind, fault, canaries });
      assertSilent(said, [password, btoa(`${username}:${password}`), OTHER_SECRET.password]);
    }),
    { numRuns: 60 },
  );
});

const [USER, SECRET] = ["a-certain-user", "correct-horse-battery"];
const LOGINS: readonly (readonly [kind: Credential["secret"]["kind"], secret: string, login: Login])[] = [
  ["basic", SECRET, { kind: "basic", users: { [USER]: SECRET } }],
  ["identity", SECRET, { kind: "token", users: {}, anonymous: false, identityTokens: [SECRET] }],
  ["registry", btoa("repository:org/app:pull"), { kind: "token", users: {}, anonymous: false }],
];

for (const [kind, secret, login] of LOGINS) {
  Deno.test(`inspect() stores private answers under a name that reveals nothing (${kind})`, async () => {
    const run = await runOnce({ login, kind, fault: "none", canaries: [USER, secret] });
    assert.ok(isPrivate(run.report));
    assert.match(run.stored, /private-[0-9a-f]{32}/);
    assert.equal(JSON.parse(run.stored).length, 2 * 3, "keys and values of the salt, the document and the tag");
    const [own] = run.credentials;
    assert.ok(own !== undefined);
    const guessable = [
      ...run.credentials.map(fingerprintOf),
      fingerprintOfAll([own]),
      fingerprintOfAll(run.credentials),
    ];
    assertSilent(run.stored, [USER, `${USER}:${secret}`, ...guessable]);
    assertSilent(run.said, [secret, OTHER_SECRET.password]);
  });
}
