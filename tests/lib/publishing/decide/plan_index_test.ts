import assert from "node:assert/strict";
import fc from "fast-check";
import type { ChildImage, ImagePlatform } from "../../../../lib/publishing/decide/child.ts";
import { type IndexDocument, planIndex } from "../../../../lib/publishing/decide/plan_index.ts";
import { parseManifest } from "../../../../lib/oci/image/manifest.ts";
import { isPlatformEntry, renderPlatform } from "../../../../lib/oci/image/platforms.ts";
import { digestOf, MediaType } from "../../../support/documents.ts";

function child(platform: Partial<ImagePlatform>, more: Partial<ChildImage> = {}): ChildImage {
  const whole = { os: "linux", architecture: "amd64", ...platform };
  const image = `registry.test/app:${renderPlatform(whole)}`;
  const digest = digestOf(image);
  return { image, digest, mediaType: MediaType.ociManifest, size: 7, form: "oci", platform: whole, ...more };
}

const DOCKER = { form: "docker", mediaType: MediaType.dockerManifest } as const;

function formsOf(children: readonly ChildImage[]): readonly IndexDocument[] {
  const plan = planIndex(children);
  return plan.kind === "plan" ? plan.forms : assert.fail(JSON.stringify(plan.problems));
}

const AMD64 = child({ architecture: "amd64" });
const ARM64 = child({ architecture: "arm64", variant: "v8" });
const PPC64LE = child({ architecture: "ppc64le" });
const S390X = child({ architecture: "s390x" });

Deno.test("planIndex() makes the same bytes as the specification's example: sorted, without white space (P-130)", () => {
  const [index] = formsOf([ARM64, AMD64]);
  const entry = ({ digest }: ChildImage, platform: string): string =>
    `{"mediaType":"${MediaType.ociManifest}","digest":"${digest}","size":7,"platform":${platform}}`;
  const entries = [
    entry(AMD64, '{"architecture":"amd64","os":"linux"}'),
    entry(ARM64, '{"architecture":"arm64","os":"linux","variant":"v8"}'),
  ];
  const text = `{"schemaVersion":2,"mediaType":"${MediaType.ociIndex}","manifests":[${entries.join(",")}]}`;
  assert.deepEqual(index, { form: "oci", mediaType: MediaType.ociIndex, text, digest: digestOf(text) });
});

Deno.test("planIndex() says of two, three and four images what the project reads back (P-130)", () => {
  for (const count of [2, 3, 4]) {
    const children = [S390X, ARM64, PPC64LE, AMD64].slice(0, count);
    const [index] = formsOf(children);
    const read = parseManifest(index?.text ?? "", index?.mediaType ?? "");
    assert.ok(read.kind === "index");
    const said = read.entries.filter(isPlatformEntry).map(({ platform, digest }) => [renderPlatform(platform), digest]);
    const meant = children.map(({ platform, digest }) => [renderPlatform(platform), digest]);
    assert.deepEqual(said, meant.toSorted(([left = ""], [right = ""]) => left < right ? -1 : 1));
  }
});

const platforms = fc.uniqueArray(
  fc.record({
    os: fc.constantFrom("linux", "windows"),
    architecture: fc.constantFrom("amd64", "arm64", "ppc64le", "s390x", "arm"),
    variant: fc.option(fc.constantFrom("v5", "v6", "v9"), { nil: undefined }),
    osVersion: fc.option(fc.constantFrom("10.0.1", "10.0.2"), { nil: undefined }),
  }),
  { minLength: 1, maxLength: 12, selector: (platform) => JSON.stringify(platform) },
).map((all) =>
  all.map(({ os, architecture, variant, osVersion }) =>
    child({
      os,
      architecture,
      ...(variant === undefined ? {} : { variant }),
      ...(osVersion === undefined ? {} : { osVersion }),
    })
  )
);

Deno.test("planIndex() gives the same bytes for the same images in any order (P-133)", () => {
  const shuffled = platforms.chain((all) =>
    fc.tuple(fc.constant(all), fc.shuffledSubarray([...all], { minLength: all.length, maxLength: all.length }))
  );
  fc.assert(fc.property(shuffled, ([all, other]) => {
    assert.deepEqual(formsOf(other), formsOf(all));
  }));
});

Deno.test("planIndex() lists every image once, and never a platform twice", () => {
  fc.assert(fc.property(platforms, (all) => {
    const [index] = formsOf(all);
    const read = parseManifest(index?.text ?? "", index?.mediaType ?? "");
    const digests = read.kind === "index" ? read.entries.map(({ digest }) => digest) : [];
    assert.deepEqual(digests.toSorted(), all.map(({ digest }) => digest).toSorted());
  }));
});

Deno.test("planIndex() makes a Docker list of Docker's images, and an OCI index where that is refused (P-131)", () => {
  const forms = formsOf([child({ architecture: "arm64" }, DOCKER), child({}, DOCKER)]);
  assert.deepEqual(forms.map(({ mediaType }) => mediaType), [MediaType.dockerList, MediaType.ociIndex]);
  assert.notEqual(forms[0]?.digest, forms[1]?.digest);
});

Deno.test("planIndex() makes an OCI index of images of both forms, and nothing else (P-132)", () => {
  const forms = formsOf([child({ architecture: "arm64" }, DOCKER), AMD64]);
  assert.deepEqual(forms.map(({ mediaType }) => mediaType), [MediaType.ociIndex]);
  assert.deepEqual(formsOf([AMD64, ARM64]).map(({ form }) => form), ["oci"]);
});

Deno.test("planIndex() refuses two images for one platform, also where one leaves the usual variant out (P-138)", () => {
  const pairs: readonly (readonly [Partial<ImagePlatform>, Partial<ImagePlatform>])[] = [
    [{ architecture: "s390x" }, { architecture: "s390x" }],
    [{ architecture: "arm64" }, { architecture: "arm64", variant: "v8" }],
    [{ architecture: "arm", variant: "v7" }, { architecture: "arm" }],
    [{ architecture: "amd64", variant: "v1" }, { architecture: "amd64" }],
  ];
  for (const [left, right] of pairs) {
    const plan = planIndex([child(left, { image: "a:1" }), PPC64LE, child(right, { image: "a:2" })]);
    assert.ok(plan.kind === "refused");
    assert.deepEqual(plan.problems.map(({ image, reason }) => [image, reason]), [["a:2", "DuplicatePlatform"]]);
    assert.match(plan.problems[0]?.state ?? "", /so is "a:1"\. Leave one of them out/);
  }
});

Deno.test("planIndex() names what an index says of Windows in the order of the specification", () => {
  const [index] = formsOf([child({ os: "windows", osVersion: "10.0.1", osFeatures: ["win32k"], variant: "v2" })]);
  const platform =
    '{"architecture":"amd64","os":"windows","os.version":"10.0.1","os.features":["win32k"],"variant":"v2"}';
  assert.ok(index?.text.includes(platform));
});
