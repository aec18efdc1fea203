import assert from "node:assert/strict";
import { isPrivate } from "../../../support/reports.ts";
import { openMemoryStore } from "../../../support/memory_store.ts";
import type { KeyValueStore } from "../../../../lib/kv/store.ts";
import { failureOf } from "../../../../lib/oci/errors.ts";
import { NO_REQUESTS } from "../../../../lib/oci/request_log.ts";
import { FakeClock } from "../../../support/fake_clock.ts";
import { openImageBed, TAG_TTL_MS } from "../../../support/image_bed.ts";
import { makeCredential, makeRequest, outcomeOf, type RequestParts } from "../../../support/inspectors.ts";

const HOUR_MS = 3_600_000;
const signal = new AbortController().signal;

const open = (options: Parameters<typeof openImageBed>[0] = {}) => {
  const { clock, registry, cache } = openImageBed(options);
  const inspect = (image: string, more?: RequestParts) => cache.inspect(makeRequest(image, more), signal);
  return { clock, registry, cache, inspect };
};

const APP = "registry.example/team/app:v1";
/** Where every tag points that was not moved. */
const DIGEST = `sha256:${"0".repeat(64)}`;
const PINNED = `registry.example/team/app@${DIGEST}`;
const RIGHT = { credentials: [makeCredential("registry.example", { password: "right" })] };
const OTHER = { credentials: [makeCredential("registry.example", { password: "other" })] };

Deno.test("DV-117 ImageCache.inspect() causes no traffic for the same image with the same secrets", async () => {
  const { registry, inspect, cache } = open();
  registry.private.add(APP);
  assert.equal((await inspect(APP, RIGHT)).source, "registry");
  const again = await inspect(APP, RIGHT);
  assert.equal(registry.take(), "1 GET, 0 HEAD");
  assert.deepEqual([again.source, again.requests, isPrivate(again)], ["cache", NO_REQUESTS, true]);
  assert.equal(cache.size(), 1);
});

Deno.test("DV-118 ImageCache.inspect() gives private knowledge to nobody with other secrets or none", async () => {
  const { registry, inspect } = open();
  registry.private.add(APP);
  await inspect(APP, RIGHT);
  registry.take();
  await inspect(APP, OTHER);
  assert.equal(registry.take(), "1 GET, 0 HEAD");
  assert.equal((await inspect(APP)).inspection.kind, "failed");
  assert.equal(registry.take(), "1 GET, 0 HEAD");
});

Deno.test("ImageCache shares public knowledge with everybody, whatever secrets they bring", async () => {
  const { registry, inspect } = open();
  for (const more of [{}, RIGHT, OTHER]) await inspect(APP, more);
  assert.equal(registry.take(), "1 GET, 0 HEAD");
});

Deno.test("DV-119 DV-120 ImageCache.inspect() forgets with a cluster secret what was read with it", async () => {
  // The cluster's secret reaches the cache as a credential of the request (inspector.ts).
  const { registry, inspect } = open();
  registry.private.add(PINNED);
  await inspect(PINNED, RIGHT);
  registry.take();
  await inspect(PINNED, OTHER);
  assert.equal(registry.take(), "1 GET, 0 HEAD", "updated");
  assert.equal((await inspect(PINNED)).inspection.kind, "failed", "deleted");
});

Deno.test("DV-121 ImageCache.inspect() forgets the least recently used image beyond its size", async () => {
  const { registry, inspect, cache } = open({ maxEntries: 256 });
  const pinned = (at: number): string => `registry.example/app@sha256:${at.toString(16).padStart(64, "0")}`;
  for (let at = 0; at < 257; at++) await inspect(pinned(at));
  registry.take();
  assert.equal(cache.size(), 256);
  await inspect(pinned(0));
  assert.equal(registry.take(), "1 GET, 0 HEAD");
  await inspect(pinned(256));
  assert.equal(registry.take(), "0 GET, 0 HEAD");
});

Deno.test("DV-122 ImageCache.inspect() keeps digests for good and revalidates old tags by one HEAD", async () => {
  const { clock, registry, inspect } = open();
  await inspect(APP);
  registry.take();
  await clock.advance(6 * HOUR_MS);
  assert.equal((await inspect(PINNED)).source, "cache");
  assert.equal(registry.take(), "0 GET, 0 HEAD");
  const report = await inspect(APP);
  assert.equal(registry.take(), "0 GET, 1 HEAD");
  assert.equal(report.requests.manifestHead, 1);
  await inspect(APP);
  assert.equal(registry.take(), "0 GET, 0 HEAD", "and is believed again");
});

Deno.test("DV-123 ImageCache.inspect() looks a tag up again for each pod of policy Always, once for those before it", async () => {
  const { clock, registry, inspect } = open();
  const burst = (image: string) =>
    Promise.all(
      Array.from({ length: 100 }, () => inspect(image, { freshness: { lookupSinceMs: clock.monotonicMs() } })),
    );
  for (const image of [PINNED, APP]) {
    await burst(image);
    assert.equal(registry.take(), "1 GET, 0 HEAD");
  }
  await clock.advance(1);
  await burst(APP);
  assert.equal(registry.take(), "0 GET, 1 HEAD");
  await inspect(APP);
  assert.equal(registry.take(), "0 GET, 0 HEAD", "others have the use of it");
});

Deno.test("ImageCache never answers policy Always by what another process has seen", async () => {
  const clock = new FakeClock();
  const kv = openMemoryStore();
  await open({ kv, clock }).inspect(APP);
  await clock.advance(0);
  const { registry, inspect } = open({ kv, clock });
  await inspect(APP, { freshness: { lookupSinceMs: clock.monotonicMs() } });
  assert.equal(registry.take(), "0 GET, 1 HEAD", "its clock may be another one");
});

Deno.test("ImageCache counts the age of a tag from when the registry was asked, whatever answers", async () => {
  const { clock, registry, inspect } = open();
  await inspect(APP);
  registry.take();
  for (const expected of ["0 GET, 0 HEAD", "0 GET, 1 HEAD", "0 GET, 0 HEAD"]) {
    await clock.advance(expected === "0 GET, 1 HEAD" ? 1 : TAG_TTL_MS);
    await inspect(APP);
    assert.equal(registry.take(), expected);
  }
});

Deno.test("ImageCache follows a tag that moved, by HEAD and GET, and back by HEAD alone", async () => {
  const { clock, registry, inspect } = open();
  const digestOf = async (): Promise<string> => {
    const { inspection } = await inspect(APP);
    return inspection.kind === "failed" ? "" : inspection.digest;
  };
  assert.equal(await digestOf(), DIGEST);
  registry.take();
  const moved = registry.push(APP);
  await clock.advance(TAG_TTL_MS + 1);
  assert.equal(await digestOf(), moved);
  assert.equal(registry.take(), "1 GET, 1 HEAD");
  registry.tags.delete(APP);
  await clock.advance(TAG_TTL_MS + 1);
  assert.equal(await digestOf(), DIGEST);
  assert.equal(registry.take(), "0 GET, 1 HEAD");
});

Deno.test("ImageCache reads by GET where HEAD gives no digest or is refused", async () => {
  const refused = failureOf("ManifestUnknown", "Cannot find it.");
  for (const answer of [{ kind: "unknown" }, { kind: "failed", failure: refused }] as const) {
    const { clock, registry, inspect } = open();
    await inspect(APP);
    registry.headAnswer = answer;
    registry.take();
    await clock.advance(TAG_TTL_MS + 1);
    const report = await inspect(APP);
    assert.equal(report.inspection.kind, "platforms");
    assert.equal(registry.take(), "1 GET, 1 HEAD");
    assert.deepEqual([report.requests.manifestGet, report.requests.manifestHead], [1, 1]);
  }
});

Deno.test("ImageCache reports a transient failure rather than an answer that is too old", async () => {
  const { clock, registry, inspect } = open();
  await inspect(APP);
  registry.failure = failureOf("ServerError", "Cannot read it.");
  await clock.advance(TAG_TTL_MS + 1);
  assert.equal(outcomeOf(await inspect(APP)), "ServerError");
  registry.failure = undefined;
  assert.equal((await inspect(APP)).inspection.kind, "platforms", "at once when it works again");
});

Deno.test("DV-124 ImageCache.inspect() keeps no failure: pods of a burst share one look-up, and the next asks again", async () => {
  const { clock, registry, inspect } = open();
  registry.failure = failureOf("ManifestUnknown", "Cannot read it.");
  registry.delayMs = 700;
  const always = { freshness: { lookupSinceMs: clock.monotonicMs() } };
  const burst = Array.from({ length: 100 }, (_, at) => inspect(APP, at % 2 === 0 ? always : {}));
  await clock.advance(registry.delayMs);
  for (const report of await Promise.all(burst)) assert.equal(report.inspection.kind, "failed");
  registry.delayMs = 0;
  assert.equal(registry.take(), "1 GET, 0 HEAD", "a burst of pods costs one request");
  registry.failure = undefined;
  assert.equal((await inspect(APP)).inspection.kind, "platforms");
  assert.equal(registry.take(), "1 GET, 0 HEAD");
});

Deno.test("ImageCache reads deeper when requested to, once", async () => {
  const { registry, inspect } = open();
  for (const depth of ["index", "config", "config", "index"] as const) await inspect(APP, { depth });
  assert.equal(registry.take(), "2 GET, 0 HEAD");
});

Deno.test("ImageCache reports a digest that pins one platform also when the tag gave it", async () => {
  const { registry, inspect } = open();
  registry.mediaType = "application/vnd.oci.image.manifest.v1+json";
  await inspect(APP);
  const findings = async (image: string): Promise<readonly string[]> => {
    const { inspection } = await inspect(image);
    return inspection.kind === "platforms" ? inspection.findings.map(({ kind }) => kind) : [inspection.kind];
  };
  assert.deepEqual(await findings(`${APP}@${DIGEST}`), ["ChildDigestPin"]);
  assert.equal(registry.take(), "1 GET, 0 HEAD");
  assert.deepEqual(await findings(APP), []);
});

Deno.test("ImageCache has after a restart what it had before", async () => {
  const clock = new FakeClock();
  const kv = openMemoryStore();
  await open({ kv, clock }).inspect(APP);
  await clock.advance(0);
  const after = open({ kv, clock });
  assert.equal((await after.inspect(APP)).source, "cache");
  assert.equal(after.registry.take(), "0 GET, 0 HEAD");
  await clock.advance(TAG_TTL_MS + 1);
  const later = open({ kv, clock });
  await later.inspect(APP);
  assert.equal(later.registry.take(), "0 GET, 1 HEAD");
});

Deno.test("ImageCache works with a store that loses values, and never waits for it to write", async () => {
  const clock = new FakeClock();
  const forgetful: KeyValueStore = {
    ...openMemoryStore(),
    get: () => Promise.resolve(undefined),
    set: () => new Promise<boolean>(() => {}),
  };
  const { registry, inspect } = open({ kv: forgetful, clock });
  for (let at = 0; at < 3; at++) await inspect(APP);
  assert.equal(registry.take(), "1 GET, 0 HEAD");
});

Deno.test("ImageCache ignores what the store holds when it is not its own", async () => {
  const clock = new FakeClock();
  for (const rubbish of [null, 7, "x", [], {}, { v: 1, atMs: 0, value: { digest: "sha256:x" } }]) {
    const kv: KeyValueStore = { ...openMemoryStore(), get: () => Promise.resolve(rubbish) };
    const { registry, inspect } = open({ kv, clock });
    assert.equal((await inspect(APP)).inspection.kind, "platforms");
    assert.equal(registry.take(), "1 GET, 0 HEAD");
  }
});

Deno.test("ImageCache uses no tag for longer because a clock was set back", async () => {
  const kv = openMemoryStore();
  const { clock, registry, inspect } = open({ kv });
  await inspect(APP);
  await clock.advance(0);
  registry.take();
  clock.jumpWall(-24 * HOUR_MS);
  await open({ kv, clock, registry }).inspect(APP);
  assert.equal(registry.take(), "0 GET, 1 HEAD", "what is stored is of unknown age");
  await clock.advance(TAG_TTL_MS + 1);
  await inspect(APP);
  assert.equal(registry.take(), "0 GET, 1 HEAD", "our own is as old as it is");
});

Deno.test("ImageCache keeps a short name apart from the full one: configuration may send it elsewhere", async () => {
  const { registry, inspect } = open();
  await inspect("nginx:1");
  await inspect("docker.io/library/nginx:1");
  assert.equal(registry.take(), "2 GET, 0 HEAD");
  await inspect("index.docker.io/library/nginx:1");
  assert.equal(registry.take(), "0 GET, 0 HEAD");
});
