// No secret of a configuration file, a credential helper or a token server is ever said or stored: canaries are planted in
// each of them, the files are damaged at random, the registry misbehaves, and then everything is searched for the canaries.
import assert from "node:assert/strict";
import fc from "fast-check";
import { systemClock } from "../../../../lib/clock.ts";
import { openPullPlanner } from "../../../../lib/oci/config/planner.ts";
import { openKeyring } from "../../../../lib/oci/credentials/keyring.ts";
import { issueAuthority, issueServing } from "../../../../lib/tls/issue.ts";
import { assertSilent, contentOf, openListeningLogger } from "../../../support/canaries.ts";
import { openMemoryStore } from "../../../support/memory_store.ts";
import { makeMultiArch } from "../../../support/documents.ts";
import { LOOK_UP_AGAIN, openTestInspector } from "../../../support/inspectors.ts";
import { type FakeRegistry, openFakeRegistry } from "../../../support/registry.ts";
import { makePrograms } from "../credentials/helper_support.ts";
import { WorkLimits } from "../../../../lib/oci/limits/work_limits.ts";

const KINDS = [
  "auth",
  "password",
  "identity",
  "registry",
  "store",
  "conf",
  "plugin",
  "rancher",
  "header",
  "mirror",
] as const;
const secretOf = (kind: string): string => `c4nary-${kind}-9fz`;
const TOKEN = secretOf("token");
const VALIDITY = { nowMs: Date.now(), lifetimeMs: 3_600_000 };
const client = await issueServing(await issueAuthority(VALIDITY), { ...VALIDITY, names: ["client"] });

/** The line of the private key that no other key has. */
const [, , KEY_LINE = ""] = client.key.split("\n");

/** What is planted, as it is and as it stands in a header or a file. */
const PLANTED = [...KINDS.map(secretOf), TOKEN, KEY_LINE, ...KINDS.map((kind) => btoa(`user:${secretOf(kind)}`))];

function filesFor(host: string, mirror: string): Readonly<Record<string, string>> {
  return {
    "config.json": JSON.stringify({
      auths: {
        [host]: { auth: btoa(`user:${secretOf("auth")}`) },
        [`${host}/org`]: { username: "user", password: secretOf("password") },
        [`https://${host}/org/app`]: { identitytoken: secretOf("identity"), registrytoken: secretOf("registry") },
      },
      credsStore: "store",
    }),
    "registries.conf": `credential-helpers = ["conf"]\n[aliases]\nx = "quay.io/x"\n`,
    "plugins.yaml": `apiVersion: kubelet.config.k8s.io/v1
kind: CredentialProviderConfig
providers:
- name: plugin
  matchImages: ["${host}"]
  defaultCacheDuration: 1h
  apiVersion: credentialprovider.kubelet.k8s.io/v1
  env: [{name: PASSWORD, value: ${secretOf("plugin")}}]
`,
    "registries.yaml": `configs:\n  "${host}":\n    auth: {username: user, password: ${secretOf("rancher")}}\n`,
    [`hosts/${host}/hosts.toml`]: `server = "http://${host}"
[header]
x-secret = "${secretOf("header")}"
[host."http://${mirror}".header]
Authorization = ["Bearer ${secretOf("mirror")}"]
`,
    [`certs/${host}/client.cert`]: client.cert,
    [`certs/${host}/client.key`]: client.key,
  };
}

const HELPER = (kind: string): string =>
  `echo '{"Username":"user","Secret":"${secretOf(kind)}"}'; echo ${secretOf(kind)} >&2`;
const PLUGIN = (host: string): string => {
  const auth = { [host]: { username: "user", password: secretOf("plugin") } };
  const answer = { kind: "CredentialProviderResponse", apiVersion: "credentialprovider.kubelet.k8s.io/v1" };
  return `echo '${JSON.stringify({ ...answer, cacheKeyType: "Image", auth })}'`;
};

const FAULTS = ["none", "refuse", "break", "redirect", "echo", "token", "refuse token"] as const;

/** Registries that repeat what they were sent wherever an answer has room for it. */
function misbehave(registry: FakeRegistry, fault: typeof FAULTS[number]): void {
  registry.intercept = ({ path, headers, body }) => {
    const repeated = `${headers.get("authorization")} ${headers.get("x-secret")} ${path} ${body}`;
    const safe = repeated.replaceAll(/[^\x20-\x7e]/g, "");
    const challenge = {
      "www-authenticate": `Bearer realm="${registry.origin}/token",service="${safe.replaceAll('"', "")}"`,
    };
    switch (fault) {
      case "none":
        return undefined;
      case "refuse":
        return new Response(repeated, { status: 401, headers: { "www-authenticate": 'Basic realm="x"' } });
      case "break":
        return new Response(repeated, { status: 500 });
      case "redirect":
        return new Response(null, { status: 307, headers: { location: `/${encodeURIComponent(repeated)}` } });
      case "echo":
        return new Response(repeated, { headers: { "content-type": safe, "docker-content-digest": safe } });
      case "token":
        if (path.startsWith("/token")) return Response.json({ token: TOKEN });
        return new Response(repeated, { status: 401, headers: challenge });
      case "refuse token":
        if (path.startsWith("/token")) return Response.json({ error: repeated }, { status: 403 });
        return new Response(repeated, { status: 401, headers: challenge });
    }
  };
}

interface Plan {
  readonly fault: typeof FAULTS[number];
  readonly damaged: number;
  readonly at: number;
  readonly put: string;
}

async function runOnce({ fault, damaged, at, put }: Plan): Promise<{ readonly said: string; readonly seen: string }> {
  await using registry = await openFakeRegistry({ login: { kind: "basic", users: { user: "unknown" } } });
  await using mirror = await openFakeRegistry();
  registry.put("org/app", makeMultiArch(["amd64"]).index, "v1");
  misbehave(registry, fault);
  const files = Object.entries(filesFor(registry.host, mirror.host));
  const broken = files.map(([name, text], index): readonly [string, string] =>
    index === damaged
      ? [name, text.slice(0, at % text.length) + put + text.slice(at % text.length + put.length)]
      : [name, text]
  );
  using programs = makePrograms(Object.fromEntries(broken));
  for (const kind of ["store", "conf"]) programs.program(`docker-credential-${kind}`, HELPER(kind));
  programs.program("plugin", PLUGIN(registry.host));
  const lines: string[] = [];
  const [log, clock, path] = [openListeningLogger(lines), systemClock, programs.path];
  const planner = openPullPlanner({
    registriesConf: `${path}/registries.conf`,
    hostsDir: `${path}/hosts`,
    certsDir: `${path}/certs`,
    rancherRegistries: `${path}/registries.yaml`,
    system: { registriesConf: "/none", policy: "/none", certsDirs: [], aliasCaches: [] },
    ...{ registry: [registry.host], registryCa: [], insecureRegistry: [], log, clock },
  });
  const keyring = openKeyring({
    dockerConfig: `${path}/config.json`,
    credentialProviderConfig: `${path}/plugins.yaml`,
    credentialProviderBinDir: path,
    extra: planner.credentials,
    helpers: planner.credentialHelpers,
    ...{ limits: new WorkLimits(), log, clock, run: programs.run },
  });
  const kv = openMemoryStore();
  using inspector = openTestInspector({ plan: planner.plan, keyring, kv, log });
  const reports = [
    await inspector.inspect(`${registry.host}/org/app:v1`),
    await inspector.inspect(`${registry.host}/org/app:v1`, { freshness: LOOK_UP_AGAIN }),
  ];
  const said = [JSON.stringify([reports, inspector.hostStates()]), ...lines, await contentOf(kv)];
  const seen = [...registry.requests, ...mirror.requests].map(({ headers, path, body }) =>
    [...headers, path, body].join(" ")
  );
  return { said: said.join("\n"), seen: seen.join("\n") };
}

Deno.test("no secret of any file, helper, plugin or token server is said, logged, traced or stored", async () => {
  const plans = fc.record({
    fault: fc.constantFrom(...FAULTS),
    damaged: fc.integer({ min: -2, max: 6 }),
    at: fc.nat(),
    put: fc.oneof(fc.string(), fc.constantFrom('"', "}", "\n", "[", "= ", "\0")),
  });
  await fc.assert(
    fc.asyncProperty(plans, async (plan) => assertSilent((await runOnce(plan)).said, PLANTED)),
    { numRuns: 25 },
  );
});

Deno.test("the search for secrets is worth something: every one of them reaches the registry it is for", async () => {
  const whole = { damaged: -1, at: 0, put: "" };
  const { seen: withBasic } = await runOnce({ ...whole, fault: "refuse" });
  for (const kind of ["auth", "password", "store", "conf", "plugin", "rancher"]) {
    assert.ok(withBasic.includes(btoa(`user:${secretOf(kind)}`)), kind);
  }
  const { seen: withToken } = await runOnce({ ...whole, fault: "token" });
  for (const kind of ["identity", "registry", "header", "mirror"]) assert.ok(withToken.includes(secretOf(kind)), kind);
  assert.ok(withToken.includes(TOKEN));
});
