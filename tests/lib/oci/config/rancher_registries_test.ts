import assert from "node:assert/strict";
import { parseRancherRegistries } from "../../../../lib/oci/config/rancher_registries.ts";
import { parseRewrite, rewriteRepository } from "../../../../lib/oci/config/rewrite.ts";
import { issueAuthority } from "../../../../lib/tls/issue.ts";
import { makeCredential } from "../../../support/inspectors.ts";
import { keepLog } from "../../../support/logs.ts";
import { connectionOf, makeFolder, openPlanner, planned } from "./planner_support.ts";

const FILE = `
mirrors:
  docker.io:
    endpoint:
      - "https://mirror.example.com:5000"
      - http://10.0.0.1:5000/hub
    rewrite:
      "^library/(.*)": "proxied/$1"
  "*":
    endpoint: ["https://catch-all.example.com"]
  quay.io:
configs:
  "mirror.example.com:5000":
    auth: {username: robot, password: c4nary-word}
    tls: {insecure_skip_verify: true}
  10.0.0.1:5000:
    auth: {auth: dXNlcjpwYXNz}
  "https://tok.example.com":
    auth: {identity_token: idt}
`;

Deno.test("registries.yaml: endpoints with rewritten paths, then the registry with the path as it was", () => {
  using folder = makeFolder({ "registries.yaml": FILE });
  const plan = openPlanner({ rancherRegistries: `${folder.path}/registries.yaml` }).plan("nginx:1");
  assert.ok(plan.kind === "endpoints");
  const rows = plan.endpoints.map((
    { host, pathPrefix, repository, isMirror, connection: { scheme, verifiesTls } },
  ) => [`${scheme}://${host}${pathPrefix}`, repository, isMirror, verifiesTls]);
  assert.deepEqual(rows, [
    ["https://mirror.example.com:5000", "proxied/nginx", true, false],
    ["http://10.0.0.1:5000/hub", "proxied/nginx", true, true],
    ["https://registry-1.docker.io", "library/nginx", false, true],
  ]);
});

Deno.test("registries.yaml: the host * stands for hosts without mirrors of their own", () => {
  using folder = makeFolder({ "registries.yaml": FILE });
  const planner = openPlanner({ rancherRegistries: `${folder.path}/registries.yaml` });
  assert.deepEqual(planned(planner, "gcr.io/a/b"), ["catch-all.example.com/a/b", "gcr.io/a/b"]);
  assert.deepEqual(planned(planner, "quay.io/a/b"), ["quay.io/a/b"]);
});

Deno.test("registries.yaml: the TLS settings of * are those of hosts without their own, and declare none of them", () => {
  const file = `configs:
  "*":
    auth: {username: u, password: c4nary}
    tls: {insecure_skip_verify: true}
  quay.io:
    tls: {insecure_skip_verify: false}
`;
  using folder = makeFolder({ "registries.yaml": file });
  const planner = openPlanner({ rancherRegistries: `${folder.path}/registries.yaml` });
  const reach = (image: string): readonly boolean[] => {
    const connection = connectionOf(planner, image);
    return connection === undefined ? [] : [connection.verifiesTls, connection.isDeclared];
  };
  assert.deepEqual(reach("gcr.io/a"), [false, false]);
  assert.deepEqual(reach("quay.io/a"), [true, true]);
  assert.deepEqual(planner.credentials(), []);
  assert.match(String(planner.problems().map(({ message }) => message)), /^the login of \* is not used:[^,]*$/);
});

Deno.test("registries.yaml: its auth entries are credentials", () => {
  using folder = makeFolder({ "registries.yaml": FILE });
  const planner = openPlanner({ rancherRegistries: `${folder.path}/registries.yaml` });
  const source = "registries.yaml";
  assert.deepEqual(planner.credentials(), [
    makeCredential("mirror.example.com:5000", { source, username: "robot", password: "c4nary-word" }),
    makeCredential("10.0.0.1:5000", { source, username: "user", password: "pass" }),
    { scope: "tok.example.com", source, secret: { kind: "identity", token: "idt" } },
  ]);
});

Deno.test("registries.yaml: ca_file is read; without it the host is refused", async () => {
  const authority = await issueAuthority({ nowMs: Date.now(), lifetimeMs: 3_600_000 });
  const file =
    'configs:\n  "reg.local:5000":\n    tls:\n      ca_file: ca.pem\n  bad.local:\n    tls: {ca_file: no.pem}\n';
  using folder = makeFolder({ "registries.yaml": file, "ca.pem": authority.cert });
  const planner = openPlanner({ rancherRegistries: `${folder.path}/registries.yaml` });
  assert.equal(connectionOf(planner, "reg.local:5000/a")?.caCertificates.length, 1);
  assert.match(String(planned(planner, "bad.local/a")), /^Misconfigured: .*no.pem is missing/);
});

Deno.test("registries.yaml: a broken file is reported with its line, without its words, and costs only its mirrors", () => {
  using folder = makeFolder({ "registries.yaml": 'mirrors: {}\nconfigs:\n  a: {auth: {password: "c4nary}\n' });
  const log = keepLog();
  const planner = openPlanner({ rancherRegistries: `${folder.path}/registries.yaml`, log });
  assert.deepEqual(planned(planner, "quay.io/a"), ["quay.io/a"]);
  assert.equal(log.lines.length, 1);
  assert.equal(typeof log.lines[0]?.fields.line, "number");
  assert.ok(!JSON.stringify(log.lines).includes("c4nary"));
});

Deno.test("parseRancherRegistries() passes over URLs and rewrites that cannot be used", () => {
  const parsed = parseRancherRegistries(
    'mirrors:\n  a.io:\n    endpoint: ["ftp://x", "https://ok.io"]\n    rewrite: {"(": "x", "(a+)+$": "y"}\n',
  );
  assert.equal(parsed.kind === "parsed" && parsed.value.mirrors.get("a.io")?.endpoints.length, 1);
  assert.equal(parsed.kind === "parsed" && parsed.value.mirrors.get("a.io")?.rewrites.length, 0);
  assert.equal(parsed.kind === "parsed" && parsed.warnings.length, 3);
});

Deno.test("parseRancherRegistries() takes an empty file", () => {
  for (const text of ["", "mirrors:\nconfigs:\n", "# nothing\n"]) {
    assert.equal(parseRancherRegistries(text).kind, "parsed");
  }
});

Deno.test("rewriteRepository() expands groups as Go does and stops at the first match", () => {
  const rewrites = [["^a/(.*)$", "x/${1}/$1$$"], ["^a/", "never/"], ["^b(c)?/", "[$1]/"]]
    .flatMap(([pattern = "", replacement = ""]) => parseRewrite(pattern, replacement) ?? []);
  assert.equal(rewriteRepository(rewrites, "a/b"), "x/b/b$");
  assert.equal(rewriteRepository(rewrites, "b/z"), "[]/z");
  assert.equal(rewriteRepository(rewrites, "other"), "other");
});

Deno.test("parseRewrite() refuses patterns on which matching could take for ever", () => {
  for (const pattern of ["(a+)+$", "(a|a)*$", "(.*)(.*)(.*)(.*)x", "(?:x{2,})*", "[", "a".repeat(501)]) {
    assert.equal(parseRewrite(pattern, "x"), undefined, pattern);
  }
  assert.notEqual(parseRewrite("^rancher/(.*)-(.*)$", "x/$1"), undefined);
});
