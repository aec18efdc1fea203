import assert from "node:assert/strict";
import { hostDirectories } from "../../../../lib/oci/config/hosts_toml.ts";
import type { Endpoint } from "../../../../lib/oci/endpoint.ts";
import { issueAuthority, issueServing } from "../../../../lib/tls/issue.ts";
import { keepLog } from "../../../support/logs.ts";
import { makeFolder, openPlanner, planned } from "./planner_support.ts";
import { parseHosts, valueOf } from "./settings_support.ts";

const DIGEST = `sha256:${"b".repeat(64)}`;
const VALIDITY = { nowMs: Date.now(), lifetimeMs: 3_600_000 };

function endpoints(files: Readonly<Record<string, string>>, image: string): readonly Endpoint[] {
  using folder = makeFolder(files);
  const plan = openPlanner({ hostsDir: folder.path }).plan(image);
  if (plan.kind === "endpoints") return plan.endpoints;
  throw new Error(plan.failure.message);
}

function urls(files: Readonly<Record<string, string>>, image: string): readonly string[] {
  return endpoints(files, image).map(({ host, repository, pathPrefix, connection }) =>
    `${connection.scheme}://${host}${pathPrefix}/v2/${repository}`
  );
}

Deno.test("hosts.toml: mirrors in the order of the file, then the server", () => {
  const file = `
    server = "https://registry-1.docker.io"
    [host."https://z.example.com"]
      capabilities = ["pull", "resolve"]
    [host."http://a.example.com:5000"]`;
  const found = endpoints({ "docker.io/hosts.toml": file }, "nginx");
  const rows = found.map((
    { host, isMirror, connection },
  ) => [host, isMirror, connection.scheme, connection.isDeclared]);
  assert.deepEqual(rows, [
    ["z.example.com", true, "https", true],
    ["a.example.com:5000", true, "http", true],
    ["registry-1.docker.io", false, "https", true],
  ]);
});

Deno.test("hosts.toml: a tag wants a host that resolves, a digest one that pulls", () => {
  const file = `
    [host."https://pull.io"]
    capabilities = ["pull"]
    [host."https://resolve.io"]
    capabilities = ["resolve"]
    [host."https://push.io"]
    capabilities = ["push"]`;
  const files = { "quay.io/hosts.toml": file };
  assert.deepEqual(urls(files, "quay.io/a:1"), ["https://resolve.io/v2/a", "https://quay.io/v2/a"]);
  assert.deepEqual(urls(files, `quay.io/a@${DIGEST}`), ["https://pull.io/v2/a", "https://quay.io/v2/a"]);
});

Deno.test("hosts.toml: capabilities outside of a table are those of the server, when one is named", () => {
  const file = 'capabilities = ["pull"]\n[host."https://m.io"]';
  assert.deepEqual(urls({ "quay.io/hosts.toml": file }, "quay.io/a:1"), ["https://m.io/v2/a", "https://quay.io/v2/a"]);
  const named = `server = "https://up.io"\n${file}`;
  assert.deepEqual(urls({ "quay.io/hosts.toml": named }, "quay.io/a:1"), ["https://m.io/v2/a"]);
  assert.deepEqual(urls({ "quay.io/hosts.toml": named }, `quay.io/a@${DIGEST}`), [
    "https://m.io/v2/a",
    "https://up.io/v2/a",
  ]);
});

Deno.test("hosts.toml: paths of URLs stand before the API root, or hold it with override_path", () => {
  const file = `
    [host."https://h.io/cache"]
    [host."https://h.io/more/v2/"]
    [host."https://harbor.io/v2/hub-proxy"]
    override_path = true
    [host."https://h.io/odd"]
    override_path = true`;
  assert.deepEqual(urls({ "quay.io/hosts.toml": file }, "quay.io/a/b"), [
    "https://h.io/cache/v2/a/b",
    "https://h.io/more/v2/a/b",
    "https://harbor.io/v2/hub-proxy/a/b",
    "https://quay.io/v2/a/b",
  ]);
});

Deno.test("hosts.toml: _default serves every host without a directory, which stays undeclared itself", () => {
  const files = { "_default/hosts.toml": '[host."https://cache.local"]', "gcr.io/hosts.toml": "" };
  const found = endpoints(files, "evil.example.com/a/b");
  assert.deepEqual(found.map(({ host, connection }) => [host, connection.isDeclared]), [
    ["cache.local", true],
    ["evil.example.com", false],
  ]);
  assert.deepEqual(urls(files, "gcr.io/a/b"), ["https://gcr.io/v2/a/b"]);
});

Deno.test("hosts.toml: skip_verify is of the host that has it", () => {
  const file = '[host."https://m.io"]\nskip_verify = true\n[host."https://n.io"]';
  const found = endpoints({ "quay.io/hosts.toml": file }, "quay.io/a");
  assert.deepEqual(found.map(({ connection }) => connection.verifiesTls), [false, true, true]);
});

Deno.test("hosts.toml: CAs and client pairs are read, relative to the file", async () => {
  const authority = await issueAuthority(VALIDITY);
  const client = await issueServing(authority, { ...VALIDITY, names: ["c"] });
  const file = `
    ca = "ca.pem"
    [host."https://m.io"]
    ca = ["ca.pem", "./more/ca.pem"]
    client = [["client.pem", "client.key"], "both.pem"]
    [host."https://n.io"]
    client = "both.pem"`;
  const found = endpoints({
    "quay.io/hosts.toml": file,
    "quay.io/ca.pem": authority.cert,
    "quay.io/more/ca.pem": authority.cert,
    "quay.io/client.pem": client.cert,
    "quay.io/client.key": client.key,
    "quay.io/both.pem": client.cert + client.key,
  }, "quay.io/a");
  assert.deepEqual(found.map(({ connection }) => connection.caCertificates.length), [2, 0, 1]);
  assert.deepEqual(found.map(({ connection }) => connection.clientCertificates?.length), [2, 1, undefined]);
});

Deno.test("hosts.toml: a broken file refuses its host alone and names the line", () => {
  using folder = makeFolder({ "quay.io/hosts.toml": 'server = "https://x"\nca = 4\n', "gcr.io/hosts.toml": "" });
  const log = keepLog();
  const planner = openPlanner({ hostsDir: folder.path, log });
  assert.match(String(planned(planner, "quay.io/a")), /^Misconfigured: .*hosts.toml line 2: a value of a wrong kind/);
  assert.deepEqual(planned(planner, "gcr.io/a"), ["gcr.io/a"]);
  assert.equal(log.lines.length, 1);
});

Deno.test("hosts.toml: a missing CA refuses the host instead of asking it with the public roots", () => {
  using folder = makeFolder({ "quay.io/hosts.toml": 'ca = "gone.pem"' });
  assert.match(String(planned(openPlanner({ hostsDir: folder.path }), "quay.io/a")), /gone.pem is missing/);
});

Deno.test("hosts.toml: a directory without the file may hold certificates as certs.d does", async () => {
  const authority = await issueAuthority(VALIDITY);
  const found = endpoints({ "reg.local:5000/ca.crt": authority.cert }, "reg.local:5000/a");
  assert.deepEqual(found.map(({ connection }) => [connection.caCertificates.length, connection.isDeclared]), [[
    1,
    true,
  ]]);
});

Deno.test("hosts.toml: headers go to the host whose table they stand in", () => {
  const file = `
    [header]
    x-tenant = "own"
    [host."https://m.io".header]
    Authorization = "Bearer mirror"
    x-many = ["a", "b"]
    [host."https://n.io"]`;
  const found = endpoints({ "quay.io/hosts.toml": file }, "quay.io/a");
  assert.deepEqual(found.map(({ host, headers }) => [host, headers]), [
    ["m.io", { Authorization: "Bearer mirror", "x-many": "a, b" }],
    ["n.io", undefined],
    ["quay.io", { "x-tenant": "own" }],
  ]);
});

Deno.test("hosts.toml: headers of _default do not go to whatever host an image names", () => {
  const files = { "_default/hosts.toml": '[header]\nauthorization = "Bearer c4nary"\n[host."https://m.io"]' };
  const found = endpoints(files, "evil.example.com/a/b");
  assert.deepEqual(found.map(({ host }) => host), ["m.io", "evil.example.com"]);
  assert.ok(found.every(({ headers }) => headers === undefined));
});

Deno.test("hosts.toml: mirrors get the name of the registry that they are asked for, as containerd does", () => {
  const file = 'server = "https://up.io"\n[host."https://m.io"]\n[host."https://quay.io"]';
  const found = endpoints({ "quay.io/hosts.toml": file, "_default/hosts.toml": '[host."https://m.io"]' }, "quay.io/a");
  assert.deepEqual(found.map(({ host, mirrorOf }) => [host, mirrorOf]), [
    ["m.io", "quay.io"],
    ["quay.io", undefined],
    ["up.io", "quay.io"],
  ]);
  const [hub] = endpoints({ "_default/hosts.toml": '[host."https://m.io"]' }, "nginx");
  assert.deepEqual([hub?.mirrorOf, hub?.repository], ["docker.io", "library/nginx"]);
});

Deno.test("parseHostsToml() warns of headers that cannot be sent, whose value it never shows", () => {
  const headers = ['host" = "c4nary', 'x-a" = "c4nary\\n', 'x\\u0000" = "c4nary', 'content-length" = "c4nary'];
  for (const header of headers) {
    const parsed = parseHosts(`[host."https://m.io"]\n[host."https://m.io".header]\n"${header}x"\n`);
    const warnings = JSON.stringify(parsed.kind === "parsed" && parsed.warnings);
    assert.match(warnings, /a header is not sent/);
    assert.doesNotMatch(warnings, /c4nary/);
    assert.deepEqual(valueOf(parsed).mirrors.map(({ headers }) => headers), [{}]);
  }
});

Deno.test("hostDirectories() accepts both spellings of a port", () => {
  assert.deepEqual(hostDirectories("reg.local:5000"), ["reg.local_5000_", "reg.local:5000", "_default"]);
  assert.deepEqual(hostDirectories("quay.io"), ["quay.io_443_", "quay.io", "_default"]);
});
