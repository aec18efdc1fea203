// How much of an image is in memory at a time.
import assert from "node:assert/strict";
import type { RegistryDocument } from "../../../../lib/oci/image/document.ts";
import { readImage } from "../../../../lib/oci/image/image_reader.ts";
import { type Document, makeEntry, makeImage, makeIndex } from "../../../support/documents.ts";
import { openTestInspector, PLAIN } from "../../../support/inspectors.ts";
import { openFakeRegistry } from "../../../support/registry.ts";

const ARCHITECTURES = ["amd64", "arm64", "s390x", "ppc64le", "riscv64", "arm", "386", "loong64"];

Deno.test("readImage() reads the children without a platform two at a time", async () => {
  const images = ARCHITECTURES.map((architecture) => makeImage({ architecture }));
  const index = makeIndex(images.map(({ manifest }) => makeEntry(manifest)));
  const documents = new Map(
    images.flatMap(({ manifest, config }) => [manifest, config]).map((one) => [one.digest, one]),
  );
  let reading = 0;
  let most = 0;
  const read = async ({ text, mediaType, digest }: Document): Promise<RegistryDocument> => {
    most = Math.max(most, ++reading);
    await Promise.resolve();
    reading -= 1;
    return { text, contentType: mediaType, digest, credential: undefined };
  };
  const find = (digest: string): Promise<RegistryDocument> => read(documents.get(digest) ?? assert.fail(digest));
  const { inspection } = await readImage({
    image: "registry.example/org/app",
    endpoint: {
      host: "registry.example",
      repository: "org/app",
      reference: "v1",
      mirror: false,
      pathPrefix: "",
      transport: PLAIN,
    },
    depth: "index",
    checkConfigs: false,
    session: { manifest: () => read(index), child: find, blob: find },
  });
  assert.ok(inspection.kind === "platforms");
  assert.deepEqual(inspection.platforms.map(({ architecture }) => architecture), ARCHITECTURES);
  assert.equal(most, 2);
});

Deno.test("inspect() takes 1 MiB of a child or a config, 4 MiB of the top manifest", async () => {
  const padding = { padding: "x".repeat(1024 * 1024) };
  const { manifest, config } = makeImage();
  for (const large of ["top", "child", "config"]) {
    await using registry = await openFakeRegistry();
    const index = makeIndex([makeEntry(manifest)], large === "top" ? { body: padding } : {});
    registry.put("org/app", index, "v1");
    registry.put("org/app", manifest);
    registry.putBlob("org/app", config);
    registry.intercept = ({ path }) => {
      const isChild = path.includes(manifest.digest);
      const isConfig = path.includes(config.digest);
      return large === "child" && isChild || large === "config" && isConfig
        ? new Response(JSON.stringify(padding))
        : undefined;
    };
    using inspector = openTestInspector();
    const { inspection } = await inspector.inspect(`${registry.host}/org/app:v1`);
    const outcome = inspection.kind === "failed" ? inspection.failure.reason : "read";
    assert.equal(outcome, large === "top" ? "read" : "TooLarge", large);
  }
});
