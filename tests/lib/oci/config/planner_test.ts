import assert from "node:assert/strict";
import {
  loginFile,
  NO_REGISTRY_ENVIRONMENT,
  readRegistryEnvironment,
  systemPaths,
} from "../../../../lib/oci/config/registry_environment.ts";
import { issueAuthority, issueServing } from "../../../../lib/tls/issue.ts";
import { keepLog } from "../../../support/logs.ts";
import { connectionOf, makeFolder, openPlanner, planned, systemWith } from "./planner_support.ts";

const MOVE = (location: string): string => `[[registry]]\nprefix = "quay.io"\nlocation = "${location}"\n`;
const VALIDITY = { nowMs: Date.now(), lifetimeMs: 3_600_000 };

Deno.test("DV-97 openPullPlanner() refuses every image when a named registries.conf is missing", () => {
  using folder = makeFolder();
  const planner = openPlanner({ registriesConf: `${folder.path}/registries.conf` });
  assert.match(String(planned(planner, "quay.io/a/b")), /^Misconfigured: .*registries.conf is missing/);
  assert.deepEqual(planner.problems().map(({ message }) => message), ["is missing"]);
});

Deno.test("DV-97 openPullPlanner() does without a registries.conf that nobody named", () => {
  const planner = openPlanner({});
  assert.deepEqual(planned(planner, "quay.io/a/b"), ["quay.io/a/b"]);
  assert.deepEqual(planned(planner, "nginx"), ["registry-1.docker.io/library/nginx"]);
  assert.deepEqual(planner.problems(), []);
});

Deno.test("DV-98 openPullPlanner() refuses every image when a named policy.json is missing", () => {
  using folder = makeFolder();
  const planner = openPlanner({ policy: `${folder.path}/policy.json` });
  assert.match(String(planned(planner, "quay.io/a/b")), /^Misconfigured: .*policy.json is missing/);
});

Deno.test("DV-105 openPullPlanner() lays drop-ins over the main file in the order of their names", () => {
  using folder = makeFolder({
    "registries.conf": MOVE("main.io"),
    "registries.conf.d/20-b.conf": MOVE("late.io"),
    "registries.conf.d/10-a.conf": MOVE("early.io"),
    "registries.conf.d/30-c.conf.bak": MOVE("ignored.io"),
  });
  const planner = openPlanner({ registriesConf: `${folder.path}/registries.conf` });
  assert.deepEqual(planned(planner, "quay.io/a/b"), ["late.io/a/b"]);
});

Deno.test("openPullPlanner() finds files where container tools keep them", () => {
  using folder = makeFolder({
    "registries.conf": MOVE("m.io"),
    "policy.json":
      '{"default":[{"type":"insecureAcceptAnything"}],"transports":{"docker":{"gcr.io":[{"type":"reject"}]}}}',
  });
  const files = { registriesConf: `${folder.path}/registries.conf`, policy: `${folder.path}/policy.json` };
  const planner = openPlanner({ system: systemWith(files) });
  assert.deepEqual(planned(planner, "quay.io/a/b"), ["m.io/a/b"]);
  assert.match(String(planned(planner, "gcr.io/a")), /^Blocked/);
  assert.deepEqual(planned(planner, "nginx"), ["registry-1.docker.io/library/nginx"]);
});

Deno.test("openPullPlanner() looks into the home before the system's folders, and takes aliases that somebody chose", async () => {
  const authority = await issueAuthority(VALIDITY);
  using home = makeFolder({
    ".config/containers/certs.d/reg.local/ca.crt": authority.cert,
    "cache/containers/short-name-aliases.conf": '[aliases]\nnginx = "quay.io/chosen/nginx"\nbusybox = ""\n',
    "registries.conf":
      'unqualified-search-registries = ["m.io"]\n[aliases]\nnginx = "quay.io/a/b"\nbusybox = "quay.io/b/b"\n',
  });
  const env = { HOME: `${home.path}/`, XDG_CACHE_HOME: `${home.path}/cache` };
  const { certsDirs, aliasCaches } = systemPaths(readRegistryEnvironment(env));
  assert.deepEqual(certsDirs.slice(1), ["/etc/containers/certs.d", "/etc/docker/certs.d"]);
  const registriesConf = `${home.path}/registries.conf`;
  const planner = openPlanner({ system: systemWith({ registriesConf, certsDirs, aliasCaches }) });
  assert.deepEqual(planned(planner, "nginx:1"), ["quay.io/chosen/nginx"]);
  // An empty alias takes the configured one back.
  assert.deepEqual(planned(planner, "busybox"), ["m.io/busybox"]);
  assert.equal(connectionOf(planner, "reg.local/a")?.caCertificates.length, 1);
  assert.deepEqual(planner.problems(), []);
});

Deno.test("systemPaths() has the usual cache of a home, and nothing of a home that is no absolute path", () => {
  const usual = systemPaths(readRegistryEnvironment({ HOME: "/home/me" }));
  assert.equal(usual.aliasCaches[0], "/home/me/.cache/containers/short-name-aliases.conf");
  const none = systemPaths(readRegistryEnvironment({ HOME: "me", XDG_CACHE_HOME: "" }));
  assert.deepEqual(none, systemPaths(NO_REGISTRY_ENVIRONMENT));
});

Deno.test("loginFile() takes the auth file, else docker's folder, else the home; of docker only what is there", () => {
  const env = { REGISTRY_AUTH_FILE: "/auth.json", DOCKER_CONFIG: "/docker", HOME: "/home/me" };
  const none = (): boolean => false;
  const all = (): boolean => true;
  assert.equal(loginFile(env, none), "/auth.json");
  assert.equal(loginFile({ ...env, REGISTRY_AUTH_FILE: "" }, all), "/docker/config.json");
  assert.equal(loginFile({ ...env, REGISTRY_AUTH_FILE: "" }, none), undefined);
  assert.equal(loginFile({ HOME: "/home/me/" }, all), "/home/me/.docker/config.json");
  assert.equal(loginFile({ HOME: "me" }, all), undefined);
});

Deno.test("openPullPlanner() goes on without aliases when their cache is broken, and reports it", () => {
  using folder = makeFolder({ "aliases.conf": "[aliases]\nnginx = 4\n" });
  const planner = openPlanner({ system: systemWith({ aliasCaches: [`${folder.path}/aliases.conf`] }) });
  assert.deepEqual(planned(planner, "nginx"), ["registry-1.docker.io/library/nginx"]);
  assert.deepEqual(planner.problems().map(({ line }) => line), [2]);
});

Deno.test("openPullPlanner() gives the credential helpers of registries.conf, the last file's, without the auth file", () => {
  using folder = makeFolder({
    "registries.conf": 'credential-helpers = ["ecr-login"]',
    "registries.conf.d/10.conf": 'credential-helpers = ["containers-auth.json", "gcr", "../../evil", "sh -c"]',
    "registries.conf.d/20.conf": "",
  });
  const planner = openPlanner({ registriesConf: `${folder.path}/registries.conf` });
  assert.deepEqual(planner.credentialHelpers(), ["gcr"]);
});

Deno.test("openPullPlanner() reports named folders that are not there", () => {
  const planner = openPlanner({ hostsDir: "/none/hosts", certsDir: "/none/certs", registriesConfDir: "/none/conf.d" });
  const files = ["/none/hosts", "/none/certs", "/none/conf.d"];
  assert.deepEqual(planner.problems(), files.map((file) => ({ file, message: "is not a folder" })));
  assert.deepEqual(planned(planner, "quay.io/a"), ["quay.io/a"]);
});

Deno.test("openPullPlanner() reports a broken file once, with its line, and refuses until it was readable", () => {
  using folder = makeFolder({ "registries.conf": `${MOVE("m.io")}\nnot toml\n` });
  const log = keepLog();
  const planner = openPlanner({ registriesConf: `${folder.path}/registries.conf`, log });
  assert.match(String(planned(planner, "quay.io/a/b")), /^Misconfigured: .*registries.conf line 5: not TOML/);
  assert.deepEqual(log.lines.map(({ fields }) => fields.line), [5]);
});

Deno.test("openPullPlanner() reads certs.d: CAs and a client certificate, the first tree that has the host", async () => {
  const authority = await issueAuthority(VALIDITY);
  const client = await issueServing(authority, { ...VALIDITY, names: ["client"] });
  using folder = makeFolder({
    "one/reg.local:5000/ca.crt": authority.cert,
    "one/reg.local:5000/client.cert": client.cert,
    "one/reg.local:5000/client.key": client.key,
    "two/reg.local:5000/unpaired.key": client.key,
    "two/docker.io/hub.crt": authority.cert,
  });
  const certsDirs = [`${folder.path}/one`, `${folder.path}/two`, `${folder.path}/three`];
  const planner = openPlanner({ system: systemWith({ certsDirs }) });
  const connection = connectionOf(planner, "reg.local:5000/a/b");
  assert.equal(connection?.caCertificates.length, 1);
  assert.equal(connection?.clientCertificates?.[0]?.key.trim(), client.key.trim());
  assert.equal(connection?.isDeclared, true);
  assert.equal(connectionOf(planner, "nginx")?.caCertificates.length, 1);
});

Deno.test("openPullPlanner() refuses a host with an unpaired or foreign key in certs.d, and reports which file", async () => {
  const authority = await issueAuthority(VALIDITY);
  const other = await issueAuthority(VALIDITY);
  using folder = makeFolder({
    "unpaired.io/x.cert": authority.cert,
    "foreign.io/x.cert": authority.cert,
    "foreign.io/x.key": other.key,
    "empty.io/notes.txt": "",
    "junk.io/ca.crt": "no PEM",
  });
  const planner = openPlanner({ certsDir: folder.path });
  assert.match(String(planned(planner, "unpaired.io/a")), /^Misconfigured: .*x.cert has no x.key beside it/);
  assert.match(String(planned(planner, "foreign.io/a")), /does not belong to the client certificate/);
  assert.match(String(planned(planner, "junk.io/a")), /ca.crt: no PEM certificate/);
  assert.deepEqual(planned(planner, "empty.io/a"), ["empty.io/a"]);
});

Deno.test("openPullPlanner() trusts CA files for every registry, and reports a bad file", async () => {
  const authority = await issueAuthority(VALIDITY);
  using folder = makeFolder({ "ca.pem": authority.cert, "bad.pem": "junk" });
  const registryCa = [`${folder.path}/ca.pem`, `${folder.path}/bad.pem`, `${folder.path}/none.pem`];
  const planner = openPlanner({ registryCa });
  assert.equal(connectionOf(planner, "quay.io/a/b")?.caCertificates.length, 1);
  assert.deepEqual(planner.problems().map(({ message }) => message), ["no PEM certificate in it", "is missing"]);
});
