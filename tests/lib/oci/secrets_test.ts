// No secret leaves for anywhere but its host: canaries are planted in every kind of credential, and then everything that the
// inspector says, logs, traces or stores is searched for them, in every encoding they could have taken.
import assert from "node:assert/strict";
import fc from "fast-check";
import type { Credential } from "../../../lib/oci/credential.ts";
import type { InspectionReport } from "../../../lib/oci/inspector.ts";
import { assertSilent, contentOf, openListeningLogger } from "../../support/canaries.ts";
import { openMemoryStore } from "../../support/memory_store.ts";
import { makeMultiArch } from "../../support/documents.ts";
import { LOOK_UP_AGAIN, openTestInspector } from "../../support/inspectors.ts";
import { type FakeRegistry, type Login, openFakeRegistry } from "../../support/registry.ts";

function plant(kind: Credential["secret"]["kind"], registry: FakeRegistry, canaries: readonly string[]): Credential {
  const [username = "", password = ""] = canaries;
  const scope = registry.host;
  const source = "secret team-a/pull";
  if (kind === "basic") return { scope, source, secret: { kind, username, password } };
  return { scope, source, secret: { kind, token: password } };
}

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

async function runOnce(plan: {
  readonly login: Login;
  readonly kind: Credential["secret"]["kind"];
  readonly fault: Fault;
  readonly canaries: readonly string[];
}): Promise<{ readonly said: string; readonly report: InspectionReport }> {
  await using registry = await openFakeRegistry({ login: plan.login });
  const lines: string[] = [];
  const kv = openMemoryStore();
  using inspector = openTestInspector({ kv, log: openListeningLogger(lines) });
  registry.put("org/app", makeMultiArch(["amd64"]).index, "v1");
  misbehave(registry, plan.fault);
  const credentials = [plant(plan.kind, registry, plan.canaries)];
  const report = await inspector.inspect(`${registry.host}/org/app:v1`, { credentials });
  const again = await inspector.inspect(`${registry.host}/org/app:v1`, { credentials, freshness: LOOK_UP_AGAIN });
  const said = [JSON.stringify([report, again, inspector.hostStates()]), ...lines, await contentOf(kv)].join("\n");
  return { said, report };
}

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
      assertSilent(said, [password, btoa(`${username}:${password}`)]);
    }),
    { numRuns: 60 },
  );
});

Deno.test("inspect() stores private answers under a name that reveals nothing", async () => {
  const canaries = ["user", "correct-horse-battery"];
  const login: Login = { kind: "basic", users: { user: "correct-horse-battery" } };
  const { said, report } = await runOnce({ login, kind: "basic", fault: "none", canaries });
  assert.equal(report.access, "private");
  assert.match(said, /private-[0-9a-f]{32}/);
  assert.doesNotMatch(said, /correct-horse/);
});
