import assert from "node:assert/strict";
import { makeEntry, makeImage, makeIndex, MediaType } from "../../support/documents.ts";
import { openTestInspector, outcomeOf } from "../../support/inspectors.ts";
import { openFakeRegistry } from "../../support/registry.ts";
import { countingRounds } from "../../support/until.ts";

Deno.test("inspect() takes a top manifest of more than 1 MiB", async () => {
  await using registry = await openFakeRegistry();
  const entry = makeEntry(makeImage().manifest, { platform: { os: "linux", architecture: "arm64" } });
  registry.put("org/app", makeIndex([entry], { body: { padding: "x".repeat(1024 * 1024) } }), "v1");
  using inspector = openTestInspector();
  assert.equal(outcomeOf(await inspector.inspect(`${registry.host}/org/app:v1`)), "platforms");
});

Deno.test("inspect() parses dense indexes that end together in as many rounds of the event loop", async () => {
  const names = Array.from({ length: 12 }, (_, at) => `app${at}`);
  const dense = Object.fromEntries(Array.from({ length: 39_000 }, (_, at) => [`k${at}`, 0]));
  const { manifest } = makeImage();
  const entry = makeEntry(manifest, { platform: { os: "linux", architecture: "arm64" } });
  const texts = new Map(names.map((name) => [name, makeIndex([entry], { body: { name, dense } }).text]));
  await using registry = await openFakeRegistry();
  const all = Promise.withResolvers<void>();
  let waiting = 0;
  // Held back until all are asked for.
  registry.intercept = async ({ path }) => {
    const name = names.find((one) => path.includes(`/${one}/manifests/`)) ?? "";
    if (++waiting === names.length) all.resolve();
    await all.promise;
    return new Response(texts.get(name), { headers: { "content-type": MediaType.ociIndex } });
  };
  using inspector = openTestInspector();
  await countingRounds(async (rounds) => {
    const ends = await Promise.all(names.map(async (name) => {
      const outcome = outcomeOf(await inspector.inspect(`${registry.host}/org/${name}:v1`));
      return { outcome, round: rounds() };
    }));
    assert.deepEqual(ends.map(({ outcome }) => outcome), names.map(() => "platforms"));
    assert.equal(new Set(ends.map(({ round }) => round)).size, names.length);
  });
});
