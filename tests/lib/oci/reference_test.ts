import assert from "node:assert/strict";
import { unparsable } from "../../../lib/parsed.ts";
import fc from "fast-check";
import { cutReference, normaliseImageReference, parseReference, renderReference } from "../../../lib/oci/reference.ts";
import { referenceOf as parse } from "../../support/inspectors.ts";

const HEX = "a".repeat(64);

const SAME = "same";
const ROWS: readonly (readonly [id: string, input: string, output: string])[] = [
  ["RF-01", "nginx", SAME],
  ["RF-02", "nginx:latest", SAME],
  ["RF-03", "library/nginx", SAME],
  ["RF-04", "library/nginx:v1.0.0", SAME],
  ["RF-05", "registry.io/nginx", SAME],
  ["RF-06", "registry.io/nginx:latest", SAME],
  ["RF-07", "registry.io/library/nginx:latest", SAME],
  ["RF-08", "registry.io:5000/nginx", SAME],
  ["RF-09", "registry.io:5000/nginx:latest", SAME],
  ["RF-10", "registry.io:5000/library/nginx:v1.0.0", SAME],
  ["RF-11", "registry.io/org/team/nginx:latest", SAME],
  ["RF-12", "registry.io:5000/org/team/nginx:latest", SAME],
  ["RF-13", "nginx@sha256:abc123", SAME],
  ["RF-14", "library/nginx@sha256:abc123", SAME],
  ["RF-15", "registry.io/nginx@sha256:abc123", SAME],
  ["RF-16", "registry.io/library/nginx@sha256:abc123", SAME],
  ["RF-17", "registry.io:5000/nginx@sha256:abc123", SAME],
  ["RF-18", "registry.io:5000/library/nginx@sha256:abc123", SAME],
  ["RF-19", "nginx:latest@sha256:abc123", "nginx@sha256:abc123"],
  ["RF-20", "library/nginx:latest@sha256:abc123", "library/nginx@sha256:abc123"],
  ["RF-21", "registry.io/nginx:latest@sha256:abc123", "registry.io/nginx@sha256:abc123"],
  ["RF-22", "registry.io/library/nginx:v1.0.0@sha256:abc123", "registry.io/library/nginx@sha256:abc123"],
  ["RF-23", "registry.io:5000/nginx:latest@sha256:abc123", "registry.io:5000/nginx@sha256:abc123"],
  ["RF-24", "registry.io:5000/library/nginx:v1.0.0@sha256:abc123", "registry.io:5000/library/nginx@sha256:abc123"],
  ["RF-25", "registry.io:5000/org/team/nginx:v1.0.0@sha256:abc123", "registry.io:5000/org/team/nginx@sha256:abc123"],
  ["RF-26", "nginx@sha512:def456", SAME],
  ["RF-27", "nginx:latest@sha512:def456", "nginx@sha512:def456"],
  ["RF-28", "registry.io:5000/nginx:latest@sha384:xyz789", "registry.io:5000/nginx@sha384:xyz789"],
  ["RF-29", `docker.io/library/nginx:1.25.3@sha256:${HEX}`, `docker.io/library/nginx@sha256:${HEX}`],
  ["RF-30", "quay.io:443/openshift-release-dev/ocp-v4.0-art-dev@sha256:abc123", SAME],
  ["RF-31", "gcr.io/google-containers/pause:3.2@sha256:abc123", "gcr.io/google-containers/pause@sha256:abc123"],
  ["RF-35", "my-image:v1.0.0", SAME],
  ["RF-36", "my_image:v1.0.0", SAME],
  ["RF-37", "nginx:1.25.3-alpine3.18@sha256:abc123", "nginx@sha256:abc123"],
  ["RF-38", "localhost:5000/myimage:latest", SAME],
  ["RF-39", "localhost:5000/myimage:latest@sha256:abc123", "localhost:5000/myimage@sha256:abc123"],
  ["RF-40", "192.168.1.1:5000/myimage:latest", SAME],
  ["RF-41", "192.168.1.1:5000/myimage:latest@sha256:abc123", "192.168.1.1:5000/myimage@sha256:abc123"],
  ["RF-42", "registry.io:5000/nginx:latest@sha256:abc", "registry.io:5000/nginx@sha256:abc"],
  ["RF-43", "registry.io:443/repo/image:v1.0.0@sha256:abc", "registry.io:443/repo/image@sha256:abc"],
];

for (const [id, input, output] of ROWS) {
  const wanted = output === SAME ? input : output;
  Deno.test(`${id} normaliseImageReference() makes ${wanted.slice(0, 60)} of ${input.slice(0, 60)}`, () => {
    assert.deepEqual(normaliseImageReference(input), { text: wanted });
    assert.equal(parseReference(input).kind, "parsed");
  });
}

const REFUSED: readonly (readonly [id: string, input: string, problem: string])[] = [
  ["RF-32 ", "", "invalid image name, must not be empty"],
  ["RF-33 ", "nginx@sha256:abc123@sha256:def456", "invalid image name, must only have one digest"],
  ["RF-34 ", "registry.io/nginx@sha256:abc123@sha256:def456", "invalid image name, must only have one digest"],
  ["", "@sha256:abc123", "invalid image name, image must not be empty"],
];

for (const [id, input, problem] of REFUSED) {
  Deno.test(`${id}parseReference() refuses "${input}" in the reference's words`, () => {
    assert.deepEqual(normaliseImageReference(input), { problem });
    assert.deepEqual(parseReference(input), unparsable(problem));
  });
}

Deno.test("cutReference() takes neither a port for a tag nor a tag for a part of the name", () => {
  const cut = (image: string) => [cutReference(image).name, cutReference(image).tag, cutReference(image).digest];
  assert.deepEqual(cut("r.io:5000/a/b"), ["r.io:5000/a/b", undefined, undefined]);
  assert.deepEqual(cut("r.io:5000/a/b:v1@sha256:abc"), ["r.io:5000/a/b", "v1", "sha256:abc"]);
  assert.deepEqual(cut("b@one@two"), ["b", undefined, "one@two"]);
  assert.deepEqual(cut(""), ["", undefined, undefined]);
});

Deno.test("DV-112 parseReference() sends nginx to Docker Hub's library, tag latest", () => {
  const reference = parse("nginx");
  assert.deepEqual([reference.domain, reference.isShort], ["docker.io", true]);
  assert.equal(renderReference(reference), "registry-1.docker.io/library/nginx:latest");
});

Deno.test("parseReference() contacts registry-1.docker.io for every name of Docker Hub", () => {
  for (const image of ["docker.io/nginx", "index.docker.io/nginx", "registry-1.docker.io/library/nginx:latest"]) {
    assert.equal(renderReference(parse(image)), "registry-1.docker.io/library/nginx:latest");
  }
  assert.equal(renderReference(parse("grafana/loki:3")), "registry-1.docker.io/grafana/loki:3");
});

Deno.test("parseReference() asks for the digest and keeps the dropped tag for people", () => {
  const reference = parse(`quay.io:443/org/app:v1@sha256:${HEX}`);
  assert.deepEqual([reference.host, reference.identifier], ["quay.io", `sha256:${HEX}`]);
  assert.deepEqual([reference.tag, reference.digest], ["v1", `sha256:${HEX}`]);
  assert.equal(renderReference(reference), `quay.io/org/app@sha256:${HEX}`);
});

Deno.test("parseReference() reads IPv6 registries", () => {
  assert.equal(parse("[fd00::1]:5000/app:v1").host, "[fd00::1]:5000");
});

const HOSTILE = [
  ...["quay.io/UPPER/case", "a//b", "a/../b", "a/b:", "a/b:tag with space", "a/b@md5"],
  ...["https://quay.io/a/b", "user:password@quay.io/a/b", "quay.io/a?x=y", "quay.io/a#b", "quay.io/a%2f.."],
  ...["quay.io:99999999/a", "quay.io:99999/a", "999.1.1.1/a", "[1:2]:5000/a", "0x7f.1/a", "127.1:5000/a"],
  ...["xn--a.io/a", "-bad.io/a", `${"a".repeat(300)}/b`, "quay.io/\u0000", "quay.io\\@evil.io/a"],
  ...[`a:${"t".repeat(129)}@sha256:abc123`, "a:evil\ntag@sha256:abc123", `a@sha256:${"a".repeat(129)}`],
  "quay.io/a\nHost: evil",
];

for (const image of HOSTILE) {
  Deno.test(`parseReference() refuses ${JSON.stringify(image).slice(0, 50)}`, () => {
    assert.equal(parseReference(image).kind, "unparsable");
  });
}

Deno.test("parseReference() repeats neither user nor query of what is taken for a web address", () => {
  for (const image of ["https://me:hunter2@quay.io/a/b", "me:hunter2@quay.io/a/b", "quay.io/a?token=hunter2"]) {
    const parsed = parseReference(image);
    assert.ok(parsed.kind === "unparsable");
    assert.doesNotMatch(parsed.fault.message, /hunter2/);
    assert.match(parsed.fault.message, /quay\.io/);
  }
});

Deno.test("parseReference() never throws, and what it accepts is a safe URL path", () => {
  const words = fc.constantFrom(
    ...["a", "Z", "0", ".", "-", "_", "/", ":", "@", "[", "]", "%", "..", " ", "é"],
    ...["@sha256:", "docker.io", ":99999/", "1.2.3/", "[1:2]/", "0x1.0/"],
  );
  const text = fc.oneof(fc.string(), fc.array(words, { maxLength: 40 }).map((parts) => parts.join("")));
  fc.assert(
    fc.property(text, (image) => {
      const parsed = parseReference(image);
      if (parsed.kind === "unparsable") return assert.ok(parsed.fault.message.length < 600);
      const { host, repository, identifier } = parsed.value;
      const url = new URL(`https://${host}/v2/${repository}/manifests/${identifier}`);
      assert.equal(url.pathname, `/v2/${repository}/manifests/${identifier}`);
      assert.equal(url.username + url.password + url.search + url.hash, "");
    }),
    { numRuns: 2_000 },
  );
});

Deno.test("parseReference() is stable: the canonical spelling means itself", () => {
  const segment = fc.stringMatching(/^[a-z0-9]{1,6}$/);
  fc.assert(
    fc.property(segment, segment, fc.stringMatching(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,8}$/), (host, name, tag) => {
      const once = renderReference(parse(`${host}.io/${name}/app:${tag}`));
      assert.equal(renderReference(parse(once)), once);
    }),
  );
});

Deno.test("parseReference() gives one host for all spellings of it", () => {
  const spellings = ["quay.io", "QUAY.io", "quay.io:443", "Quay.io:0443", "quay.io:00443"];
  assert.deepEqual([...new Set(spellings.map((host) => parse(`${host}/org/app:v1`).host))], ["quay.io"]);
  assert.equal(parse("Reg.example:05000/app").host, "reg.example:5000");
  assert.equal(parse("[::0001]:5000/app").host, "[::1]:5000");
  assert.equal(parse("INDEX.docker.io:443/nginx").host, "registry-1.docker.io");
});

Deno.test("parseReference() looks at no reference of more than 1 000 characters, and does not repeat it", () => {
  const parsed = parseReference(`user:secret@${"a/".repeat(500)}b`);
  const message = "Cannot read an image reference of 1013 characters: none has more than 1 000.";
  assert.deepEqual(parsed, unparsable(message));
  const longest = `r.example/${"a".repeat(245)}:${"t".repeat(128)}@sha256:${"0".repeat(64)}`;
  assert.equal(parseReference(longest).kind, "parsed");
});
