// What a registry that lacks a part of an image may say of it, over real connections: a document has the same digest at every
// registry, and anybody may serve it.
import assert from "node:assert/strict";
import { type Document, makeEntry, makeImage, makeIndex } from "../../../support/documents.ts";
import { foundIn, openTestInspector, outcomeOf, seenIn } from "../../../support/inspectors.ts";
import { type FakeRegistry, openFakeRegistry } from "../../../support/registry.ts";

const BUNDLE = "operators.operatorframework.io.bundle.package.v1";
const AMD64 = makeImage({ architecture: "amd64" });
const ARM64 = makeImage({ architecture: "arm64" });
const INDEX = makeIndex([AMD64, ARM64].map(({ manifest }) => makeEntry(manifest)));

function put(registry: FakeRegistry, index: Document, images: readonly ReturnType<typeof makeImage>[]): void {
  registry.put("app", index, "v1");
  for (const { manifest, config } of images) {
    registry.put("app", manifest);
    registry.putBlob("app", config);
  }
}

const PARTS: readonly (readonly [string, (path: string) => boolean])[] = [
  ["a child", (path) => path.includes(AMD64.manifest.digest)],
  ["the config of a child", (path) => path.includes(AMD64.config.digest)],
];

for (const [part, isMissing] of PARTS) {
  Deno.test(`what one registry lacks is not remembered of the digest: ${part}`, async () => {
    await using evil = await openFakeRegistry();
    await using good = await openFakeRegistry();
    using inspector = openTestInspector();
    for (const registry of [evil, good]) put(registry, INDEX, [AMD64, ARM64]);
    evil.intercept = ({ path }) => isMissing(path) ? new Response("", { status: 404 }) : undefined;
    const partial = await inspector.inspect(`${evil.host}/app:v1`);
    assert.deepEqual(seenIn(partial), ["arm64"]);
    assert.deepEqual(foundIn(partial).findings.map(({ kind }) => kind), ["TruncatedIndex"]);
    assert.equal(inspector.cacheSize(), 0);
    for (const image of [`${good.host}/app:v1`, `${good.host}/app@${INDEX.digest}`]) {
      assert.deepEqual(seenIn(await inspector.inspect(image)), ["amd64", "arm64"], image);
    }
    assert.deepEqual(seenIn(await inspector.inspect(`${evil.host}/app:v1`)), ["arm64"]);
  });
}

Deno.test("what one registry lacks is not remembered of the digest: the labels of a bundle", async () => {
  await using evil = await openFakeRegistry();
  await using good = await openFakeRegistry();
  using inspector = openTestInspector();
  const bundle = makeImage({ architecture: "amd64", labels: { [BUNDLE]: "etcd" } });
  const index = makeIndex([makeEntry(bundle.manifest, { platform: { os: "linux", architecture: "amd64" } })]);
  for (const registry of [evil, good]) put(registry, index, [bundle]);
  evil.intercept = ({ path }) => path.includes(bundle.manifest.digest) ? new Response("", { status: 404 }) : undefined;
  assert.equal((await inspector.inspect(`${evil.host}/app:v1`, { depth: "config" })).inspection.kind, "failed");
  const whole = await inspector.inspect(`${good.host}/app@${index.digest}`, { depth: "config" });
  assert.equal(whole.inspection.kind, "anywhere");
});

Deno.test("an index with more entries than are read anywhere is remembered", async () => {
  await using registry = await openFakeRegistry();
  using inspector = openTestInspector();
  put(registry, makeIndex(Array.from({ length: 9 }, () => makeEntry(AMD64.manifest))), [AMD64]);
  await inspector.inspect(`${registry.host}/app:v1`);
  assert.equal(inspector.cacheSize(), 1);
});

Deno.test("no child that cannot be read for another reason narrows an image", async () => {
  const answers: readonly (readonly [string, () => Response])[] = [
    ["Unauthorized", () => new Response("", { status: 403 })],
    ["ServerError", () => new Response("", { status: 500 })],
    ["RateLimited", () => new Response("", { status: 429, headers: { "retry-after": "60" } })],
    ["TooLarge", () => new Response("x".repeat(1024 * 1024 + 1))],
    ["DigestMismatch", () => new Response("{}")],
    ["Malformed", () => new Response("", { status: 400 })],
  ];
  for (const part of [AMD64.manifest, AMD64.config]) {
    for (const [reason, answer] of answers) {
      await using evil = await openFakeRegistry();
      using inspector = openTestInspector();
      put(evil, INDEX, [AMD64, ARM64]);
      evil.intercept = ({ path }) => path.includes(part.digest) ? answer() : undefined;
      assert.equal(outcomeOf(await inspector.inspect(`${evil.host}/app:v1`)), reason);
      assert.equal(inspector.cacheSize(), 0, reason);
    }
  }
});
