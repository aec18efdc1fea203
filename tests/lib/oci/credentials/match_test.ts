// The rows of the MTO's credential tests. "adds X" there means here: the credential under that key applies.
import assert from "node:assert/strict";
import fc from "fast-check";
import { matchCredentials, matchPullSecrets } from "../../../../lib/oci/credentials/match.ts";
import type { Credential } from "../../../../lib/oci/credential.ts";

function credential(scope: string, source = "secret a/b"): Credential {
  return { scope, source, secret: { kind: "basic", username: "user", password: "word" } };
}

function matching(keys: readonly string[], image: string): readonly string[] {
  const slash = image.indexOf("/");
  const [repository = ""] = image.slice(slash + 1).split(":");
  return matchCredentials(keys.map((key) => credential(key)), { host: image.slice(0, slash), repository })
    .map(({ scope }) => scope);
}

interface Row {
  readonly id: string;
  readonly says: string;
  readonly keys: readonly string[];
  readonly image: string;
  readonly apply: readonly string[];
}

const PORT_KEYS = ["docker.io", "*.kubernetes.io:443", "abc.kubernetes.io:443/other-repo"];
const REPO = "abc.kubernetes.io/my-repo/my-image:bar";
const DEEP_PORT = "abc.def.kubernetes.io:443/my-repo/my-image:bar";

const ROWS: readonly Row[] = [
  {
    id: "AU-01",
    says: "wants a label for each star",
    keys: ["*.kubernetes.io"],
    image: "kubernetes.io/foo:bar",
    apply: [],
  },
  {
    id: "AU-02",
    says: "lets a star stand for one label",
    keys: ["*.kubernetes.io"],
    image: "abc.kubernetes.io/foo:bar",
    apply: ["*.kubernetes.io"],
  },
  {
    id: "AU-03",
    says: "never lets a star stand for no label",
    keys: ["*.*.kubernetes.io"],
    image: "abc.kubernetes.io/foo:bar",
    apply: [],
  },
  {
    id: "AU-04",
    says: "takes one star a label",
    keys: ["*.*.kubernetes.io"],
    image: "abc.def.kubernetes.io/baz/foo:bar",
    apply: ["*.*.kubernetes.io"],
  },
  {
    id: "AU-05",
    says: "takes a star in the middle",
    keys: ["prefix.*.io"],
    image: "prefix.kubernetes.io/foo:bar",
    apply: ["prefix.*.io"],
  },
  {
    id: "AU-06",
    says: "takes a star within a label",
    keys: ["*-good.kubernetes.io"],
    image: "prefix-good.kubernetes.io/baz/foo:bar",
    apply: ["*-good.kubernetes.io"],
  },
  {
    id: "AU-07",
    says: "takes a literal host as it is",
    keys: ["kubernetes.io"],
    image: "kubernetes.io/foo:bar",
    apply: ["kubernetes.io"],
  },
  {
    id: "AU-08",
    says: "takes docker.io as it is",
    keys: ["docker.io"],
    image: "docker.io/foo:bar",
    apply: ["docker.io"],
  },
  {
    id: "AU-09",
    says: "passes over globs for other hosts",
    keys: ["docker.io", "*.kubernetes.io"],
    image: "docker.io/foo:bar",
    apply: ["docker.io"],
  },
  {
    id: "AU-10",
    says: "puts the literal before the glob of the same path",
    keys: ["docker.io", "*.kubernetes.io/my-repo", "abc.kubernetes.io/my-repo"],
    image: REPO,
    apply: ["abc.kubernetes.io/my-repo", "*.kubernetes.io/my-repo"],
  },
  {
    id: "AU-11",
    says: "puts the longer path first and keeps the glob",
    keys: ["docker.io", "*.kubernetes.io", "abc.kubernetes.io/my-repo"],
    image: REPO,
    apply: ["abc.kubernetes.io/my-repo", "*.kubernetes.io"],
  },
  {
    id: "AU-12",
    says: "uses the glob when the literal is for another repository",
    keys: ["docker.io", "*.kubernetes.io", "abc.kubernetes.io/other-repo"],
    image: REPO,
    apply: ["*.kubernetes.io"],
  },
  {
    id: "AU-13",
    says: "keeps the path of a glob",
    keys: ["docker.io", "*.kubernetes.io/my-repo", "abc.kubernetes.io/other-repo"],
    image: REPO,
    apply: ["*.kubernetes.io/my-repo"],
  },
  {
    id: "AU-14",
    says: "keeps the port of a glob",
    keys: PORT_KEYS,
    image: "abc.kubernetes.io:443/my-repo/my-image:bar",
    apply: ["*.kubernetes.io:443"],
  },
  {
    id: "AU-15",
    says: "takes the glob with as many labels",
    keys: [...PORT_KEYS, "*.*.kubernetes.io:443"],
    image: DEEP_PORT,
    apply: ["*.*.kubernetes.io:443"],
  },
  { id: "AU-16", says: "takes no glob with fewer labels", keys: PORT_KEYS, image: DEEP_PORT, apply: [] },
  {
    id: "DV-115",
    says: "knows docker's own key of Docker Hub",
    keys: ["https://index.docker.io/v1/"],
    image: "registry-1.docker.io/library/nginx:latest",
    apply: ["https://index.docker.io/v1/"],
  },
  {
    id: "DV-116",
    says: "tries the key with the longer path first",
    keys: ["quay.io", "quay.io/org"],
    image: "quay.io/org/x",
    apply: ["quay.io/org", "quay.io"],
  },
  {
    id: "DV-125",
    says: "compares paths by segment",
    keys: ["*.io/foo", "quay.io/foob"],
    image: "quay.io/foobar/x",
    apply: [],
  },
  {
    id: "DV-126",
    says: "wants equal ports",
    keys: ["*.example.com:5000", "a.example.com"],
    image: "a.example.com:5001/x/y",
    apply: [],
  },
];

for (const { id, says, keys, image, apply } of ROWS) {
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
  const found = matchCredentials([credential("[::1]:5000"), credential("[::2]:5000")], {
    host: "[::1]:5000",
    repository: "a",
  });
  assert.deepEqual(found.map(({ scope }) => scope), ["[::1]:5000"]);
});

Deno.test("DV-59 matchPullSecrets() tries the secret listed last first, and then the others", () => {
  const listed = [credential("quay.io", "secret a/one"), credential("quay.io", "secret a/two")];
  assert.deepEqual(
    matchPullSecrets(listed, { host: "quay.io", repository: "x" }).map(({ source }) => source),
    ["secret a/two", "secret a/one"],
  );
});

Deno.test("matchCredentials() leaves equal keys as they are listed, however often it is applied", () => {
  const key = fc.constantFrom("quay.io", "quay.io/org", "*.io", "qua?.io/org", "other.io");
  const list = fc.array(key).map((keys) => keys.map((scope, at) => credential(scope, `source ${at}`)));
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
    const found = matchCredentials(keys.map((key) => credential(key)), { host: target, repository: "org/x" });
    for (const { scope } of found.filter(({ scope }) => /^[a-z.:0-9]+$/.test(scope))) {
      assert.equal(scope, target);
    }
  }));
});

Deno.test("matchCredentials() answers at once for patterns that would make a regular expression backtrack", () => {
  const pattern = `${"*a".repeat(500)}b.io`;
  assert.deepEqual(matching([pattern], `${"a".repeat(1_000)}.io/x`), []);
});
