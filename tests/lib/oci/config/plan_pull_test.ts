import assert from "node:assert/strict";
import fc from "fast-check";
import { planPull } from "../../../../lib/oci/config/plan_pull.ts";
import { canonicalHost } from "../../../../lib/oci/host_names.ts";
import { asParsed, unparsable } from "../../../../lib/parsed.ts";
import { parseRancherRegistries } from "../../../../lib/oci/config/rancher_registries.ts";
import { endpointsOf, placesOf, refusalOf, settingsFrom, valueOf } from "./settings_support.ts";

const DIGEST = `sha256:${"a".repeat(64)}`;
const ACCEPT = '[{"type":"insecureAcceptAnything"}]';
const REJECT = '[{"type":"reject"}]';

Deno.test("planPull() asks the registry itself when nothing is configured", () => {
  assert.deepEqual(endpointsOf("quay.io/org/app:v1", settingsFrom({})), [{
    host: "quay.io",
    repository: "org/app",
    identifier: "v1",
    isMirror: false,
    pathPrefix: "",
    connection: { scheme: "https", verifiesTls: true, caCertificates: [], isDeclared: false },
  }]);
});

Deno.test("DV-98 planPull() refuses every image when policy.json rejects by default", () => {
  const failure = refusalOf("quay.io/a/b:1", settingsFrom({ policy: `{"default":${REJECT}}` }));
  assert.deepEqual([failure.reason, failure.kind], ["Blocked", "permanent"]);
  assert.match(failure.message, /^Cannot pull "quay.io\/a\/b": policy.json rejects it \(scope "default"\)/);
});

Deno.test("DV-99 planPull() judges by the most specific scope of policy.json", () => {
  const policy = `{"default":${ACCEPT},"transports":{"docker":{
    "docker.io/library/x":${REJECT},
    "docker.io/library/x:good":${ACCEPT},
    "*.io":${REJECT},
    "quay.io":${ACCEPT},
    "a.b.example.com:5000/team":${ACCEPT},
    "*.b.example.com":${REJECT},
    "docker.io":${ACCEPT},
    "example.org":[]
  }}}`;
  const settings = settingsFrom({ policy });
  const allowed = ["docker.io/library/y", "x:good", "quay.io/a/b", "a.b.example.com:5000/team/x", "example.com/x", "y"];
  const rejected = ["x", "docker.io/library/x:bad", "gcr.io/a/b", "a.b.example.com:5000/other/x", "example.org/x"];
  for (const image of allowed) assert.equal(planPull(image, settings).kind, "endpoints", image);
  for (const image of rejected) assert.equal(refusalOf(image, settings).reason, "Blocked", image);
});

Deno.test("Q-08 planPull() takes what policy.json wants signed, which the runtime verifies, unless it is rejected as well", () => {
  for (const type of ["signedBy", "signedBaseLayer", "sigstoreSigned"]) {
    const signed = `{"type":"${type}","keyPath":"/k"}`;
    const policyOf = (list: string): string => `{"default":${ACCEPT},"transports":{"docker":{"quay.io":[${list}]}}}`;
    assert.equal(planPull("quay.io/a/b", settingsFrom({ policy: policyOf(signed) })).kind, "endpoints", type);
    const both = settingsFrom({ policy: policyOf(`${signed},{"type":"reject"}`) });
    assert.match(refusalOf("quay.io/a/b", both).message, /policy.json rejects it \(scope "quay.io"\)/, type);
  }
});

Deno.test("DV-100 planPull() goes to the mirrors of a blocked registry", () => {
  const conf = `
    [[registry]]
    location = "quay.io"
    blocked = true
    [[registry.mirror]]
    location = "mirror.example.com/quay"`;
  assert.deepEqual(placesOf("quay.io/org/app@" + DIGEST, settingsFrom({ conf })), ["mirror.example.com/quay/org/app"]);
});

Deno.test("DV-100 planPull() refuses a blocked registry without mirrors, and a mirror that is blocked itself", () => {
  const conf = `
    [[registry]]
    location = "quay.io"
    blocked = true
    [[registry]]
    location = "gcr.io"
    [[registry.mirror]]
    location = "quay.io/gcr"`;
  assert.equal(refusalOf("quay.io/org/app", settingsFrom({ conf })).reason, "Blocked");
  assert.deepEqual(placesOf("gcr.io/org/app", settingsFrom({ conf })), ["gcr.io/org/app"]);
});

const MIRRORS = `
  [[registry]]
  location = "quay.io"
  [[registry.mirror]]
  location = "digests.example.com"
  pull-from-mirror = "digest-only"
  [[registry.mirror]]
  location = "tags.example.com"
  pull-from-mirror = "tag-only"
  [[registry.mirror]]
  location = "both.example.com:5000/q"`;

Deno.test("DV-101 planPull() passes over digest-only mirrors for a tag", () => {
  const endpoints = endpointsOf("quay.io/a/b:v1", settingsFrom({ conf: MIRRORS }));
  assert.deepEqual(endpoints.map(({ host, isMirror: mirror }) => [host, mirror]), [
    ["tags.example.com", true],
    ["both.example.com:5000", true],
    ["quay.io", false],
  ]);
});

Deno.test("DV-102 planPull() passes over tag-only mirrors for a digest, also when a tag stands beside it", () => {
  assert.deepEqual(placesOf(`quay.io/a/b:v1@${DIGEST}`, settingsFrom({ conf: MIRRORS })), [
    "digests.example.com/a/b",
    "both.example.com:5000/q/a/b",
    "quay.io/a/b",
  ]);
});

Deno.test("planPull() treats mirror-by-digest-only as digest-only on each mirror", () => {
  const conf = `
    [[registry]]
    location = "quay.io"
    mirror-by-digest-only = true
    [[registry.mirror]]
    location = "m.example.com"`;
  assert.deepEqual(placesOf("quay.io/a/b", settingsFrom({ conf })), ["quay.io/a/b"]);
  assert.deepEqual(placesOf(`quay.io/a/b@${DIGEST}`, settingsFrom({ conf })), ["m.example.com/a/b", "quay.io/a/b"]);
});

Deno.test("DV-103 planPull() follows the longest prefix, which ends at a boundary", () => {
  const conf = `
    [[registry]]
    prefix = "quay.io"
    location = "one.example.com"
    [[registry]]
    prefix = "quay.io/team"
    location = "two.example.com/t"
    [[registry]]
    prefix = "quay.io/team/app:v2"
    location = "three.example.com/app"`;
  const settings = settingsFrom({ conf });
  assert.deepEqual(placesOf("quay.io/x/y", settings), ["one.example.com/x/y"]);
  assert.deepEqual(placesOf("quay.io/team/app:v1", settings), ["two.example.com/t/app"]);
  assert.deepEqual(placesOf("quay.io/teams/app", settings), ["one.example.com/teams/app"]);
  assert.deepEqual(placesOf("quay.io/team/app:v2", settings), ["three.example.com/app"]);
  assert.deepEqual(placesOf("quay.io.evil.com/team/app", settings), ["quay.io.evil.com/team/app"]);
});

Deno.test("DV-104 planPull() lets *.example.com stand for subdomains only", () => {
  const conf = `
    [[registry]]
    prefix = "*.example.com"
    location = "proxy.local:5000"
    [[registry]]
    prefix = "*.blocked.com"
    blocked = true`;
  const settings = settingsFrom({ conf });
  assert.deepEqual(placesOf("a.example.com/x/y", settings), ["proxy.local:5000/x/y"]);
  assert.deepEqual(placesOf("a.b.example.com/x", settings), ["proxy.local:5000/x"]);
  assert.deepEqual(placesOf("example.com/x/y", settings), ["example.com/x/y"]);
  assert.deepEqual(placesOf("badexample.com/x/y", settings), ["badexample.com/x/y"]);
  assert.equal(refusalOf("x.blocked.com/y", settings).reason, "Blocked");
});

Deno.test("DV-105 planPull() follows the drop-in for a prefix that the main file has too", () => {
  const rule = (location: string): string => `[[registry]]\nprefix = "quay.io"\nlocation = "${location}"\n`;
  const dropIns = [rule("two.io"), '[[registry]]\nlocation = "gcr.io"'];
  assert.deepEqual(placesOf("quay.io/a/b", settingsFrom({ conf: rule("one.io"), dropIns })), ["two.io/a/b"]);
});

Deno.test("DV-107 planPull() tries HTTPS and then HTTP for an insecure registry, endpoint by endpoint", () => {
  const conf = `
    [[registry]]
    location = "quay.io"
    [[registry.mirror]]
    location = "10.0.0.1:5000"
    insecure = true`;
  assert.deepEqual(endpointsOf("quay.io/a/b", settingsFrom({ conf })).map(({ connection }) => connection), [
    { scheme: "https-then-http", verifiesTls: false, caCertificates: [], isDeclared: true },
    { scheme: "https", verifiesTls: true, caCertificates: [], isDeclared: true },
  ]);
});

Deno.test("DV-108 planPull() tries the search registries in order", () => {
  const conf = 'unqualified-search-registries = ["registry.example.com", "docker.io"]';
  assert.deepEqual(placesOf("app:v1", settingsFrom({ conf })), [
    "registry.example.com/app",
    "registry-1.docker.io/library/app",
  ]);
});

Deno.test("DV-109 planPull() refuses a short name when registries.conf names no search registries", () => {
  const failure = refusalOf("nginx", settingsFrom({ conf: "" }));
  assert.equal(failure.reason, "Misconfigured");
  assert.match(failure.message, /^Cannot resolve short name "nginx"/);
});

Deno.test("DV-110 planPull() refuses a short name of several registries when the mode is enforcing", () => {
  const conf = 'unqualified-search-registries = ["a.io", "b.io"]\nshort-name-mode = "enforcing"';
  assert.match(refusalOf("nginx", settingsFrom({ conf })).message, /enforcing/);
  assert.deepEqual(placesOf("nginx", settingsFrom({ conf: conf.replace(', "b.io"', "") })), ["a.io/nginx"]);
});

Deno.test("DV-111 planPull() follows an alias alone, tag and digest attached again", () => {
  const conf = `
    unqualified-search-registries = ["a.io", "b.io"]
    short-name-mode = "enforcing"
    [aliases]
    "app" = "quay.io/team/app"
    "gone" = "quay.io/team/gone"`;
  const settings = settingsFrom({ conf, dropIns: ['[aliases]\n"gone" = ""'] });
  const [alias] = endpointsOf(`app:v1@${DIGEST}`, settings);
  assert.deepEqual([alias?.host, alias?.repository, alias?.identifier], ["quay.io", "team/app", DIGEST]);
  assert.match(refusalOf("gone", settings).message, /enforcing/);
});

Deno.test("DV-112 planPull() contacts registry-1.docker.io for Docker Hub", () => {
  const [hub] = endpointsOf("nginx", settingsFrom({ conf: 'unqualified-search-registries = ["docker.io"]' }));
  assert.deepEqual([hub?.host, hub?.repository, hub?.identifier], ["registry-1.docker.io", "library/nginx", "latest"]);
});

Deno.test("planPull() declares hosts of flags, ignores their https port and leaves other ports alone", () => {
  const settings = settingsFrom({ declared: ["Reg.local", "10.0.0.1:5000"], insecure: ["plain.local:80"] });
  const connection = (image: string): readonly unknown[] => {
    const { isDeclared, scheme, verifiesTls } = endpointsOf(image, settings)[0]?.connection ?? {};
    return [isDeclared, scheme, verifiesTls];
  };
  assert.deepEqual(connection("reg.local:443/x/y"), [true, "https", true]);
  assert.deepEqual(connection("reg.local:444/x/y"), [false, "https", true]);
  assert.deepEqual(connection("10.0.0.1:5000/x/y"), [true, "https", true]);
  assert.deepEqual(connection("plain.local:80/x/y"), [true, "https-then-http", false]);
});

Deno.test("planPull() refuses a host whose certificates are broken, and no other", () => {
  const certs = new Map([["bad.io", unparsable("x.cert has no x.key beside it")]]);
  const failure = refusalOf("bad.io/a/b", settingsFrom({ certs }));
  assert.deepEqual([failure.reason, failure.registry], ["Misconfigured", "bad.io"]);
  assert.deepEqual(placesOf("good.io/a/b", settingsFrom({ certs })), ["good.io/a/b"]);
});

Deno.test("planPull() finds what is configured for a host in whatever spelling an image or a file names it", () => {
  const images = ["reg.example/team/app", "REG.example:443/team/app", "reg.example:0443/team/app"];
  const blocked = settingsFrom({ conf: '[[registry]]\nlocation = "Reg.example:443/team"\nblocked = true' });
  const rejected = settingsFrom({
    policy: `{"default":${ACCEPT},"transports":{"docker":{"REG.example/team":${REJECT}}}}`,
  });
  const rancher = valueOf(parseRancherRegistries('configs: {"REG.example:443": {tls: {insecure_skip_verify: true}}}'));
  assert.deepEqual([...rancher.tls.keys()], ["reg.example"]);
  const tls = asParsed({ skipsVerify: true, caCertificates: [], clientCertificates: [] });
  const known = settingsFrom({ certs: new Map([["reg.example", tls]]) });
  for (const image of images) {
    for (const settings of [blocked, rejected]) assert.equal(refusalOf(image, settings).reason, "Blocked", image);
    const [endpoint] = endpointsOf(image, known);
    assert.deepEqual([endpoint?.host, endpoint?.connection.verifiesTls], ["reg.example", false], image);
  }
});

Deno.test("planPull() refuses what is not a reference", () => {
  for (const image of ["", "x/UPPER", "a b", "x@sha256:1@sha256:2", "http://x/y", "x:", "//x"]) {
    assert.equal(refusalOf(image, settingsFrom({})).reason, "InvalidReference", image);
  }
});

Deno.test("planPull() never throws, and never plans for a host the image does not name when nothing is configured", () => {
  fc.assert(fc.property(fc.oneof(fc.string(), fc.webUrl()), (image) => {
    const plan = planPull(image, settingsFrom({}));
    if (plan.kind === "refused") return;
    for (const { host } of plan.endpoints) {
      const named = canonicalHost(image.split("/")[0] ?? "");
      assert.ok(host === "registry-1.docker.io" || named === host, `${image} → ${host}`);
    }
  }));
});
