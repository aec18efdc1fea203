import assert from "node:assert/strict";
import fc from "fast-check";
import { matchCredentials, matchPullSecrets } from "../../../../lib/oci/credentials/match.ts";
import type { Credential } from "../../../../lib/oci/credential.ts";
import { makeCredential } from "../../../support/inspectors.ts";

function matching(keys: readonly string[], image: string): readonly string[] {
  const slash = image.indexOf("/");
  const [repository = ""] = image.slice(slash + 1).split(":");
  return matchCredentials(keys.map((key) => makeCredential(key)), { host: image.slice(0, slash), repository })
    .map(({ scope }) => scope);
}

type Row = readonly [id: string, says: string, keys: readonly string[], image: string, apply: readonly string[]];

const PORT_KEYS = ["docker.io", "*.kubernetes.io:443", "abc.kubernetes.io:443/other-repo"];
const REPO = "abc.kubernetes.io/my-repo/my-image:bar";
const DEEP_PORT = "abc.def.kubernetes.io:443/my-repo/my-image:bar";

const ROWS: readonly Row[] = [
  ["AU-01", "wants a label for each star", ["*.kubernetes.io"], "kubernetes.io/foo:bar", []],
  ["AU-02", "lets a star stand for one label", ["*.kubernetes.io"], "abc.kubernetes.io/foo:bar", ["*.kubernetes.io"]],
  ["AU-03", "never lets a star stand for no label", ["*.*.kubernetes.io"], "abc.kubernetes.io/foo:bar", []],
  ["AU-04", "takes one star a label", ["*.*.kubernetes.io"], "abc.def.kubernetes.io/baz/foo:bar", [
    "*.*.kubernetes.io",
  ]],
  ["AU-05", "takes a star in the middle", ["prefix.*.io"], "prefix.kubernetes.io/foo:bar", ["prefix.*.io"]],
  ["AU-06", "takes a star within a label", ["*-good.kubernetes.io"], "prefix-good.kubernetes.io/baz/foo:bar", [
    "*-good.kubernetes.io",
  ]],
  ["AU-07", "takes a literal host as it is", ["kubernetes.io"], "kubernetes.io/foo:bar", ["kubernetes.io"]],
  ["AU-08", "takes docker.io as it is", ["docker.io"], "docker.io/foo:bar", ["docker.io"]],
  ["AU-09", "passes over globs for other hosts", ["docker.io", "*.kubernetes.io"], "docker.io/foo:bar", ["docker.io"]],
  [
    "AU-10",
    "puts the literal before the glob of the same path",
    ["docker.io", "*.kubernetes.io/my-repo", "abc.kubernetes.io/my-repo"],
    REPO,
    ["abc.kubernetes.io/my-repo", "*.kubernetes.io/my-repo"],
  ],
  [
    "AU-11",
    "puts the longer path first and keeps the glob",
    ["docker.io", "*.kubernetes.io", "abc.kubernetes.io/my-repo"],
    REPO,
    ["abc.kubernetes.io/my-repo", "*.kubernetes.io"],
  ],
  [
    "AU-12",
    "uses the glob when the literal is for another repository",
    ["docker.io", "*.kubernetes.io", "abc.kubernetes.io/other-repo"],
    REPO,
    ["*.kubernetes.io"],
  ],
  [
    "AU-13",
    "keeps the path of a glob",
    ["docker.io", "*.kubernetes.io/my-repo", "abc.kubernetes.io/other-repo"],
    REPO,
    ["*.kubernetes.io/my-repo"],
  ],
  ["AU-14", "keeps the port of a glob", PORT_KEYS, "abc.kubernetes.io:443/my-repo/my-image:bar", [
    "*.kubernetes.io:443",
  ]],
  ["AU-15", "takes the glob with as many labels", [...PORT_KEYS, "*.*.kubernetes.io:443"], DEEP_PORT, [
    "*.*.kubernetes.io:443",
  ]],
  ["AU-16", "takes no glob with fewer labels", PORT_KEYS, DEEP_PORT, []],
  [
    "DV-115",
    "knows docker's own key of Docker Hub",
    ["https://index.docker.io/v1/"],
    "registry-1.docker.io/library/nginx:latest",
    ["https://index.docker.io/v1/"],
  ],
  ["DV-116", "tries the key with the longer path first", ["quay.io", "quay.io/org"], "quay.io/org/x", [
    "quay.io/org",
    "quay.io",
  ]],
  ["DV-125", "compares paths by segment", ["*.io/foo", "quay.io/foob"], "quay.io/foobar/x", []],
  ["DV-126", "wants equal ports", ["*.example.com:5000", "a.example.com"], "a.example.com:5001/x/y", []],
];

for (const [id, says, keys, image, apply] of ROWS) {
  Deno.test(`${id} matchCredentials() ${says}`, () => assert.deepEqual(matching(keys, image), apply));
}

Deno.test("matchCredentials() takes keys with scheme, slash and API root for the host", () => {
  const keys = ["https://quay.io", "http://quay.io/", "quay.io/v2/", "https://quay.io/v1", "QUAY.io", " quay.io "];
  assert.deepEqual(matching(keys, "quay.io/a/b"), keys);
});

Deno.test("matchCredentials() holds Docker Hub's three names for one", () => {
  const keys = ["docker.io", "index.docker.io", "https://registry-1.docker.io/v2/"];
  for (const host of keys) {
    const name = host.replace(/^https:\/\/|\/v2\/$/g, "");
    assert.deepEqual(matching(keys, `${name}/library/nginx`), keys);
  }
});

Deno.test("matchCredentials() reads character classes and question marks as the kubelet does", () => {
  assert.deepEqual(matching(["reg[0-4].x.io", "reg?.x.io", "reg[^0-4].x.io"], "reg3.x.io/a"), [
    "reg[0-4].x.io",
    "reg?.x.io",
  ]);
  assert.deepEqual(matching(["reg[.x.io", "[", "*"], "reg3.x.io/a"), []);
});

Deno.test("matchCredentials() compares IPv6 hosts literally", () => {
  assert.deepEqual(matching(["[::1]:5000", "[::2]:5000"], "[::1]:5000/a"), ["[::1]:5000"]);
});

Deno.test("DV-59 matchPullSecrets() tries the secret listed last first, and then the others", () => {
  const listed = ["secret a/one", "secret a/two"].map((source) => makeCredential("quay.io", { source }));
  const order = matchPullSecrets(listed, { host: "quay.io", repository: "x" }).map(({ source }) => source);
  assert.deepEqual(order, ["secret a/two", "secret a/one"]);
});

Deno.test("matchCredentials() leaves equal keys as they are listed, however often it is applied", () => {
  const key = fc.constantFrom("quay.io", "quay.io/org", "*.io", "qua?.io/org", "other.io");
  const list = fc.array(key).map((keys) => keys.map((scope, at) => makeCredential(scope, { source: `source ${at}` })));
  const target = { host: "quay.io", repository: "org/x" };
  fc.assert(fc.property(list, (listed) => {
    const once = matchCredentials(listed, target);
    assert.deepEqual(matchCredentials(once, target), once);
    for (const scope of new Set(once.map((found) => found.scope))) {
      const same = (found: Credential): boolean => found.scope === scope;
      assert.deepEqual(once.filter(same), listed.filter(same));
    }
  }));
});

Deno.test("matchCredentials() keeps the order of an entry's own ways", () => {
  const ways: readonly Credential[] = [
    { scope: "quay.io", source: "s", secret: { kind: "identity", token: "t" } },
    { scope: "quay.io", source: "s", secret: { kind: "basic", username: "u", password: "p" } },
  ];
  assert.deepEqual(matchCredentials(ways, { host: "quay.io", repository: "x" }), ways);
});

Deno.test("invariant 6: matchCredentials() never gives a credential to another host or port, whatever the keys", () => {
  const host = fc.constantFrom("quay.io", "quay.io:5000", "evil.io", "a.quay.io", "docker.io", "[::1]:80");
  fc.assert(fc.property(fc.array(fc.oneof(host, fc.string())), host, (keys, target) => {
    const found = matchCredentials(keys.map((key) => makeCredential(key)), { host: target, repository: "org/x" });
    for (const { scope } of found.filter(({ scope }) => /^[a-z.:0-9]+$/.test(scope))) {
      assert.equal(scope, target);
    }
  }));
});

Deno.test("matchCredentials() answers at once for patterns that would make a regular expression backtrack", () => {
  const pattern = `${"*a".repeat(500)}b.io`;
  assert.deepEqual(matching([pattern], `${"a".repeat(1_000)}.io/x`), []);
});
