import assert from "node:assert/strict";
import fc from "fast-check";
import { parseImageConfig, parseManifest } from "../../../../lib/oci/image/manifest.ts";
import { platformsOf } from "../../../../lib/oci/image/platforms.ts";
import { type Document, makeDocument, makeEntry, makeImage, makeIndex, MediaType } from "../../../support/documents.ts";

function parse({ text, mediaType }: Document): ReturnType<typeof parseManifest> {
  return parseManifest(text, mediaType);
}

const { manifest: child, config } = makeImage();
const PLATFORM = { os: "linux", architecture: "arm64", variant: "v8" };
const ENTRY = makeEntry(child, { platform: PLATFORM });

for (const [id, mediaType] of [["DV-80", MediaType.dockerList], ["DV-81", MediaType.ociIndex]] as const) {
  Deno.test(`${id} parseManifest() reads an index of type ${mediaType}`, () => {
    const parsed = parse(makeIndex([ENTRY], { mediaType }));
    assert.ok(parsed.kind === "index");
    assert.equal(parsed.mediaType, mediaType);
    assert.deepEqual(parsed.entries.map(({ platform }) => platform), [PLATFORM]);
  });
}

Deno.test("DV-82 parseManifest() recognises an index without mediaType by its shape, whatever the header says", () => {
  for (const header of ["application/json", "", "text/plain", MediaType.schema1Signed]) {
    const { text } = makeIndex([ENTRY], { body: {} });
    assert.equal(parseManifest(text, header).kind, "index", header);
  }
});

Deno.test("DV-83 parseManifest() reads Docker schema 2 and OCI manifests", () => {
  for (const form of ["oci", "docker"] as const) {
    const image = makeImage({ form });
    const parsed = parse(image.manifest);
    assert.ok(parsed.kind === "manifest");
    assert.deepEqual([parsed.config.digest, parsed.isImage], [image.config.digest, true]);
  }
});

Deno.test("DV-84 parseManifest() takes the architecture of schema 1 from its newest history entry", () => {
  const history = [
    { v1Compatibility: JSON.stringify({ architecture: "s390x", os: "linux", config: { Labels: { a: "b" } } }) },
    { v1Compatibility: JSON.stringify({ architecture: "amd64" }) },
  ];
  for (const mediaType of [MediaType.schema1, MediaType.schema1Signed]) {
    const parsed = parseManifest(JSON.stringify({ schemaVersion: 1, architecture: "amd64", history }), mediaType);
    assert.ok(parsed.kind === "schema1");
    assert.deepEqual([parsed.platform, parsed.labels], [{ os: "linux", architecture: "s390x" }, { a: "b" }]);
  }
});

Deno.test("DV-85 parseManifest() sees that an OCI artifact is no image", () => {
  for (const configType of ["application/vnd.oci.empty.v1+json", "application/vnd.cncf.helm.config.v1+json"]) {
    const parsed = parse(makeImage({ configType }).manifest);
    assert.ok(parsed.kind === "manifest");
    assert.equal(parsed.isImage, false);
  }
});

const MALFORMED: readonly (readonly [what: string, body: unknown, mediaType: string])[] = [
  ["an index with a config", { manifests: [], config: {} }, MediaType.ociIndex],
  ["an index with layers", { mediaType: MediaType.ociIndex, manifests: [], layers: [] }, MediaType.ociIndex],
  ["a manifest with manifests", { mediaType: MediaType.ociManifest, config: {}, manifests: [] }, MediaType.ociManifest],
  ["an index without manifests", { mediaType: MediaType.ociIndex }, MediaType.ociIndex],
  ["an index of text", { mediaType: MediaType.ociIndex, manifests: "all" }, MediaType.ociIndex],
  ["too many entries", { mediaType: MediaType.ociIndex, manifests: Array(1_001).fill({}) }, MediaType.ociIndex],
  ["a manifest without config", { mediaType: MediaType.ociManifest, layers: [] }, MediaType.ociManifest],
  ["a config without a real digest", { mediaType: MediaType.ociManifest, config: { digest: "sha256:../../x" } }, ""],
  ["an unknown type", { mediaType: "application/x" }, "application/x"],
  ["schema 1 without history", { schemaVersion: 1 }, MediaType.schema1],
  ["a list", [], MediaType.ociIndex],
  ["null", null, MediaType.ociIndex],
  ["a login page", "<html>please log in</html>", "text/html"],
  ["nothing", "", MediaType.ociIndex],
];

for (const [what, body, mediaType] of MALFORMED) {
  Deno.test(`parseManifest() refuses ${what}`, () => {
    assert.equal(parse(makeDocument(body, mediaType)).kind, "unparsable");
  });
}

Deno.test("parseManifest() leaves out entries without a usable digest", () => {
  const parsed = parse(makeIndex([{ mediaType: "x", digest: "nonsense" }, null, "x", ENTRY]));
  assert.ok(parsed.kind === "index");
  assert.equal(parsed.entries.length, 1);
});

Deno.test("parseManifest() takes no name of a platform that cannot be the value of a label", () => {
  for (const name of ["x".repeat(64), "a b", "-x", "x/y", "ä", "x\n"]) {
    const amd64 = { os: "linux", architecture: "amd64" };
    const members = ["architecture", "os", "variant", "os.version"];
    const parsed = parse(makeIndex(members.map((member) => ({ ...ENTRY, platform: { ...amd64, [member]: name } }))));
    assert.ok(parsed.kind === "index");
    assert.deepEqual(parsed.entries.map(({ platform }) => platform), [amd64, amd64], name);
  }
});

Deno.test("parseManifest() and platformsOf() give one platform for two versions of an operating system", () => {
  const windows = { os: "windows", architecture: "amd64" };
  const entries = ["10.0.1", "10.0.2"].map((version) => ({
    ...ENTRY,
    platform: { ...windows, "os.version": version },
  }));
  const parsed = parse(makeIndex(entries));
  assert.deepEqual(parsed.kind === "index" && platformsOf(parsed.entries), [windows]);
});

Deno.test("parseImageConfig() reads architecture, os, variant, labels, version and features of the OS", () => {
  const { config } = makeImage({ architecture: "arm", variant: "v7", labels: { a: "b" } });
  const text = JSON.stringify({
    ...JSON.parse(config.text),
    "os.version": "10.0.1",
    "os.features": ["win32k", 1, "abc"],
  });
  assert.deepEqual(parseImageConfig(text), {
    kind: "config",
    platform: { os: "linux", architecture: "arm", variant: "v7" },
    labels: { a: "b" },
    osVersion: "10.0.1",
    osFeatures: ["abc", "win32k"],
  });
});

Deno.test("DV-92 parseImageConfig() refuses a config without architecture, or with unknown", () => {
  for (const architecture of ["", "unknown"]) {
    assert.equal(parseImageConfig(makeImage({ architecture }).config.text).kind, "unparsable");
  }
  for (const text of ["", "[]", "{}", "{", '{"architecture":7}']) {
    assert.equal(parseImageConfig(text).kind, "unparsable");
  }
});

Deno.test("parseManifest() and parseImageConfig() survive any JSON and any damage to real documents", () => {
  const real = [makeIndex([ENTRY]).text, child.text, config.text];
  const damaged = fc.tuple(fc.constantFrom(...real), fc.nat(), fc.nat(20), fc.string()).map(([text, at, length, put]) =>
    text.slice(0, at % text.length) + put + text.slice((at % text.length) + length)
  );
  const odd = fc.constantFrom('{"__proto__":{"manifests":[]}}', '{"constructor":1}');
  const bodies = fc.oneof(fc.json(), damaged, fc.string(), odd);
  fc.assert(
    fc.property(bodies, fc.constantFrom("", ...Object.values(MediaType)), (body, header) => {
      parseManifest(body, header);
      parseImageConfig(body);
    }),
    { numRuns: 1_000 },
  );
});

Deno.test("parseManifest() is not misled by names of Object.prototype", () => {
  const body = '{"__proto__":{"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[]}}';
  assert.equal(parseManifest(body, "").kind, "unparsable");
});

Deno.test("parseManifest() and parseImageConfig() parse nothing that is dense, also not as the text in a schema 1 manifest", () => {
  const dense = `[${"{},".repeat(20_000)}{}]`;
  const { text } = makeIndex([ENTRY]);
  assert.equal(parseManifest(`${text.slice(0, -1)},"more":${dense}}`, "").kind, "unparsable");
  assert.equal(parseImageConfig(`{"os":"linux","architecture":"arm64","more":${dense}}`).kind, "unparsable");
  const v1Compatibility = `{"architecture":"arm64","more":${dense}}`;
  const schema1 = JSON.stringify({ schemaVersion: 1, history: [{ v1Compatibility }] });
  assert.equal(parseManifest(schema1, MediaType.schema1Signed).kind, "unparsable");
});
