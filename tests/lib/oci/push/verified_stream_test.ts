import assert from "node:assert/strict";
import fc from "fast-check";
import { RegistryError } from "../../../../lib/oci/errors.ts";
import { blobsOf } from "../../../../lib/oci/push/manifest_blobs.ts";
import { type BlobDescriptor, type VerifiedStream, verifyStream } from "../../../../lib/oci/push/verified_stream.ts";
import { digestOf } from "../../../support/documents.ts";

function streamOf(...parts: readonly string[]): ReadableStream<Uint8Array> {
  return ReadableStream.from(parts.map((part) => new TextEncoder().encode(part)));
}

function verify(
  blob: BlobDescriptor,
  source: ReadableStream<Uint8Array>,
  onBytes: (bytes: number) => void = () => {},
): VerifiedStream {
  return verifyStream(source, { blob, registry: "registry.test", onBytes });
}

function describe(text: string, algorithm?: string): BlobDescriptor {
  return { digest: digestOf(text, algorithm), size: new TextEncoder().encode(text).byteLength };
}

for (const algorithm of ["sha256", "sha384", "sha512"]) {
  Deno.test(`verifyStream() lets through what has its ${algorithm} digest, in any pieces`, async () => {
    await fc.assert(fc.asyncProperty(fc.array(fc.string(), { maxLength: 8 }), async (parts) => {
      let moved = 0;
      const whole = parts.join("");
      const blob = describe(whole, algorithm);
      const verified = verify(blob, streamOf(...parts), (bytes) => moved += bytes);
      assert.equal(await new Response(verified.stream).text(), whole);
      assert.deepEqual([moved, verified.fault()], [blob.size, undefined]);
    }));
  });
}

const WRONG: readonly (readonly [name: string, blob: BlobDescriptor, says: RegExp])[] = [
  ["another content", { ...describe("0123456789"), digest: digestOf("other") }, /its content has the digest sha256:/],
  ["fewer bytes", { ...describe("0123456789"), size: 11 }, /it ended after 10 of 11 bytes/],
  ["more bytes", { ...describe("0123456789"), size: 9 }, /it has more than its 9 bytes/],
];

for (const [name, blob, says] of WRONG) {
  Deno.test(`verifyStream() breaks off ${name}, and says from where (P-115)`, async () => {
    const verified = verify(blob, streamOf("01234", "56789"));
    await assert.rejects(new Response(verified.stream).text(), RegistryError);
    const fault = verified.fault();
    assert.equal(fault?.failure.reason, "DigestMismatch");
    assert.match(fault?.message ?? "", says);
    assert.match(fault?.message ?? "", /from "registry\.test"/);
  });
}

Deno.test("verifyStream() reads no further than the size that was promised", async () => {
  let pulled = 0;
  const endless = ReadableStream.from((function* (): Generator<Uint8Array<ArrayBuffer>> {
    for (;;) {
      pulled++;
      yield new Uint8Array(10);
    }
  })());
  await assert.rejects(new Response(verify({ ...describe("x"), size: 35 }, endless).stream).text());
  assert.equal(pulled, 4);
});

Deno.test("verifyStream() refuses a digest that it cannot compute", () => {
  assert.throws(() => verify({ digest: `md5:${"0".repeat(32)}`, size: 1 }, streamOf("x")), /not sha256/);
});

const CONFIG = { mediaType: "application/vnd.oci.image.config.v1+json", ...describe("config") };
const LAYER = { mediaType: "application/vnd.oci.image.layer.v1.tar+gzip", ...describe("layer") };

Deno.test("blobsOf() names config and layers once each", () => {
  const blobs = blobsOf(JSON.stringify({ config: CONFIG, layers: [LAYER, LAYER] }));
  assert.deepEqual(blobs, { kind: "blobs", blobs: [describe("config"), describe("layer")], foreign: [] });
});

Deno.test("blobsOf() keeps layers apart that must not be pushed (P-143)", () => {
  for (
    const mediaType of [
      "application/vnd.docker.image.rootfs.foreign.diff.tar.gzip",
      "application/vnd.oci.image.layer.nondistributable.v1.tar+gzip",
    ]
  ) {
    const foreign = { ...LAYER, mediaType, urls: ["https://elsewhere.test/layer"] };
    const blobs = blobsOf(JSON.stringify({ config: CONFIG, layers: [foreign] }));
    assert.deepEqual(blobs, { kind: "blobs", blobs: [describe("config")], foreign: [describe("layer")] });
  }
});

Deno.test("blobsOf() refuses what it could not copy whole, and never throws", () => {
  const broken = [{ layers: [] }, { config: CONFIG, layers: [7] }, { config: { ...CONFIG, size: -1 } }, {
    config: { ...CONFIG, digest: "../x" },
  }, { config: CONFIG, layers: Array(1_001).fill(LAYER) }];
  for (const document of broken) assert.equal(blobsOf(JSON.stringify(document)).kind, "unparsable");
  fc.assert(fc.property(fc.json(), (text) => assert.ok(["blobs", "unparsable"].includes(blobsOf(text).kind))));
});
