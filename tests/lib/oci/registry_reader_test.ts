import assert from "node:assert/strict";
import { isPrivate } from "../../support/reports.ts";
import {
  digestOf,
  type Document,
  makeDocument,
  makeEntry,
  makeImage,
  makeIndex,
  makeMultiArch,
  MediaType,
} from "../../support/documents.ts";
import { FakeClock } from "../../support/fake_clock.ts";
import {
  failureIn,
  foundIn,
  makeEndpoint,
  makeRequest,
  openRegistryBed,
  openTestInspector,
  outcomeOf,
  planAt,
  seenIn,
} from "../../support/inspectors.ts";
import type { Endpoint } from "../../../lib/oci/endpoint.ts";
import { type FakeRegistry, openFakeRegistry } from "../../support/registry.ts";
import { until } from "../../support/until.ts";

const BUNDLE = "operators.operatorframework.io.bundle.package.v1";
const LINUX = { os: "linux", architecture: "amd64" };

function putMultiArch(registry: FakeRegistry, repository: string, made: ReturnType<typeof makeMultiArch>): string {
  for (const manifest of made.manifests) registry.put(repository, manifest);
  for (const blob of made.blobs) registry.putBlob(repository, blob);
  return registry.put(repository, made.index, "v1");
}

function putSingle(registry: FakeRegistry, made: ReturnType<typeof makeImage>): string {
  registry.putBlob("app", made.config);
  return registry.put("app", made.manifest, "v1");
}

for (const [id, mediaType] of [["DV-80", MediaType.dockerList], ["DV-81", MediaType.ociIndex]] as const) {
  Deno.test(`${id} inspect() reads a cold index of type ${mediaType} with one request`, async () => {
    await using bed = await openRegistryBed();
    const digest = putMultiArch(bed.registry, "org/app", makeMultiArch(["amd64", "arm64", "s390x"], { mediaType }));
    const report = await bed.inspect("org/app:v1");
    assert.deepEqual(seenIn(report), ["amd64", "arm64", "s390x"]);
    assert.deepEqual(bed.registry.asked(), ["GET manifests"]);
    assert.deepEqual(report.requests, { manifestGet: 1, manifestHead: 0, blobGet: 0, token: 0, other: 0 });
    const found = foundIn(report);
    assert.deepEqual([found.digest, found.depth], [digest, "index"]);
    assert.deepEqual([isPrivate(report), report.source], [false, "registry"]);
    assert.equal(report.resolved, `${bed.registry.host}/org/app:v1`);
  });
}

for (const form of ["docker", "oci"] as const) {
  Deno.test(`DV-83 inspect() reads a single ${form} image by manifest and config`, async () => {
    await using bed = await openRegistryBed();
    putSingle(bed.registry, makeImage({ architecture: "arm", variant: "v7", form }));
    const { platforms, findings } = foundIn(await bed.inspect("app:v1"));
    assert.deepEqual(platforms, [{ os: "linux", architecture: "arm", variant: "v7" }]);
    assert.deepEqual([bed.registry.asked(), findings], [["GET manifests", "GET blobs"], []]);
  });
}

Deno.test("DV-84 inspect() reads schema 1 and warns of it", async () => {
  await using bed = await openRegistryBed();
  const history = [{ v1Compatibility: JSON.stringify({ architecture: "arm64", os: "linux" }) }];
  bed.registry.put("app", makeDocument({ schemaVersion: 1, name: "app", history }, MediaType.schema1Signed), "v1");
  const report = await bed.inspect("app:v1");
  assert.deepEqual(seenIn(report), ["arm64"]);
  assert.deepEqual(foundIn(report).findings.map(({ kind }) => kind), ["Schema1"]);
});

Deno.test("DV-85 inspect() fails for an OCI artifact", async () => {
  await using bed = await openRegistryBed();
  putSingle(bed.registry, makeImage({ configType: "application/vnd.cncf.helm.config.v1+json" }));
  const { kind, reason, message } = failureIn(await bed.inspect("app:v1"));
  assert.deepEqual([kind, reason], ["permanent", "NotAnImage"]);
  assert.match(message, /helm\.config/);
});

Deno.test("DV-86 inspect() skips entries without platform", async () => {
  await using bed = await openRegistryBed();
  const { manifest } = makeImage();
  bed.registry.put("app", makeIndex([makeEntry(manifest), makeEntry(manifest, { platform: LINUX })]), "v1");
  assert.deepEqual(seenIn(await bed.inspect("app:v1")), ["amd64"]);
});

Deno.test("inspect() follows an index within the index one level deep", async () => {
  await using bed = await openRegistryBed();
  const inner = makeMultiArch(["ppc64le", "s390x"]);
  bed.registry.put("app", inner.index);
  const amd64 = makeEntry(makeImage().manifest, { platform: LINUX });
  bed.registry.put("app", makeIndex([amd64, makeEntry(inner.index)]), "v1");
  const report = await bed.inspect("app:v1");
  assert.deepEqual(seenIn(report), ["amd64", "ppc64le", "s390x"]);
  assert.equal(report.requests.manifestGet, 2);
});

const inner = makeMultiArch(["ppc64le"]).index;
const outer = makeIndex([makeEntry(inner)]);
const manyPlatforms = (count: number, name: string): Document =>
  makeIndex(
    Array.from({ length: count }, (_, at) =>
      makeEntry(makeImage().manifest, { platform: { os: "linux", architecture: `${name}${at}` } })),
  );
const halves = [0, 1, 2].map((half) => manyPlatforms(400, `a${half}-`));
const BEYOND_LIMITS: readonly (readonly [what: string, nested: readonly Document[], top: Document, says: RegExp])[] = [
  ["indexes in an index of an index", [inner, outer], makeIndex([makeEntry(outer)]), /nests indexes more than once/],
  ["five indexes in an index", [inner], makeIndex(Array(5).fill(makeEntry(inner))), /more than 4 indexes/],
  [
    "1 200 manifests in three indexes",
    halves,
    makeIndex(halves.map((half) => makeEntry(half))),
    /more than 1000 manifests/,
  ],
  ["65 platforms", [], manyPlatforms(65, "a"), /more than 64 platforms/],
];

for (const [what, nested, top, says] of BEYOND_LIMITS) {
  Deno.test(`inspect() fails for ${what} rather than to leave some out`, async () => {
    await using bed = await openRegistryBed();
    for (const document of nested) bed.registry.put("app", document);
    bed.registry.put("app", top, "v1");
    const { kind, reason, message } = failureIn(await bed.inspect("app:v1"));
    assert.deepEqual([kind, reason], ["permanent", "Malformed"]);
    assert.match(message, says);
  });
}

Deno.test("inspect() reads the platforms of entries without one from their configs, as container runtimes do", async () => {
  await using bed = await openRegistryBed();
  const images = ["arm64", "s390x"].map((architecture) => makeImage({ architecture }));
  const chart = makeImage({ configType: "application/vnd.cncf.helm.config.v1+json" });
  for (const image of [...images, chart]) putSingle(bed.registry, image);
  const unnamed = [...images, chart].map(({ manifest }) => makeEntry(manifest));
  bed.registry.put("app", makeIndex(unnamed), "v1");
  const report = await bed.inspect("app:v1");
  assert.deepEqual(seenIn(report), ["arm64", "s390x"]);
  assert.equal(foundIn(report).depth, "config");
  bed.registry.put("app", makeIndex([...unnamed, makeEntry(makeImage().manifest, { platform: LINUX })]), "v2");
  assert.deepEqual(seenIn(await bed.inspect("app:v2")), ["amd64", "arm64", "s390x"]);
  const annotations = { "vnd.docker.reference.type": "attestation-manifest" };
  const attestation = makeEntry(makeImage().manifest, { platform: LINUX, annotations });
  bed.registry.put("app", makeIndex([makeEntry(chart.manifest), attestation]), "v3");
  assert.equal(failureIn(await bed.inspect("app:v3")).reason, "NotAnImage");
});

Deno.test("inspect() reads few of many entries without a platform, and reports it", async () => {
  await using bed = await openRegistryBed();
  const image = makeImage({ architecture: "arm64" });
  putSingle(bed.registry, image);
  bed.registry.put("app", makeIndex(Array(50).fill(makeEntry(image.manifest))), "v1");
  const report = await bed.inspect("app:v1");
  assert.deepEqual([report.requests.manifestGet, report.requests.blobGet], [9, 8]);
  assert.match(foundIn(report).findings[0]?.message ?? "", /50 manifests without a platform; 8 of them were read/);
});

Deno.test("DV-89 inspect() at config depth sees the labels of the first valid child: a bundle runs anywhere", async () => {
  await using bed = await openRegistryBed();
  putMultiArch(bed.registry, "app", makeMultiArch(["amd64", "arm64"], { labels: { [BUNDLE]: "" } }));
  assert.equal(outcomeOf(await bed.inspect("app:v1")), "platforms");
  const deep = await bed.inspect("app:v1", { depth: "config" });
  assert.equal(outcomeOf(deep), "anywhere");
  assert.deepEqual(deep.requests, { manifestGet: 2, manifestHead: 0, blobGet: 1, token: 0, other: 0 });
});

Deno.test("DV-90 inspect() looks at the first valid child only", async () => {
  await using bed = await openRegistryBed();
  const [plain, bundle] = [makeImage(), makeImage({ architecture: "arm64", labels: { [BUNDLE]: "" } })];
  for (const image of [plain, bundle]) putSingle(bed.registry, image);
  const second = makeEntry(bundle.manifest, { platform: { os: "linux", architecture: "arm64" } });
  bed.registry.put("app", makeIndex([makeEntry(plain.manifest, { platform: LINUX }), second]), "v1");
  assert.equal(outcomeOf(await bed.inspect("app:v1", { depth: "config" })), "platforms");
});

Deno.test("DV-92 inspect() fails for a single image without architecture", async () => {
  await using bed = await openRegistryBed();
  putSingle(bed.registry, makeImage({ architecture: "" }));
  assert.equal(failureIn(await bed.inspect("app:v1")).reason, "NotAnImage");
});

function tamper(
  registry: FakeRegistry,
  { digest, mediaType }: Document,
  kind: "manifests" | "blobs",
  text: string,
): void {
  registry.intercept = ({ path }) =>
    path === `/v2/app/${kind}/${digest}` ? new Response(text, { headers: { "content-type": mediaType } }) : undefined;
}

Deno.test("DV-93 inspect() fails when a single manifest is not what its digest says", async () => {
  await using bed = await openRegistryBed();
  const image = makeImage();
  putSingle(bed.registry, image);
  tamper(bed.registry, image.manifest, "manifests", makeImage({ architecture: "s390x" }).manifest.text);
  assert.equal(outcomeOf(await bed.inspect(`app@${image.manifest.digest}`)), "DigestMismatch");
});

Deno.test("DV-94 inspect() fails when a digest-pinned index was tampered with", async () => {
  await using bed = await openRegistryBed();
  const made = makeMultiArch(["amd64"]);
  putMultiArch(bed.registry, "app", made);
  tamper(bed.registry, made.index, "manifests", makeMultiArch(["amd64", "arm64"]).index.text);
  assert.equal(outcomeOf(await bed.inspect(`app@${made.index.digest}`)), "DigestMismatch");
});

Deno.test("DV-95 inspect() fails when a child or a config is not what its digest says", async () => {
  await using bed = await openRegistryBed();
  const made = makeMultiArch(["amd64"]);
  putMultiArch(bed.registry, "app", made);
  const [child = assert.fail(), config = assert.fail()] = [made.manifests[0], made.blobs[0]];
  const image = `${bed.registry.host}/app:v1`;
  tamper(bed.registry, child, "manifests", makeImage({ architecture: "arm64" }).manifest.text);
  assert.equal(failureIn(await bed.inspector.inspect(image, { depth: "config" })).reason, "DigestMismatch");
  tamper(bed.registry, config, "blobs", "{}");
  assert.equal(failureIn(await bed.inspector.inspect(image, { depth: "config" })).reason, "DigestMismatch");
});

for (const algorithm of ["sha256", "sha384", "sha512"]) {
  Deno.test(`inspect() verifies ${algorithm}`, async () => {
    await using bed = await openRegistryBed();
    const { index } = makeMultiArch(["amd64"]);
    const digest = digestOf(index.text, algorithm);
    bed.registry.put("app", { ...index, digest });
    assert.deepEqual(seenIn(await bed.inspect(`app@${digest}`)), ["amd64"]);
  });
}

Deno.test("DV-96 P-119 inspect() stops reading a manifest beyond 4 MiB", async () => {
  await using bed = await openRegistryBed();
  bed.registry.intercept = () => new Response("x".repeat(4 * 1024 * 1024 + 1));
  const { kind, reason } = failureIn(await bed.inspect("app:v1"));
  assert.deepEqual([kind, reason], ["permanent", "TooLarge"]);
});

Deno.test("DV-107 inspect() tries HTTP after HTTPS for an insecure registry, and remembers it", async () => {
  const connection = { scheme: "https-then-http", verifiesTls: false } as const;
  const clock = new FakeClock();
  await using bed = await openRegistryBed({ inspector: { connection, clock } });
  // Ten minutes after the way was found HTTPS is tried again, however often the registry was asked.
  for (const [repository, gets] of [["first", 2], ["second", 1], ["third", 2]] as const) {
    putMultiArch(bed.registry, repository, makeMultiArch(["amd64"]));
    await clock.advance(400_000);
    const report = await bed.inspect(`${repository}:v1`);
    assert.deepEqual([seenIn(report), report.requests.manifestGet], [["amd64"], gets]);
  }
});

function mirrorAt(host: string, repository: string): Endpoint {
  return makeEndpoint(host, { repository, identifier: "v1", isMirror: true });
}

Deno.test("DV-100 inspect() takes the first endpoint that answers and names the mirror", async () => {
  await using mirror = await openFakeRegistry();
  using inspector = openTestInspector({
    plan: planAt(mirrorAt("127.0.0.1:1", "gone"), mirrorAt(mirror.host, "copy/app")),
  });
  putMultiArch(mirror, "copy/app", makeMultiArch(["arm64"]));
  const report = await inspector.inspect("quay.io/org/app:v1");
  assert.deepEqual([seenIn(report), report.mirror], [["arm64"], mirror.host]);
  assert.equal(report.resolved, `${mirror.host}/copy/app:v1`);
});

Deno.test("inspect() reports every endpoint that failed, and is transient when any of them is", async () => {
  await using registry = await openFakeRegistry();
  const own = makeEndpoint(registry.host, { repository: "app", identifier: "v1" });
  using inspector = openTestInspector({ plan: planAt(mirrorAt("127.0.0.1:1", "mirror"), own) });
  const failure = failureIn(await inspector.inspect("quay.io/org/app:v1"));
  assert.deepEqual([failure.kind, failure.reason], ["transient", "Unreachable"]);
  assert.match(failure.message, /127\.0\.0\.1:1.*Also:.*does not have it/);
});

Deno.test("inspect() takes an image for absent only where every endpoint says so", async () => {
  await using mirror = await openFakeRegistry();
  await using registry = await openFakeRegistry();
  const own = makeEndpoint(registry.host, { repository: "app", identifier: "v1" });
  using inspector = openTestInspector({ plan: planAt(mirrorAt(mirror.host, "copy"), own) });
  assert.equal(failureIn(await inspector.inspect("quay.io/org/app:v1")).reason, "ManifestUnknown");
  mirror.intercept = () => new Response("{}", { headers: { "content-type": "text/plain" } });
  const failure = failureIn(await inspector.inspect("quay.io/org/app:v2"));
  assert.equal(failure.reason, "Malformed");
  assert.match(failure.message, /media type.*Also:.*does not have it/);
});

Deno.test("inspect() finds that a digest pins one platform, and which tag would be right", async () => {
  await using bed = await openRegistryBed();
  const digest = putSingle(bed.registry, makeImage());
  const [finding] = foundIn(await bed.inspect(`app:v1@${digest}`)).findings;
  assert.equal(finding?.kind, "ChildDigestPin");
  assert.match(finding?.message ?? "", /app:v1/);
  const again = await bed.inspect(`app@${digest}`);
  assert.equal(again.source, "cache");
  assert.deepEqual(foundIn(again).findings.map(({ kind }) => kind), ["ChildDigestPin"]);
});

Deno.test("head() gives the digest, or that the registry does not state it", async () => {
  await using bed = await openRegistryBed();
  const digest = putMultiArch(bed.registry, "app", makeMultiArch(["amd64"]));
  const request = makeRequest(`${bed.registry.host}/app:v1`);
  const { signal } = new AbortController();
  const answer = await bed.inspector.registry.head(request, signal);
  assert.ok(answer.kind === "digest" && answer.digest === digest && request.requestLog.counts.manifestHead === 1);
  bed.registry.intercept = () => new Response(null);
  assert.equal((await bed.inspector.registry.head(request, signal)).kind, "unknown");
});

Deno.test("DV-113 inspect() waits as long as a 429 asks, then succeeds", async () => {
  const clock = new FakeClock();
  await using bed = await openRegistryBed({ inspector: { clock } });
  putMultiArch(bed.registry, "app", makeMultiArch(["amd64"]));
  let refusals = 1;
  bed.registry.intercept = () =>
    refusals-- > 0 ? new Response("", { status: 429, headers: { "retry-after": "1" } }) : undefined;
  const inspecting = bed.inspect("app:v1");
  await until("the inspection waits", () => clock.sleeping > 0);
  assert.equal(bed.registry.requests.length, 1);
  await clock.advance(1_000);
  const report = await inspecting;
  assert.deepEqual([seenIn(report), report.requests.manifestGet], [["amd64"], 2]);
});
