import assert from "node:assert/strict";
import type { PullIdentity } from "../../../../lib/vocabulary/pull_identity.ts";
import { type ImageBed, makeUse, openImageBed, TAG_TTL_MS, TEAM } from "../../../support/image_bed.ts";
import { openMemoryStore } from "../../../support/memory_store.ts";

const APP = "registry.example/app:v1";
const PINNED = `registry.example/app@sha256:${"a".repeat(64)}`;
const PULL: PullIdentity = { ...TEAM, pullSecrets: ["pull"] };

function isKnown(bed: ImageBed, image: string, scope = TEAM): boolean {
  return bed.known.recall([makeUse(image)], scope) !== undefined;
}

Deno.test("recall() answers only when every image is known", async () => {
  const bed = openImageBed();
  await bed.inspect(makeUse(APP));
  assert.equal(bed.known.recall([makeUse(APP)], TEAM)?.images.length, 1);
  assert.equal(bed.known.recall([makeUse(APP), makeUse("registry.example/b:v1")], TEAM), undefined);
});

Deno.test("recall() uses a tag for its TTL, a digest for good", async () => {
  const bed = openImageBed();
  for (const image of [APP, PINNED]) await bed.inspect(makeUse(image));
  await bed.clock.advance(TAG_TTL_MS);
  assert.deepEqual([isKnown(bed, APP), isKnown(bed, PINNED)], [true, true]);
  await bed.clock.advance(1);
  assert.deepEqual([isKnown(bed, APP), isKnown(bed, PINNED)], [false, true]);
});

Deno.test("recall() counts the age of a tag from when the request was sent to the registry, not from when a cache answered", async () => {
  const bed = openImageBed();
  bed.registry.private.add(APP);
  await bed.inspect(makeUse(APP), { identity: { ...PULL, namespace: "a" } });
  await bed.clock.advance(TAG_TTL_MS - 1_000);
  await bed.inspect(makeUse(APP), { identity: { ...PULL, namespace: "b" } });
  assert.equal(bed.registry.reads.length, 1);
  await bed.clock.advance(1_001);
  assert.equal(isKnown(bed, APP, { ...PULL, namespace: "b" }), false);
});

Deno.test("recall() counts it so through a restart and in another replica", async () => {
  const first = openImageBed();
  const kv = openMemoryStore();
  const before = openImageBed({ ...first, kv });
  await before.inspect(makeUse(APP));
  await before.clock.advance(TAG_TTL_MS - 5_000);
  const after = openImageBed({ ...first, kv });
  await after.inspect(makeUse(APP));
  assert.equal(first.registry.reads.length, 1);
  await after.clock.advance(5_001);
  assert.equal(isKnown(after, APP), false);
});

Deno.test("recall() never answers for policy Always by a look-up that began before the pod", async () => {
  const bed = openImageBed();
  await bed.inspect(makeUse(APP));
  assert.equal(bed.known.recall([makeUse(APP, true)], TEAM), undefined, "no time is given");
  const lookupSinceMs = bed.clock.monotonicMs();
  assert.equal(bed.known.recall([makeUse(APP, true)], TEAM, lookupSinceMs)?.images.length, 1);
  assert.equal(bed.known.recall([makeUse(APP, true)], TEAM, lookupSinceMs + 1), undefined);
  await bed.inspect(makeUse(PINNED));
  assert.equal(bed.known.recall([makeUse(PINNED, true)], TEAM)?.images.length, 1, "a digest means the same for ever");
});

Deno.test("recall() gives what was read with a pull secret only to the namespace, account and secrets that read it", async () => {
  const bed = openImageBed();
  bed.registry.private.add(APP);
  await bed.inspect(makeUse(APP), { identity: PULL });
  assert.equal(isKnown(bed, APP, PULL), true);
  for (const other of [{ namespace: "other" }, { pullSecrets: [] }, { serviceAccount: "builder" }]) {
    assert.equal(isKnown(bed, APP, { ...PULL, ...other }), false, JSON.stringify(other));
  }
});

Deno.test("recall() keeps a private tag private although its digest is known publicly", async () => {
  const bed = openImageBed();
  const secret = "registry.example/private/base:secret";
  bed.registry.private.add(secret);
  await bed.inspect(makeUse(APP));
  for (const namespace of ["a", "c"]) await bed.inspect(makeUse(secret), { identity: { ...PULL, namespace } });
  assert.equal(isKnown(bed, secret, { ...TEAM, namespace: "stranger" }), false);
  assert.equal(isKnown(bed, secret, { ...PULL, namespace: "c" }), true);
});

Deno.test("recall() keeps namespaces, secrets and images apart, whatever characters their names have", async () => {
  const bed = openImageBed();
  const image = "registry.example/p/x:1";
  bed.registry.private.add(image);
  await bed.inspect(makeUse(image), { identity: { ...PULL, namespace: "public" } });
  assert.equal(isKnown(bed, `pull ${image}`, { ...TEAM, namespace: "other" }), false);
  assert.equal(isKnown(bed, image, { ...TEAM, namespace: "public", pullSecrets: ["pull", ""] }), false);
  bed.known.forgetPrivate();
  assert.equal(isKnown(bed, image, { ...PULL, namespace: "public" }), false);
});

Deno.test("recall() gives a fresh private answer although a public one has expired", async () => {
  const bed = openImageBed();
  await bed.inspect(makeUse(APP));
  await bed.clock.advance(TAG_TTL_MS + 1);
  bed.registry.private.add(APP);
  await bed.inspect(makeUse(APP), { identity: PULL });
  assert.equal(isKnown(bed, APP, PULL), true);
  assert.equal(isKnown(bed, APP), false);
});

Deno.test("forgetPrivate() drops what needed a credential and keeps what everybody may read", async () => {
  const bed = openImageBed();
  const closed = "registry.example/closed:v1";
  bed.registry.private.add(closed);
  for (const image of [APP, closed]) await bed.inspect(makeUse(image), { identity: PULL });
  bed.known.forgetPrivate();
  assert.deepEqual([isKnown(bed, APP, PULL), isKnown(bed, closed, PULL)], [true, false]);
});

Deno.test("recall() never answers by a failure", async () => {
  const bed = openImageBed();
  bed.registry.failure = { kind: "transient", reason: "Timeout", message: "slow" };
  await bed.inspect(makeUse(APP));
  assert.equal(isKnown(bed, APP), false);
});

Deno.test("recall() reports that a tag is past half of its TTL, never that a digest is", async () => {
  const bed = openImageBed();
  const isAging = (...images: readonly string[]): boolean | undefined =>
    bed.known.recall(images.map((image) => makeUse(image)), TEAM)?.isAging;
  for (const image of [APP, PINNED]) await bed.inspect(makeUse(image));
  await bed.clock.advance(TAG_TTL_MS / 2);
  assert.deepEqual([isAging(APP), isAging(PINNED)], [false, false]);
  await bed.clock.advance(1);
  assert.deepEqual([isAging(APP), isAging(PINNED), isAging(APP, PINNED)], [true, false, true]);
});

Deno.test("prefetch() with renew looks an aging tag up again, so that it stays known", async () => {
  const bed = openImageBed();
  const request = { identity: TEAM, images: [makeUse(APP)], priority: "admission", mayRenew: true } as const;
  bed.images.prefetch(request);
  await bed.clock.advance(TAG_TTL_MS * 0.4);
  bed.images.prefetch(request);
  await bed.clock.advance(TAG_TTL_MS * 0.2);
  assert.equal(bed.registry.reads.length, 1, "young enough");
  bed.images.prefetch(request);
  await bed.clock.advance(TAG_TTL_MS * 0.9);
  assert.deepEqual(bed.registry.reads.map(({ method }) => method), ["GET", "HEAD"]);
  assert.equal(isKnown(bed, APP), true);
});

Deno.test("prefetch() and inspect() ask for each image of a pod once, whatever its pull policy", async () => {
  const bed = openImageBed();
  bed.registry.delayMs = 200;
  const images = [makeUse(APP, true), makeUse(PINNED, true), makeUse("registry.example/side:v1")];
  bed.images.prefetch({ identity: TEAM, images, priority: "admission", mayRenew: true });
  await bed.clock.advance(20);
  const { signal } = new AbortController();
  const answers = bed.images.inspect(
    { identity: TEAM, images, priority: "gated", lookupSinceMs: bed.clock.monotonicMs() },
    signal,
  );
  await bed.clock.advance(1_000);
  assert.deepEqual((await answers).map(({ inspection }) => inspection.kind), ["platforms", "platforms", "platforms"]);
  assert.deepEqual(
    bed.registry.reads.map(({ image, method }) => `${method} ${image}`).toSorted(),
    images.map(({ image }) => `GET ${image}`).toSorted(),
  );
});

Deno.test("prefetch() with renew sends no request for what another process has looked up lately", async () => {
  const first = openImageBed();
  const kv = openMemoryStore();
  await openImageBed({ ...first, kv }).inspect(makeUse(APP));
  await first.clock.advance(TAG_TTL_MS * 0.4);
  const after = openImageBed({ ...first, kv });
  after.images.prefetch({ identity: TEAM, images: [makeUse(APP)], priority: "admission", mayRenew: true });
  await first.clock.advance(0);
  assert.equal(first.registry.reads.length, 1);
  assert.equal(isKnown(after, APP), true);
});

/** Starts to look up images that nobody knows, of a pod of that namespace. */
function prefetch(
  bed: ImageBed,
  namespace: string,
  { pod, count = 1 }: { readonly pod: number; readonly count?: number },
): void {
  bed.images.prefetch({
    identity: { ...TEAM, namespace },
    images: Array.from({ length: count }, (_, image) => makeUse(`registry.example/${namespace}/p${pod}:v${image}`)),
    priority: "admission",
  });
}

function readsOf(bed: ImageBed, ...namespaces: readonly string[]): readonly number[] {
  return namespaces.map((namespace) =>
    bed.registry.reads.filter(({ image }) => image.includes(`/${namespace}/`)).length
  );
}

Deno.test("prefetch() counts images, not pods: a namespace has 500 under way, and another one has room", async () => {
  const bed = openImageBed();
  bed.registry.delayMs = 10_000;
  for (let at = 0; at < 100; at++) prefetch(bed, "evil", { pod: at, count: 100 });
  for (let at = 0; at < 100; at++) prefetch(bed, "good", { pod: at });
  await bed.clock.advance(0);
  assert.deepEqual(readsOf(bed, "evil", "good"), [500, 100]);
  await bed.clock.advance(10_000);
  prefetch(bed, "evil", { pod: 100, count: 100 });
  await bed.clock.advance(0);
  assert.deepEqual(readsOf(bed, "evil", "good"), [600, 100]);
  await bed.clock.advance(10_000);
});

Deno.test("prefetch() leaves permits to gated pods of its own namespace, and of others", async () => {
  const bed = openImageBed();
  bed.registry.delayMs = 10_000;
  for (let at = 0; at < 1_000; at++) prefetch(bed, "team", { pod: at });
  const gated = (namespace: string): number => {
    let given = 0;
    while (bed.images.permits.tryAcquire(namespace) !== undefined) given++;
    return given;
  };
  assert.deepEqual([bed.images.permits.taken, gated("team"), gated("good")], [500, 1_500, 1_000]);
  await bed.clock.advance(10_000);
});
